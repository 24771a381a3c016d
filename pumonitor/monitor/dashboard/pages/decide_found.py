"""What a decision finds, once for the page and for the API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pumonitor.audit.estimates import Method
from pumonitor.decisions import (
    Decision,
    Outcome,
    ReviewOptions,
    decision_of,
    nearest_threshold,
    threshold_of_capacity,
)
from pumonitor.metrics.curves import ThresholdCells
from pumonitor.metrics.problem import Problem
from pumonitor.monitor.dashboard.pages.decide_address import DecideAddress
from pumonitor.monitor.dashboard.pages.decide_evidence import mature_evaluations
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.reports.window_problem import WindowProblem, window_problem
from pumonitor.report.decision_words import best_said, review_said
from pumonitor.results import Curve
from pumonitor.text import given_text, number_text

_DAY: Final = 86_400.0
Kind = Literal["now", "chosen", "best"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """What is computed once for each address and revision.

    Attributes
    ----------
    outcomes : mapping of str to Outcome
        At the present threshold, at the one asked for if one was, and at the best one.
    criterion : str
        What the best one maximises the lower bound of: "money" or "f1".
    relied_on : mapping of str to (float, float)
        Of each outcome the criterion's interval that holds at all thresholds at once.
    curves : mapping of str to Curve
        By metric, over thresholds.
    cells : ThresholdCells
        Of the curves.
    best_said, chosen_said : str
        What was chosen, and what was done to the threshold or capacity asked for.
    reviews : ReviewOptions or None
    reviews_said, reviews_refused : str
        Which review would tell more; why none is compared.
    weighted : bool
    audit : str
        Name of the audit that the numbers are by; empty without one.
    audit_method : {"audit", "audit carried"} or None
        Whether its verdicts are on these very rows.
    """

    outcomes: Mapping[Kind, Outcome]
    criterion: str
    relied_on: Mapping[Kind, tuple[float, float]]
    curves: Mapping[str, Curve]
    cells: ThresholdCells
    best_said: str
    chosen_said: str
    reviews: ReviewOptions | None
    reviews_said: str
    reviews_refused: str
    weighted: bool
    audit: str
    audit_method: Method | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StandsOn:
    """The window of a decision: what is kept of it, else what it is computed from."""

    evaluation: StoredEvaluation
    key: tuple[Any, ...]
    kept: Found | None
    restored: WindowProblem | None

    def found(self, site: Site, at: DecideAddress) -> Found:
        """What is kept, or is computed now.

        It is to be asked after the snapshot: PostgreSQL ends a transaction that waits long for its
        next statement.
        """
        if self.kept is not None or self.restored is None:
            return self.kept  # type: ignore[return-value]  # one of the two is there
        restored, window = self.restored, self.evaluation.window
        days = (window.end - window.start).total_seconds() / _DAY

        def planned(decision: Decision) -> ReviewOptions:
            """It takes seconds with an audit, and is then of no threshold that was asked for."""
            key = ("decide reviews", self.key[1], at.cases)
            if decision.audit is None:
                return decision.reviews(at.cases)
            kept: ReviewOptions = site.kept.get(key, lambda: decision.reviews(at.cases))
            return kept

        found: Found = site.kept.get(
            self.key, lambda: _found(restored, at, days=days, planned=planned)
        )
        return found


def stands_on(
    site: Site, ledger: Ledger, name: str, at: DecideAddress
) -> tuple[StandsOn | None, Sequence[StoredEvaluation]]:
    """The window that a decision stands on, and newer mature ones, which have no estimates."""
    passed: list[StoredEvaluation] = []
    for one in mature_evaluations(ledger, name, at):
        of = (one.window_key, one.revision, one.model_version, one.segment)
        key = ("decide", of, at.key())
        kept: Found | None = site.kept.find(key)
        restored = window_problem(one, ledger) if kept is None else None
        if kept is not None or restored is not None:
            return StandsOn(evaluation=one, key=key, kept=kept, restored=restored), passed
        passed.append(one)
    return None, passed


def _found(
    restored: WindowProblem,
    at: DecideAddress,
    *,
    days: float,
    planned: Callable[[Decision], ReviewOptions],
) -> Found:
    problem, audit = restored.problem, restored.evidence.reading
    other, said = _other_threshold(problem, at, days=days)
    found = decision_of(
        restored.evidence,
        restored.threshold,
        other_threshold=other,
        value=at.value,
        cost=at.cost,
        top_k=restored.top_k,
        f_beta=restored.f_beta,
    )
    marked: dict[Kind, Outcome | None] = {
        "now": found.now,
        "chosen": found.chosen,
        "best": found.best,
    }
    outcomes = {kind: one for kind, one in marked.items() if one is not None}
    choice = found.choice
    refused = found.review_refusal
    reviews = None if refused else planned(found)
    return Found(
        outcomes=outcomes,
        criterion=choice.criterion,
        relied_on={
            kind: (choice.low, choice.high)
            if kind == "best"
            else choice.band(one[choice.criterion])
            for kind, one in outcomes.items()
        },
        curves={metric: found.curves[f"{metric}_by_threshold"] for metric in found.now.estimates},
        cells=restored.threshold_cells(),
        best_said=best_said(found, currency=at.currency),
        chosen_said=said,
        reviews=reviews,
        reviews_said="" if reviews is None else review_said(reviews, found),
        reviews_refused=refused,
        weighted=problem.table.weights is not None,
        audit="" if audit is None else audit.name,
        audit_method=None if audit is None else audit.method,
    )


def _other_threshold(
    problem: Problem, at: DecideAddress, *, days: float
) -> tuple[float | None, str]:
    """The threshold asked for or that the capacity allows, and what was done to it in words."""
    if at.threshold is not None:
        found = nearest_threshold(problem.table, at.threshold)
        if found == at.threshold:
            return found, ""
        return found, (
            f"Rows are counted by score, and {at.threshold:g} lies between two counts: "
            f"{given_text(found)} is shown."
        )
    if at.capacity is None:
        return None, ""
    rows_held = float(problem.population.sum())
    cases = at.capacity * (days if at.per == "day" else 1.0)
    share = at.capacity / 100 if at.per == "share" else cases / rows_held
    if share >= 1:
        return float(problem.table.lower[0]), "Every case can be reviewed."
    found = threshold_of_capacity(problem, share)
    return found, (
        f"{number_text(share * rows_held)} cases a window can be reviewed: from a score of "
        f"{given_text(found)} on there are no more."
    )
