"""Audits of successive months: what is carried from one to the next, and looks in between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

import numpy as np

from benchmarks.audits.runs import Intervals, intervals
from benchmarks.audits.windows import METRICS, Cell, Window, audited, designed, window
from pumonitor.audit.carried import MONTH, CarriedAudits, PastAudit
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.fairness import check_fairness
from pumonitor.audit.posterior import AuditPosterior
from pumonitor.audit.window_reading import WindowReading
from pumonitor.monitor.rules.alerts.by_clock import FAIRNESS_LEVEL
from pumonitor.monitor.rules.alerts.fold import FOUR_LOOKS
from pumonitor.tables import ScoreTable

__all__ = ["STORIES", "Story", "a_month_later", "looks", "monthly_runs"]

_FIRST: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What happens over the months.

    Attributes
    ----------
    audited : tuple of bool
        Whether the month has an audit.
    jumps : float
        By how much the class prior is multiplied from one month on.
    jumps_in : int
        That month, from 0.
    drift : float
        Standard deviation of the monthly step of the log odds of c.
    flagged : float
        How many times as often flagged positives are confirmed as the others.
    """

    audited: tuple[bool, ...]
    jumps: float = 1.0
    jumps_in: int = 6
    drift: float = 0.0
    flagged: float = 1.0


_THEN_NONE: Final = (True,) * 6 + (False,) * 3
STORIES: Final[Mapping[str, Story]] = {
    "nothing changes": Story(audited=_THEN_NONE),
    "class prior 70% up in month 7": Story(audited=_THEN_NONE, jumps=1.7),
    "the same, and c drifts by .1 a month": Story(audited=_THEN_NONE, jumps=1.7, drift=0.1),
    "the same, and flagged rows are confirmed 4 times as often": Story(
        audited=_THEN_NONE, jumps=1.7, drift=0.1, flagged=4.0
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthlyRuns:
    """Runs of a story.

    Attributes
    ----------
    covered, width : mapping of str to sequence of float
        By metric: share of the runs whose interval held the truth and median width, by month.
    alone : sequence of float
        Median width of the class prior in audited months, read without those before.
    """

    covered: Mapping[str, Sequence[float]]
    width: Mapping[str, Sequence[float]]
    alone: Sequence[float]


def monthly_runs(cell: Cell, story: Story, *, runs: int) -> MonthlyRuns:
    """Months of windows of one cell, each read with all that audits before it left."""
    months = len(story.audited)
    covered, width = (np.zeros((runs, months, len(METRICS))) for _ in range(2))
    alone: dict[int, list[float]] = defaultdict(list)
    for run in range(runs):
        rng = np.random.default_rng([run, 4])
        carried = CarriedAudits.through([])
        for month, rows in enumerate(_months(cell, story, rng)):
            counts = None
            if story.audited[month]:
                off = cell.planned_off if run % 2 else 1 / cell.planned_off
                counts = audited(designed(replace(cell, planned_off=off), rows), rows, rng)
                carried = CarriedAudits.through([_past(month, counts)], after=carried)
                low, high = intervals(estimate_audit(counts).metrics())["class_prior"]
                alone[month].append(high - low)
            found, truth = _intervals(carried, month, rows, counts), rows.truth()
            for at, name in enumerate(METRICS):
                low, high = found[name]
                covered[run, month, at] = low - 1e-12 <= truth[name] <= high + 1e-12
                width[run, month, at] = high - low
    shares, medians = covered.mean(axis=0), np.median(width, axis=0)
    return MonthlyRuns(
        covered={name: shares[:, at].tolist() for at, name in enumerate(METRICS)},
        width={name: medians[:, at].tolist() for at, name in enumerate(METRICS)},
        alone=[float(np.median(alone[month])) for month in sorted(alone)],
    )


def _months(cell: Cell, story: Story, rng: np.random.Generator) -> Iterator[Window]:
    """Windows of successive months, all with the threshold of the first."""
    odds = cell.label_frequency / (1 - cell.label_frequency)
    threshold = None
    for month in range(len(story.audited)):
        changed = replace(
            cell,
            class_prior=cell.class_prior * (story.jumps if month >= story.jumps_in else 1.0),
            label_frequency=odds / (1 + odds),
        )
        rows = window(changed, rng)
        threshold = rows.threshold if threshold is None else threshold
        yield replace(rows, threshold=threshold)
        odds *= float(np.exp(story.drift * rng.standard_normal()))


def a_month_later(counts: AuditCounts, rows: Window) -> tuple[ScoreTable, AuditPosterior]:
    """A window without verdicts, as a table, and read with an audit of the month before."""
    carried = CarriedAudits.through([_past(0, counts)])
    return _read(carried, 1, rows)


def _past(month: int, counts: AuditCounts) -> PastAudit:
    return PastAudit(
        name=str(month),
        model_version="",
        start=_FIRST + month * MONTH,
        end=_FIRST + (month + 1) * MONTH,
        fair="check",
        counts=counts,
    )


def _intervals(
    carried: CarriedAudits, month: int, rows: Window, counts: AuditCounts | None
) -> Intervals:
    """Of a month, with its own audit or with what was carried."""
    if counts is None:
        return intervals(_read(carried, month, rows)[1].metrics())
    reading = WindowReading(name="", method="audit", counts=counts, believed=carried.before[-1])
    return intervals(reading.read(seed=0).posterior.metrics())


def _read(carried: CarriedAudits, month: int, rows: Window) -> tuple[ScoreTable, AuditPosterior]:
    """A month without an audit as a table, and with what was carried to it."""
    found = carried.at("", _FIRST + month * MONTH, _FIRST + (month + 1) * MONTH)
    table = ScoreTable.from_arrays(
        rows.confirmed.astype(int), rows.score, thresholds=[rows.threshold]
    )
    counts, believed, _ = found.in_window(table, threshold=rows.threshold)
    reading = WindowReading(name="", method="audit carried", counts=counts, believed=believed)
    return table, reading.read(seed=0).posterior


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """How often something is wrong at any look while the verdicts of an audit come in.

    Attributes
    ----------
    naive, limits : mapping of str to float
        By metric: of 95% intervals at twelve looks, and of those for four looks at four.
    unfair, unfair_naive : float
        Of the check of fair labels, which are fair: at its level for four looks, and at .05.
    """

    naive: Mapping[str, float]
    limits: Mapping[str, float]
    unfair: float
    unfair_naive: float


def looks(cell: Cell, *, runs: int, checks: int) -> Looks:
    """Audits read in random order; `checks` of the runs also check for fair labels."""
    wrong = np.zeros((2, runs, len(METRICS)), dtype=bool)
    unfair = np.zeros((2, checks), dtype=bool)
    for run in range(runs):
        rng = np.random.default_rng([run, 6])
        rows = window(cell, rng)
        design, truth = designed(cell, rows), rows.truth()
        whole = audited(design, rows, rng)
        for look, counts in _partial(whole, rng):
            drawn = estimate_audit(counts).metrics()
            at_quarter = look % 3 == 0
            for at, name in enumerate(METRICS):
                low, middle, high = np.quantile(drawn[name], [0.025, 0.5, 0.975])
                wrong[0, run, at] |= not low - 1e-12 <= truth[name] <= high + 1e-12
                low = middle - FOUR_LOOKS * (middle - low) - 1e-12
                high = middle + FOUR_LOOKS * (high - middle) + 1e-12
                wrong[1, run, at] |= at_quarter and not low <= truth[name] <= high
            if at_quarter and run < checks:
                p_value = check_fairness(counts, seed=run).p_value
                unfair[:, run] |= p_value <= np.array([FAIRNESS_LEVEL, 0.05])
    shares = wrong.mean(axis=1)
    return Looks(
        naive=dict(zip(METRICS, shares[0].tolist(), strict=True)),
        limits=dict(zip(METRICS, shares[1].tolist(), strict=True)),
        unfair=float(unfair[0].mean()),
        unfair_naive=float(unfair[1].mean()),
    )


def _partial(whole: AuditCounts, rng: np.random.Generator) -> Iterator[tuple[int, AuditCounts]]:
    """The audit after each twelfth of its cases, as they come in random order."""
    place = np.repeat(np.arange(len(whole.decided)), whole.decided)
    positive = np.concatenate(
        [
            np.arange(cases) < found
            for cases, found in zip(whole.decided, whole.positive, strict=True)
        ]
    )
    order = rng.permutation(len(place))
    for look in range(1, 13):
        read = order[: round(look / 12 * len(order))]
        decided, found = (
            np.bincount(place[read], weights=weight, minlength=len(whole.decided)).astype(int)
            for weight in (np.ones(len(read)), positive[read])
        )
        yield look, AuditCounts.of(whole.bins, decided=decided, positive=found)
