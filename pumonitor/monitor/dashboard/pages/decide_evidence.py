"""The mature windows that a decision stands on, one or several added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Final

from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.monitor.dashboard.pages.decide_address import DecideAddress
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.reports.window_problem import WindowProblem, window_problem
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_from_json, is_given
from pumonitor.prior import resolve_class_prior

__all__ = ["Evidence", "Windows", "evidence_of", "mature_windows"]

_DAY: Final = 86_400.0
_READ: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Stored evaluations of mature windows of one series, the newest first.

    Attributes
    ----------
    evaluations : sequence of StoredEvaluation
        As many as are added up.
    can_be_added : bool
        Whether their class prior is one constant, assumed in the configuration.
    """

    evaluations: Sequence[StoredEvaluation]
    can_be_added: bool

    def key(self) -> tuple[Any, ...]:
        """Which revisions they are."""
        return tuple(
            (one.window_key, one.revision, one.model_version, one.segment)
            for one in self.evaluations
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What a decision is computed from.

    Attributes
    ----------
    problem : Problem
        Of all windows together.
    threshold : float
        The monitor's.
    cases : float
        Rows of a window, on average.
    days : float
        Length of a window, on average.
    """

    problem: Problem
    threshold: float
    cases: float
    days: float


def mature_windows(ledger: Ledger, monitor: str, at: DecideAddress) -> Windows | None:
    """The newest mature windows of a series; None if there are none.

    Several are added up only where all were evaluated with one class prior that the configuration
    assumes. Where it is estimated, every window has its own, whose errors come from the same
    earlier windows: an interval for their sum would need to know how they err together.
    """
    columns = ledger.series_of(
        ["predictions"],
        monitors=[monitor],
        until=at.until,
        model_version=at.model_version,
        segment=at.segment,
        limit=_READ,
    )
    mature = [
        (columns.window_start[place], columns.value[place] or 0.0, columns.model_version[place])
        for place in range(len(columns.window_start))
        if columns.state[place] != "provisional" and (columns.value[place] or 0.0) > 0
    ]
    if not mature:
        return None
    newest = max(start for start, _, _ in mature)
    _, version = max((rows, version) for start, rows, version in mature if start == newest)
    starts = sorted({start for start, _, one in mature if one == version}, reverse=True)
    found: list[StoredEvaluation] = []
    for start in starts[: at.windows]:
        one = ledger.evaluation(monitor, start=start, model_version=version, segment=at.segment)
        if one is not None:
            found.append(one)
    if not found:
        return None
    can_be_added = _one_assumption(found)
    return Windows(evaluations=found if can_be_added else found[:1], can_be_added=can_be_added)


def evidence_of(ledger: Ledger, windows: Windows) -> Evidence | None:
    """Tables and class prior of the windows; None if the newest has no estimates."""
    found = [
        (one, problem)
        for one in windows.evaluations
        if (problem := window_problem(one, ledger)) is not None
    ]
    if not found:
        return None
    problems = [problem for _, problem in found]
    lengths = [(one.window.end - one.window.start).total_seconds() / _DAY for one, _ in found]
    together = _added(problems)
    return Evidence(
        problem=together,
        threshold=problems[0].threshold,
        cases=float(together.population.sum()) / len(found),
        days=sum(lengths) / len(found),
    )


def _one_assumption(found: Sequence[StoredEvaluation]) -> bool:
    """Whether the class prior of all is assumed and the same, and so is what else counts."""
    made_with = [one.evaluation.get("made_with") or {} for one in found]
    priors = [class_prior_from_json(one.get("class_prior")) for one in made_with]
    settings = [one.evaluation.get("settings") or {} for one in found]
    first = priors[0]
    if first is None or not is_given(first):
        return False
    of_settings = {(one.get("threshold"), one.get("label_purity")) for one in settings}
    same = {(one.value, one.low, one.high, one.method) for one in priors if one is not None}
    return None not in priors and len(same) == 1 and len(of_settings) == 1


def _added(problems: Sequence[WindowProblem]) -> Problem:
    newest = problems[0].problem
    if len(problems) == 1:
        return newest
    table = reduce(add, (one.problem.table for one in problems))
    prior = problems[0].class_prior
    # What the class prior means for the rows of one window is another thing for those of all.
    of_all = resolve_class_prior(
        prior.value if prior.is_known else (prior.value, prior.low, prior.high),
        table,
        scenario=newest.scenario,
        label_purity=newest.label_purity,
        confidence_level=newest.confidence_level,
        rng=newest.seed,
        target=newest.target,
    )
    return make_problem(
        table,
        of_all,
        scenario=newest.scenario,
        label_purity=newest.label_purity,
        target=newest.target,
        confidence_level=newest.confidence_level,
        rng=newest.seed,
    )
