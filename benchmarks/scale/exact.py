"""As if there were 5e12 rows: `python -m benchmarks.scale exact`.

A window's counts are multiplied until they are those of 5e12 rows. No row may be lost; AUL, recall
and precision must be those of exact fractions; no metric and no interval may depend on the order in
which groups came; and each must be what fewer rows say, with errors that shrink as the root.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import compress
from typing import Final

import numpy as np

from pumonitor._score_grid import ScoreGrid
from pumonitor.evaluation import Evaluation, evaluate_table
from pumonitor.monitor.windows.evaluation.series_tables import tables_of
from pumonitor.ports import InputCounts, Pane, Window, WindowCounts
from pumonitor.tables import ScoreTable

__all__ = [
    "CLASS_PRIOR",
    "ROWS",
    "TIMES",
    "by_order",
    "by_size",
    "evaluated",
    "exact",
    "main",
    "many_times",
    "scaled_counts",
    "shuffled",
    "table_of",
]

ROWS: Final = 5_000_000_000_000
TIMES: Final = 10_000
THRESHOLD: Final = 0.5
CLASS_PRIOR: Final = Fraction(3, 10)
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)


def scaled_counts(rows: int = ROWS, *, groups: int = 20_000, seed: int = 0) -> WindowCounts:
    """Counts of a window of exactly so many rows, 2% of them positive, a third of these labeled."""
    rng = np.random.default_rng(seed)
    positive = rng.random(groups) < 0.3
    score = np.where(positive, rng.beta(4, 2, groups), rng.beta(2, 5, groups))
    label = np.where(positive & (rng.random(groups) < 0.3), 1, 0)
    order = np.argsort(score)
    score, label = score[order], label[order]
    share = rng.random(groups)
    number = 1 + np.floor((rows - 2 * groups) * (share / share.sum())).astype(np.int64)
    number[-1] += rows - int(number.sum())
    cell = 2 * ScoreGrid().index(score) + (score >= THRESHOLD)
    return WindowCounts(
        model_version=np.full(groups, "", dtype="<U1"),
        segments={},
        cell=cell.astype(np.int64),
        lower=score,
        upper=score,
        history=(1 + label).astype(np.int64),
        propensity=np.full(groups, np.nan),
        rows=number,
        delays=np.zeros((1, 1), dtype=np.int64),
        found=InputCounts(predictions=rows),
    )


def table_of(counts: WindowCounts) -> ScoreTable:
    """The table of all its rows, as a round makes it."""
    window = Window(start=_START, end=_START + timedelta(days=1), index=0)
    pane = Pane(window=window, number=0, state="mature", as_of=window.end)
    (series,) = tables_of(counts, [pane], threshold=THRESHOLD)
    if series.table is None:
        raise ValueError(series.undefined_reason)
    return series.table


def shuffled(counts: WindowCounts, seed: int = 1) -> WindowCounts:
    """The same groups in another order."""
    order = np.random.default_rng(seed).permutation(len(counts.rows))
    names = ("model_version", "cell", "lower", "upper", "history", "propensity", "rows")
    return replace(counts, **{name: getattr(counts, name)[order] for name in names})


def many_times(counts: WindowCounts, times: int) -> WindowCounts:
    """The same window with each of its rows so many times."""
    return replace(
        counts,
        rows=counts.rows * times,
        found=replace(counts.found, predictions=counts.found.predictions * times),
    )


def exact(table: ScoreTable, *, class_prior: Fraction) -> dict[str, Fraction]:
    """AUL, recall and precision of a table, by whole numbers and fractions."""
    labeled = [int(one) for one in table.labeled]
    rows = [one + int(other) for one, other in zip(labeled, table.unlabeled, strict=True)]
    below, ordered = 0, Fraction(0)
    for up, every in zip(labeled, rows, strict=True):
        ordered += up * (below + Fraction(every, 2))
        below += every
    above = [float(low) >= THRESHOLD for low in table.lower]
    recall = Fraction(sum(compress(labeled, above)), sum(labeled))
    return {
        "aul": ordered / (sum(labeled) * sum(rows)),
        "recall": recall,
        "precision": recall * class_prior * sum(rows) / sum(compress(rows, above)),
    }


def evaluated(counts: WindowCounts) -> Evaluation:
    """Every metric and interval of a window, the class prior given."""
    return evaluate_table(table_of(counts), threshold=THRESHOLD, class_prior=float(CLASS_PRIOR))


def by_order(evaluation: Evaluation, other: Evaluation) -> float:
    """Largest difference of any value or end of an interval between two orders of the groups."""
    pairs = (
        (getattr(evaluation[name], end), getattr(other[name], end))
        for name in evaluation.estimates
        for end in ("value", "low", "high")
    )
    return max(abs(one - two) for one, two in pairs if np.isfinite(one))


def by_size(large: Evaluation, small: Evaluation, times: int) -> float:
    """Largest error of an interval's end, when that of so many times fewer rows is scaled down.

    Sampling errors go with the root of the number of rows; so do the ends of intervals that are not
    cut at 0 or 1.
    """
    root, errors = times**0.5, [0.0]
    for name, few in small.estimates.items():
        many = large[name]
        # Luck of the best threshold, and what a labeled row says of itself, are taken off these.
        if not name.endswith("_max") and name != "average_precision":
            errors.append(abs(many.value - few.value))
        if np.isfinite(few.se_sampling) and few.se_sampling > 0:
            errors.append(abs(many.se_sampling - few.se_sampling / root))
    return float(np.nanmax(errors))


def main() -> None:
    """Print the largest errors."""
    small = scaled_counts(ROWS // TIMES)
    large = many_times(small, TIMES)
    table = table_of(large)
    rows = sum(int(one) for one in (*table.labeled, *table.unlabeled))
    print(f"  {rows:,} rows in {len(table.labeled)} cells, {ROWS - rows} lost")
    found = evaluated(large)
    for name, wanted in exact(table, class_prior=CLASS_PRIOR).items():
        print(f"  {name}: off the exact fraction by {abs(found[name].value - float(wanted)):.1e}")
    print(f"  by the order of groups: {by_order(found, evaluated(shuffled(large))):.1e}")
    print(
        f"  by size, against {ROWS // TIMES:,} rows: {by_size(found, evaluated(small), TIMES):.1e}"
    )


if __name__ == "__main__":
    main()
