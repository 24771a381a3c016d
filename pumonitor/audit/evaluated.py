"""What an audit makes of an evaluation: its estimates, its class prior, and what is doubtful."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from pumonitor.audit.bins import bins_between
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimation import estimate_audit, undecided_extremes
from pumonitor.audit.fairness import Fairness, check_fairness
from pumonitor.audit.findings import audit_findings
from pumonitor.audit.frequency import FAIR, UNKNOWN
from pumonitor.audit.posterior import AuditPosterior
from pumonitor.audit.verdicts import Audit
from pumonitor.errors import InputError
from pumonitor.results import ClassPriorEstimate, Estimate, Finding
from pumonitor.stats.quantiles import quantiles
from pumonitor.tables import ScoreTable

__all__ = [
    "AUDITED",
    "AuditReading",
    "audited",
    "check_goes_with_audit",
    "check_same_labels",
    "read_audit",
]

AUDITED: Final = (
    "class_prior",
    "unlabeled_prior",
    "label_frequency",
    "aul",
    "auc",
    "recall",
    "precision",
    "specificity",
    "f1",
    "f_beta",
    "ll_score",
    "accuracy",
    "balanced_accuracy",
    "mcc",
)
"""Estimates that an audit gives."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditReading:
    """What an audit says of a table of scores.

    Attributes
    ----------
    audit : Audit
    posterior : AuditPosterior
        Draws of positives and of the label frequency by score bin.
    fairness : Fairness
        The test of fair labels.
    undecided : mapping of str to (float, float)
        Where cases are undecided: the interval of each estimate when the odds that an undecided
        case is positive are from a quarter to four times those of a decided one of its bin.
    confidence_level : float
    f_beta : float
        beta of `f_beta`.
    """

    audit: Audit
    posterior: AuditPosterior
    fairness: Fairness
    undecided: Mapping[str, tuple[float, float]]
    confidence_level: float
    f_beta: float = 2.0

    @property
    def estimates(self) -> dict[str, Estimate]:
        """By name, those of `AUDITED`; intervals are about these very rows."""
        found = self.posterior.estimates(confidence_level=self.confidence_level, beta=self.f_beta)
        return {name: found[name] for name in AUDITED}

    @property
    def class_prior(self) -> ClassPriorEstimate:
        """With its interval and what goes with it."""
        found = self.estimates
        prior, hidden, frequency = (
            found[name] for name in ("class_prior", "unlabeled_prior", "label_frequency")
        )
        return ClassPriorEstimate(
            value=prior.value,
            low=prior.low,
            high=prior.high,
            unlabeled_prior=hidden.value,
            label_frequency=frequency.value,
            method="audit",
            confidence_level=self.confidence_level,
            diagnostics={"audit": self.audit.design.name},
            unlabeled_prior_interval=(hidden.low, hidden.high),
            label_frequency_interval=(frequency.low, frequency.high),
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful about the audit."""
        return audit_findings(self.audit, self.posterior.counts, self.fairness)

    def by_bin(self) -> list[dict[str, Any]]:
        """One mapping a score bin, from the lowest scores: counts and what is estimated there.

        ``positives`` are those among the rows, ``frequency`` is the share of them confirmed, each
        with its interval.
        """
        counts, design = self.posterior.counts, self.audit.design
        tail = 0.5 * (1 - self.confidence_level)
        levels = [tail, 0.5, 1 - tail]
        lower = [None, *design.edges]
        found: list[dict[str, Any]] = []
        for at in range(len(counts.rows)):
            row: dict[str, Any] = {
                "from": lower[at],
                "above": bool(counts.bins.above[at]),
                "rows": int(counts.rows[at]),
                "labeled": int(counts.labeled[at]),
                "drawn": design.planned[at],
                "decided": int(counts.decided[at]),
                "positive": int(counts.positive[at]),
                "undecided": int(counts.undecided[at]),
            }
            drawn = {"positives": self.posterior.positives, "frequency": self.posterior.e}
            for name, values in drawn.items():
                low, value, high = quantiles(values[:, at], levels)
                row |= {f"{name}_low": float(low), name: float(value), f"{name}_high": float(high)}
            found.append(row)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, without the id of any case but those of refused verdicts."""
        counts = self.posterior.counts
        return {
            "audit": self.audit.design.name,
            "fair": self.audit.fair,
            "audited": list(AUDITED),
            "target": "window",
            "cases": len(self.audit.design.cases),
            "decided": int(counts.decided.sum()),
            "positive": int(counts.positive.sum()),
            "undecided": int(counts.undecided.sum()),
            "unread": self.audit.unread,
            "refused": {one.reason: one.count for one in self.audit.refused},
            "fairness": {"p_value": self.fairness.p_value, "favoured": self.fairness.favoured},
            "undecided_intervals": {name: list(ends) for name, ends in self.undecided.items()},
            "bins": self.by_bin(),
        }


def read_audit(
    audit: Audit,
    table: ScoreTable,
    *,
    threshold: float,
    confidence_level: float = 0.95,
    f_beta: float = 2.0,
) -> AuditReading:
    """Read an audit together with the confirmations of a table.

    Parameters
    ----------
    audit : Audit
    table : ScoreTable
        Of the rows it was drawn from, with a cell that begins at every edge of its bins. Drawn
        cases count as unlabeled in it.
    threshold : float
        That of the audit.
    confidence_level : float
    f_beta : float
        beta of `f_beta`.

    Raises
    ------
    InputError
        If the threshold is another one, rows carry weights, or these cannot be the rows that it
        was drawn from.
    """
    design = audit.design
    if threshold != design.threshold:
        msg = (
            f"audit {design.name} was drawn for the threshold {design.threshold!r}, got "
            f"{threshold!r}: its score bins have an edge there and not elsewhere"
        )
        raise InputError(msg)
    bins = bins_between(table, edges=design.edges, threshold=threshold)
    decided, positive, undecided = audit.by_bin()
    counts = AuditCounts.of(bins, decided=decided, positive=positive, undecided=undecided)
    believed = FAIR if audit.fair == "assume" else UNKNOWN
    extremes: Mapping[str, tuple[float, float]] = {}
    if undecided.any():
        ends = undecided_extremes(
            counts,
            believed=believed,
            reviewers=audit.reviewers,
            confidence_level=confidence_level,
        )
        extremes = {
            name: ends[name] for name in AUDITED if name in ends and not np.isnan(ends[name]).any()
        }
    return AuditReading(
        audit=audit,
        posterior=estimate_audit(counts, believed=believed, reviewers=audit.reviewers),
        fairness=check_fairness(counts),
        undecided=extremes,
        confidence_level=confidence_level,
        f_beta=f_beta,
    )


def check_same_labels(audit: Audit, table: ScoreTable) -> None:
    """Without ids drawn cases cannot be told: labels must then be those of the draw.

    Raises
    ------
    InputError
        If rows or confirmed positives by bin are others than when the audit was drawn.
    """
    bins = bins_between(table, edges=audit.design.edges, threshold=audit.design.threshold)
    if bins.rows.tolist() != list(audit.design.rows) or bins.labeled.tolist() != list(
        audit.design.labeled
    ):
        msg = (
            f"rows or labels are others than when audit {audit.design.name} was drawn: give ids, "
            "one a row, so that its cases count by their verdict alone"
        )
        raise InputError(msg)


def audited(estimates: Mapping[str, Estimate], reading: AuditReading) -> dict[str, Estimate]:
    """Estimates with those of the audit in their places."""
    found = reading.estimates
    return {
        name: replace(found[name], range=one.range) if name in found else one
        for name, one in estimates.items()
    }


def check_goes_with_audit(
    *,
    class_prior: object,
    label_frequency: object,
    scenario: str,
    label_purity: object,
    auxiliary: object,
) -> None:
    """Refuse settings that an audit says itself, and those that its likelihood does not know.

    Raises
    ------
    ValueError
        If there is one of them.
    """
    given = {
        "class_prior": not (isinstance(class_prior, str) and class_prior == "auto"),
        "label_frequency": label_frequency is not None,
        "auxiliary": auxiliary is not None,
    }
    for name, wrong in given.items():
        if wrong:
            msg = f"the audit says how many positives there are: leave out {name}, or audit"
            raise ValueError(msg)
    if scenario != "single-training-set" or label_purity != 1.0:
        msg = (
            "an audit is read in the single-training-set scenario with a label_purity of 1, got "
            f"{scenario!r} and {label_purity!r}"
        )
        raise ValueError(msg)
