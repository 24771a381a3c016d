"""Coverage of what a window is expected to become: `python -m benchmarks.monitoring.expected`.

Windows of 4000 rows (8000 for 200 labels), positives N(2, 1), negatives N(0, 1), of whose labels
a share is known now; the share itself is estimated from 400 earlier positives. How often the 95%
interval holds the estimate that the window has when all of them are known, by where the class prior
comes from: known, given with an interval, followed over 21 earlier windows (the last three of them
without all their labels, and of the first twelve a level that is given to a fifth), or estimated
from the window alone.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.rules.labels.expected import expected_at_maturity, expected_positives
from pumonitor.monitor.rules.labels.maturity import ShareKnown
from pumonitor.prior import resolve_class_prior
from pumonitor.prior.followed.followed_prior import FollowedPrior, of_window
from pumonitor.prior.followed.founding import WindowRows
from pumonitor.prior.followed.level import given_level
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

THRESHOLD: Final = 1.5
OLDER: Final = 400
PRIORS: Final = {"known": 0.05, "given": 0.05, "followed": 0.1, "auto": 0.1}
"""Sources of the class prior, and the true one."""

FOUNDING, MATURE, LATE = 12, 6, 3
DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)


class Rows(NamedTuple):
    """A window's rows: the labels now and at maturity, and the scores."""

    now: NDArray[np.bool_]
    later: NDArray[np.bool_]
    scores: NDArray[np.float64]


class Design(NamedTuple):
    """What windows are drawn from; `share` of the labels are known now."""

    rows: int
    class_prior: float
    frequency: float
    share: float

    def draw(self, rng: np.random.Generator, *, share: float | None = None) -> Rows:
        """A window; another share of labels known now than the design's, if given."""
        positive = rng.random(self.rows) < self.class_prior
        later = positive & (rng.random(self.rows) < self.frequency)
        now = later & (rng.random(self.rows) < (self.share if share is None else share))
        return Rows(now, later, rng.normal(2.0 * positive))


UNCHANGED: Final = {
    "labeled_positives",
    "class_prior",
    "label_frequency",
    "unlabeled_prior",
    "predicted_positive_rate",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--priors", nargs="+", default=list(PRIORS), choices=PRIORS)
    arguments = parser.parse_args()
    everything: dict[str, list[float]] = {}
    for labeled, share, source in itertools.product(
        (10, 40, 200), (0.3, 0.7, 0.95), arguments.priors
    ):
        held: Counter[str] = Counter()
        told: Counter[str] = Counter()
        rng = np.random.default_rng([labeled, int(100 * share), list(PRIORS).index(source)])
        for _ in range(arguments.seeds):
            for name, is_held in _one(labeled, share, source, rng).items():
                held[name] += is_held
                told[name] += 1
        figures = " ".join(f"{name} {held[name] / told[name]:.2f}" for name in told)
        print(f"{labeled} labels, {share:g} of all, class prior {source}: {figures}", flush=True)
        corrected = [name for name in told if name not in UNCHANGED and not name.endswith("_pu")]
        everything.setdefault(source, []).extend(held[name] / told[name] for name in corrected)
    for source, shares in everything.items():
        print(
            f"class prior {source}: {np.mean(shares):.3f} of corrected metrics, {min(shares):.2f}"
        )


def _one(labeled: int, share: float, source: str, rng: np.random.Generator) -> dict[str, bool]:
    rows, true_prior = 8000 if labeled == 200 else 4000, PRIORS[source]
    frequency = min(labeled / share / (rows * true_prior), 0.95)
    design = Design(rows, true_prior, frequency, share)
    before = list(_earlier(design, rng)) if source == "followed" else []
    window = design.draw(rng)
    while window.now.sum() < 2:
        window = design.draw(rng)
    tables = [_table(labels, window.scores) for labels in (window.now, window.later)]
    seen = rng.beta(OLDER * share, OLDER * (1 - share))
    reach = 1.96 * np.sqrt(seen * (1 - seen) / OLDER)
    known = ShareKnown(value=seen, low=seen - reach, high=min(seen + reach, 1.0))
    priors = _priors(source, tables, before, window, seen, rng)
    now, mature = (
        evaluate_table(table, threshold=THRESHOLD, class_prior=prior, curves=False).estimates
        for table, prior in zip(tables, priors, strict=True)
    )
    found = expected_at_maturity(tables[0], now, known, class_prior=priors[0], threshold=THRESHOLD)
    held = {
        name: one.low - 1e-9 <= mature[name].value <= one.high + 1e-9 for name, one in found.items()
    }
    positives = expected_positives(int(window.now.sum()), known)
    return held | {"labeled_positives": positives.low <= window.later.sum() <= positives.high}


def _priors(
    source: str,
    tables: list[ScoreTable],
    before: list[tuple[WindowRows, WindowRows]],
    window: Rows,
    seen: float,
    rng: np.random.Generator,
) -> list[ClassPriorEstimate]:
    """The class prior now and at maturity."""
    if source == "auto":
        return [
            resolve_class_prior(
                "auto",
                table,
                scenario="single-training-set",
                label_purity=1.0,
                confidence_level=0.95,
                rng=0,
            )
            for table in tables
        ]
    if source != "followed":
        given = 0.05 if source == "known" else (0.05, 0.02, 0.12)
        return [ClassPriorEstimate.given(given)] * 2
    middle = special.logit(PRIORS[source]) + 0.1 * rng.standard_normal()
    low, value, high = special.expit([middle - 0.196, middle, middle + 0.196])
    level = ClassPriorEstimate.given((value, low, high))
    last = (
        _rows(len(before), window.now, window.scores, seen),
        _rows(len(before), window.later, window.scores),
    )
    return [
        _followed([one[at] for one in before], last[at], level, labels.mean())
        for at, labels in enumerate((window.now, window.later))
    ]


def _earlier(design: Design, rng: np.random.Generator) -> Iterator[tuple[WindowRows, WindowRows]]:
    """Earlier windows as they are known now, and as they will be."""
    for at in range(FOUNDING + MATURE + LATE):
        age = FOUNDING + MATURE + LATE - at + 1
        is_late = at >= FOUNDING + MATURE
        share = 1 - (1 - design.share) ** age if is_late else 1.0
        window = design.draw(rng, share=share)
        later = _rows(at, window.later, window.scores)
        if is_late and share < 0.995:
            seen = float(rng.beta(OLDER * share, OLDER * (1 - share)))
            yield _rows(at, window.now, window.scores, seen), later
        else:
            yield later, later


def _followed(
    before: list[WindowRows], last: WindowRows, level: ClassPriorEstimate, confirmed: float
) -> ClassPriorEstimate:
    founding = before[:FOUNDING]
    origin = given_level(
        level, founding, start=founding[0].start, end=founding[-1].end, label_purity=1.0
    )
    followed = FollowedPrior.founded(founding, origin, label_purity=1.0)
    for window in [*before[FOUNDING:], last]:
        followed = followed.after(window)
    return of_window(followed.estimate(), None, confirmed_share=float(confirmed))


def _rows(
    at: int, labels: NDArray[np.bool_], scores: NDArray[np.float64], arrived: float = 1.0
) -> WindowRows:
    start, confirmed = DAY + timedelta(days=at), float(labels.sum())
    return WindowRows(
        start=start,
        end=start + timedelta(days=1),
        table=_table(labels, scores) if confirmed >= 2 else None,
        rows=float(len(labels)),
        confirmed=confirmed,
        arrived=arrived,
        arrived_variance=(1 - arrived) / arrived / OLDER,
    )


def _table(labels: NDArray[np.bool_], scores: NDArray[np.float64]) -> ScoreTable:
    table = ScoreTable.from_arrays(labels, scores, thresholds=(THRESHOLD,))
    return table.compress(2048, thresholds=(THRESHOLD,))


if __name__ == "__main__":
    main()
