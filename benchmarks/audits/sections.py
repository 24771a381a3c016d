"""What `python -m benchmarks.audits` measures, one function for each claim."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from benchmarks.audits.causes import world_or_confirmations
from benchmarks.audits.drawing import time_to_draw
from benchmarks.audits.over_time import STORIES, looks, monthly_runs
from benchmarks.audits.peers import cases_of_simple_audit, prediction_powered, stratified
from benchmarks.audits.ranking import ranking
from benchmarks.audits.rows import Extent, Row
from benchmarks.audits.runs import Intervals, Outcome, intervals, ours, outcomes
from benchmarks.audits.segments import of_segments
from benchmarks.audits.windows import METRICS, Cell, audited, designed, pool, window
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimation import estimate_audit, undecided_extremes
from pumonitor.audit.fairness import check_fairness
from pumonitor.audit.frequency import FAIR
from pumonitor.audit.planning import planned_widths
from pumonitor.audit.reading import Reviewers

__all__ = ["SECTIONS"]


def coverage(extent: Extent) -> Iterator[Row]:
    """1: what 95% intervals cover, by metric and cell, beside those of others."""
    methods = {
        "audit": ours(),
        "stratified": lambda counts, _rows, _rng: stratified(counts),
        "PPI++": lambda counts, rows, rng: prediction_powered(rows, int(counts.decided.sum()), rng),
    }
    found: dict[str, list[Mapping[str, float]]] = {name: [] for name in methods}
    for cell in extent.cells():
        for name, outcome in outcomes(cell, methods, runs=extent.runs).items():
            if cell.cases >= 100:
                found[name].append(outcome.covered)
            yield Row(
                what=f"{cell}: {name}",
                measured=_percent(outcome.covered),
                claimed="no cell below 90%" if name == "audit" and cell.cases >= 100 else "",
            )
    for name, cells in found.items():
        if cells:
            means = {one: float(np.mean([cell[one] for cell in cells])) for one in cells[0]}
            worst = {one: float(np.min([cell[one] for cell in cells])) for one in cells[0]}
            claimed = "93 to 97% each" if name == "audit" else ""
            yield Row(what=f"mean of cells: {name}", measured=_percent(means), claimed=claimed)
            claimed = "90% and more" if name == "audit" else ""
            yield Row(what=f"lowest cell: {name}", measured=_percent(worst), claimed=claimed)


_CLAIMED_CASES: Final[Mapping[tuple[str, float], str]] = {
    ("casp", 0.05): "f1 5, precision 6, recall 3, auc 3, class_prior 2",
    ("bank", 0.05): "f1 5, precision 4, recall 3, auc 4.5, class_prior 3",
    ("casp", 0.01): "f1 15",
    ("bank", 0.01): "f1 7",
    ("bank", 0.16): "f1 3",
    ("casp", 0.16): "f1 3",
}


def simple_audit(extent: Extent) -> Iterator[Row]:
    """2: how many times as many cases a simple audit needs for the same widths."""
    methods = {"audit": ours(), "assume": ours(FAIR)}
    for name, prior in itertools.product(extent.sets, extent.priors):
        cell = Cell(name=name, class_prior=prior)
        for method, outcome in outcomes(cell, methods, runs=extent.runs).items():
            claimed = _CLAIMED_CASES.get((name, prior), "")
            if method == "assume":
                claimed = "recall and auc 14" if prior == 0.05 else ""
            yield Row(
                what=f"{cell}, {method}: cases of a simple audit over ours",
                measured=f"{_numbers(_times(cell, outcome))}; covered {_percent(outcome.covered)}",
                claimed=claimed,
            )


def _times(cell: Cell, outcome: Outcome) -> dict[str, float]:
    rows = window(cell, np.random.default_rng(0))
    needed = cases_of_simple_audit(pool(cell.name), rows.threshold, cell.class_prior, outcome.width)
    return {metric: cases / cell.cases for metric, cases in needed.items()}


_UNFAIR: Final[Mapping[str, tuple[float, float, str]]] = {
    "fair labels": (1.0, 1.0, "4 to 6% said unfair"),
    "high scores confirmed 3 times as often": (3.0, 1.0, "seen in 40%"),
    "high scores confirmed 10 times as often": (10.0, 1.0, "seen in 90%"),
    "flagged rows confirmed 4 times as often": (1.0, 4.0, ""),
    "flagged rows confirmed 12 times as often": (1.0, 12.0, ""),
}
"""Which positives are favoured: `favoured` and `flagged` of a cell, and what the check claims."""


def unfair_labels(extent: Extent) -> Iterator[Row]:
    """3: labels that favour some positives, and the check that sees it."""
    for name, (told, (favoured, flagged, claimed)) in itertools.product(
        extent.sets, _UNFAIR.items()
    ):
        cell = Cell(name=name, favoured=favoured, flagged=flagged)
        methods = {"audit": ours(), "assume": ours(FAIR)}
        for method, outcome in outcomes(cell, methods, runs=extent.runs).items():
            yield Row(
                what=f"{cell}, {told}: {method}",
                measured=f"{_percent(outcome.covered)}; widths {_numbers(outcome.width)}",
                claimed="90% each" if method == "audit" else "",
            )
        seen = []
        for run in range(2 * extent.runs):
            rng = np.random.default_rng([run, 3])
            rows = window(cell, rng)
            counts = audited(designed(cell, rows), rows, rng)
            seen.append(check_fairness(counts, seed=run).p_value <= 0.05)
        yield Row(
            what=f"{cell}, {told}: said to be unfair at 5%",
            measured=f"{np.mean(seen):.1%} of {len(seen)} audits",
            claimed=claimed,
        )


def planned(extent: Extent) -> Iterator[Row]:
    """5: widths that come, over planned ones."""
    metrics = ("precision", "recall", "f1")
    distances = []
    for cell in extent.cells():
        ratios: dict[str, list[float]] = {name: [] for name in metrics}
        for run in range(max(extent.runs // 4, 2)):
            rng = np.random.default_rng([run, 5])
            rows = window(cell, rng)
            found = rows.confirmed.sum() / rows.positive.sum()
            odds = found / (1 - found) * (1.4 if run % 2 else 1 / 1.4)
            frequency = float(odds / (1 + odds))
            design = designed(cell, rows)
            widths = planned_widths(
                design, label_frequency=frequency, metrics=metrics, audits=5, seed=run
            )
            drawn = estimate_audit(audited(design, rows, rng)).metrics()
            for name in metrics:
                low, high = np.quantile(drawn[name], [0.025, 0.975])
                # Where all rows above the threshold are drawn, precision is known and planned so.
                came, expected = float(high - low), widths[name]
                ratios[name].append(1.0 if came == expected == 0 else came / expected)
        medians = {name: float(np.median(all_)) for name, all_ in ratios.items()}
        distances += [abs(np.log(one)) for one in medians.values()]
        yield Row(what=f"{cell}: width that came over planned", measured=_numbers(medians))
    yield Row(
        what="distance of planned widths, median over cells and metrics",
        measured=f"{np.expm1(np.median(distances)):.0%}",
        claimed="within 15%",
    )


def above(extent: Extent) -> Iterator[Row]:
    """10: 85% of the cases at or above the threshold: what is covered, and the widths."""
    for name in extent.sets:
        for share in (None, 0.85):
            cell = Cell(name=name, above=share)
            found = outcomes(cell, {"audit": ours()}, runs=extent.runs)["audit"]
            yield Row(
                what=f"{cell}, {'as F1 wants them' if share is None else f'{share:.0%} above'}",
                measured=f"{_percent(found.covered)}; widths {_numbers(found.width)}",
                claimed="90% each" if share else "",
            )


def reviewers(extent: Extent) -> Iterator[Row]:
    """7: reviewers who call a hundredth of the negatives positive, and cases left undecided."""
    for name in extent.sets:
        cell = Cell(name=name, class_prior=0.01)
        methods = {
            "seeds read": lambda counts, _rows, rng: _seeded(counts, rng),
            "ignored": ours(),
        }
        found = outcomes(cell, methods, runs=max(extent.runs // 2, 2), specificity=0.99)
        for method, outcome in found.items():
            yield Row(
                what=f"{cell}, specificity .99: {method}",
                measured=_percent(outcome.covered),
                claimed="class_prior 90%" if method == "seeds read" else "",
            )
        cell = replace(cell, class_prior=0.05)
        methods = {
            "odds of 1/4 to 4": lambda counts, _rows, _rng: undecided_extremes(counts, draws=1000),
            "missing at random": ours(),
        }
        found = outcomes(cell, methods, runs=extent.runs, skipped=(0.3, 0.1))
        for method, outcome in found.items():
            yield Row(
                what=f"{cell}, 30% of positives and 10% of negatives undecided: {method}",
                measured=_percent(outcome.covered),
                claimed="93% each" if method.startswith("odds") else "",
            )


def _seeded(counts: AuditCounts, rng: np.random.Generator) -> Intervals:
    """With 300 seeds, half of them positive: 5% of the cases of twenty audits."""
    cleared = int(rng.binomial(150, 0.99))
    seeds = Reviewers(found=150, positives=150, cleared=cleared, negatives=150)
    return intervals(estimate_audit(counts, reviewers=seeds, draws=1000).metrics())


def over_time(extent: Extent) -> Iterator[Row]:
    """4: an audit of 100 cases a month for six months, then none for three."""
    for name, (told, story) in itertools.product(extent.sets, STORIES.items()):
        cell = Cell(name=name, cases=100, flagged=story.flagged)
        found = monthly_runs(cell, story, runs=extent.runs)
        what = f"{cell} a month, {told}"
        for metric in ("class_prior", "f1"):
            yield Row(
                what=f"{what}: {metric} covered by month, three without an audit last",
                measured=" ".join(f"{100 * one:.0f}" for one in found.covered[metric]),
                claimed="90%" if metric == "class_prior" else "",
            )
            yield Row(
                what=f"{what}: width of {metric} in the first, the sixth and the ninth month",
                measured=" ".join(f"{found.width[metric][month]:.3f}" for month in (0, 5, 8)),
            )
        if not story.drift and story.jumps == 1:
            width, alone = found.width["class_prior"][5], found.alone[5]
            yield Row(
                what=f"{what}: width in the sixth month over that of its audit alone",
                measured=f"{width:.3f} / {alone:.3f} = {width / alone:.2f}",
                claimed=".5 (.023 / .048)",
            )


def wrong_looks(extent: Extent) -> Iterator[Row]:
    """6: wrong at any look while 300 verdicts come in, in random order."""
    for name in extent.sets:
        cell = Cell(name=name)
        found = looks(cell, runs=extent.runs, checks=extent.runs)
        yield Row(
            what=f"{cell}: wrong at any of twelve looks with 95% intervals",
            measured=_percent(found.naive),
            claimed="22-32%",
        )
        yield Row(
            what=f"{cell}: wrong at any of four looks with intervals for four",
            measured=_percent(found.limits),
            claimed="at most 6%",
        )
        yield Row(
            what=f"{cell}: fair labels said to be unfair at any of four looks, at .05 and at .05/4",
            measured=f"{found.unfair_naive:.1%}, {found.unfair:.1%}",
            claimed="at most 6%",
        )


def _percent(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {100 * shares[name]:.0f}" for name in METRICS if name in shares)


def draw(extent: Extent) -> Iterator[Row]:
    """8: how long the source takes to draw 300 cases of ten million rows, in ten windows."""
    rows = 100_000 if extent.runs < 10 else 10_000_000
    drawing, used, counting, same = time_to_draw(rows)
    yield Row(
        what=f"{rows:,} rows",
        measured=f"drawn in {drawing:.1f} s, {used:.1f} s of the processor, after counting for "
        f"{counting:.1f} s; {'the' if same else 'NOT the'} cases that Python draws",
        claimed="drawn within 10 s" if rows == 10_000_000 else "",
    )


def _numbers(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {values[name]:.2g}" for name in METRICS if name in values)


SECTIONS: Final = {
    "coverage": coverage,
    "simple": simple_audit,
    "unfair": unfair_labels,
    "planned": planned,
    "reviewers": reviewers,
    "time": over_time,
    "looks": wrong_looks,
    "ranking": ranking,
    "draw": draw,
    "above": above,
    "cause": world_or_confirmations,
    "segments": of_segments,
}
