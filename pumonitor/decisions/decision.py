"""What thresholds bring: the result of decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pumonitor.audit.estimates import EstimatesByBin
from pumonitor.decisions.audited_reviews import audit_refusal, planned_audit
from pumonitor.decisions.best_threshold import BestThreshold
from pumonitor.decisions.reviews import ReviewOptions, review_options, review_refusal
from pumonitor.metrics.problem import Problem
from pumonitor.plain_values import plain, plain_fields
from pumonitor.results import Curve, Estimate, LabelAssumption
from pumonitor.text import given_text, interval_text, marked, number_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a threshold brings in a window.

    Attributes
    ----------
    threshold : float
    estimates : mapping of str to Estimate
        "precision", "recall", "f1", "reviews", "positives_caught", "positives_missed", and "money"
        where it was asked for; with a value of each row "recall_value", "precision_value",
        "caught_value" and "missed_value".
    reasons : mapping of str to str
        Why a number is impossible, or which impossible one it is made of, by name; of those that
        are. They are shown held to what is possible.
    """

    threshold: float
    estimates: Mapping[str, Estimate]
    reasons: Mapping[str, str]

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return plain_fields(self, "threshold", "estimates", "reasons")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decision:
    """What thresholds bring.

    Attributes
    ----------
    cases : float
        Rows of a window, which numbers of cases and money are of.
    now : Outcome
        At the present threshold.
    chosen : Outcome or None
        At the other threshold, or at the one that the review capacity allows.
    best : Outcome
        At the threshold with the highest lower bound; above all scores it is to review nobody.
    choice : BestThreshold
        How that was chosen, with bounds that allow for the choice among many.
    curves : mapping of str to Curve
        Each estimate over thresholds, with the interval at each: quantiles of 400 redraws on 200
        cells. At one threshold it differs a little from the outcome's, which is of all confidence
        draws of every row, or of all draws of the audit.
    problem : Problem
        What it was computed from.
    doubt : str or None
        Why the class prior cannot be right: then all that stands on it is evidence of nothing.
    audit : EstimatesByBin or None
        The audit, or the reviews, whose draws all numbers are of; they are then about these
        very rows.
    assumption : LabelAssumption or None
        What is taken for granted of the labels, as in `Evaluation`.
    value_unit : str or None
        What money and values are in.
    """

    cases: float
    now: Outcome
    chosen: Outcome | None
    best: Outcome
    choice: BestThreshold
    curves: Mapping[str, Curve]
    problem: Problem
    doubt: str | None
    audit: EstimatesByBin | None = None
    assumption: LabelAssumption | None = None
    value_unit: str | None = None

    @property
    def reviewed(self) -> Outcome:
        """What `reviews` is about by default: the chosen threshold, else the present one.

        With an audit the present one, where its score bins have an edge.
        """
        return self.now if self.chosen is None or self.audit is not None else self.chosen

    @property
    def review_refusal(self) -> str:
        """Why `reviews` cannot answer; empty if it can."""
        if self.audit is None:
            return review_refusal(self.problem)
        return audit_refusal(self.audit, self.now.threshold)

    def reviews(self, cases: int, *, threshold: float | None = None) -> ReviewOptions:
        """How wide intervals would be after a random review of so many cases.

        With an audit these are further cases of it, as `pumonitor.plan_audit` spreads them over
        its score bins, or of a carried one an audit of these rows; widths are those of the plan.

        Parameters
        ----------
        cases : int
            From 1 to 2000.
        threshold : float, optional
            By default the chosen one, else the present one; with an audit that of the audit.

        Raises
        ------
        ValueError
            Unless 1 <= cases <= 2000, if `review_refusal` has a reason, or if an audit was read for
            another threshold.
        """
        at = self.reviewed.threshold if threshold is None else threshold
        if self.audit is None:
            return review_options(self.problem, at, cases)
        if at != self.now.threshold:
            msg = (
                f"an audit is planned for the threshold that it is read for, "
                f"{self.now.threshold:g}, got {at:g}: leave out threshold, or plan one for "
                "another with pumonitor.plan_audit"
            )
            raise ValueError(msg)
        shown = {name: one.displayed for name, one in self.now.estimates.items()}
        return planned_audit(self.audit, at, cases, now=shown)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; a value that does not exist is None, never NaN."""
        audit = None if self.audit is None else plain_fields(self.audit, "name", "method")
        criterion = plain_fields(self.choice, "criterion", "low", "high", "candidates")
        return {
            "schema_version": 1,
            **plain_fields(self, "assumption", "cases", "doubt", "value_unit"),
            "audit": audit,
            **plain_fields(self, "now", "chosen"),
            "best": self.best.to_dict() | criterion,
            "curves": plain(self.curves),
        }

    def __repr__(self) -> str:
        return f"<Decision over {self.cases:g} cases; print it>"

    def __str__(self) -> str:
        given = {"now": self.now, "chosen": self.chosen, "best": self.best}
        marked = {kind: one for kind, one in given.items() if one is not None}
        names = ["", "threshold", *self.now.estimates]
        columns = [
            [
                kind,
                given_text(one.threshold),
                *(_cell(one, name) for name in self.now.estimates),
            ]
            for kind, one in marked.items()
        ]
        widths = [max(map(len, column)) + 3 for column in columns]
        lines = [
            f"{name:18}" + "".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
            for name, *cells in zip(names, *columns, strict=True)
        ]
        for kind, one in marked.items():
            lines += [f"! {kind}, {name}: {why}" for name, why in one.reasons.items()]
        return "\n".join(lines)


def _cell(outcome: Outcome, name: str) -> str:
    value, low, high = outcome[name].displayed
    if outcome[name].undefined_reason is not None:
        return "undefined"
    shown = marked(number_text(value), outcome.reasons.get(name))
    return shown if low == high else f"{shown} ({interval_text(low, high)})"
