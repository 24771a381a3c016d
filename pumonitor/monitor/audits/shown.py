"""What one audit of a monitor says by itself: by score bin, of fairness, of undecided cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pumonitor.audit.estimation import estimate_audit, undecided_extremes
from pumonitor.audit.fairness import Fairness, check_fairness
from pumonitor.audit.posterior import AuditPosterior
from pumonitor.errors import InputError
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.audits import ReadAudit
from pumonitor.monitor.windows.class_prior.by_audits import audited_table, past_audit
from pumonitor.results import Estimate
from pumonitor.stats.quantiles import quantiles

__all__ = ["ShownAudit", "shown_audit"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShownAudit:
    """An audit read by itself, over all of its windows.

    Attributes
    ----------
    audit : ReadAudit
    posterior : AuditPosterior
    fairness : Fairness
    undecided : mapping of str to (float, float)
        Intervals over odds of undecided cases from a quarter to four times those of decided ones.
    confidence_level : float
    """

    audit: ReadAudit
    posterior: AuditPosterior
    fairness: Fairness
    undecided: Mapping[str, tuple[float, float]]
    confidence_level: float

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """Of the rows of its windows together."""
        return self.posterior.estimates(confidence_level=self.confidence_level)

    def by_bin(self) -> list[dict[str, Any]]:
        """One mapping a score bin, from the lowest scores."""
        counts = self.posterior.counts
        tail = 0.5 * (1 - self.confidence_level)
        levels = [tail, 0.5, 1 - tail]
        found: list[dict[str, Any]] = []
        for at, lower in enumerate([None, *self.audit.edges]):
            row: dict[str, Any] = {
                "from": lower,
                "above": bool(counts.bins.above[at]),
                "rows": int(counts.rows[at]),
                "labeled": int(counts.labeled[at]),
                "drawn": self.audit.planned[at],
                "decided": int(counts.decided[at]),
                "positive": int(counts.positive[at]),
                "undecided": int(counts.undecided[at]),
            }
            for name, values in (
                ("positives", self.posterior.positives),
                ("frequency", self.posterior.e),
            ):
                low, value, high = quantiles(values[:, at], levels)
                row |= {f"{name}_low": float(low), name: float(value), f"{name}_high": float(high)}
            found.append(row)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, without ids."""
        return {
            "estimates": {name: one.to_dict() for name, one in self.estimates.items()},
            "fairness": {"p_value": self.fairness.p_value, "favoured": self.fairness.favoured},
            "undecided_intervals": {
                name: list(ends)
                for name, ends in self.undecided.items()
                if not np.isnan(ends).any()
            },
            "bins": self.by_bin(),
        }


def shown_audit(
    ledger: LedgerReader, audit: ReadAudit, *, confidence_level: float = 0.95
) -> ShownAudit:
    """Read an audit together with the confirmations of its windows, as of its draw.

    It stands for itself: what earlier audits say is in the evaluation of the windows.

    Raises
    ------
    InputError
        If it has no decided case, or its windows are no longer in the state database.
    """
    past = past_audit(audit)
    bins = past.counts.bins.with_order_of(audited_table(ledger, audit), threshold=audit.threshold)
    counts = replace(past.counts, bins=bins)
    if not counts.decided.any():
        msg = f"no case of audit {audit.name} is decided yet: pumonitor audit read reads verdicts"
        raise InputError(msg)
    believed = past.nothing_known
    extremes: Mapping[str, tuple[float, float]] = {}
    if counts.undecided.any():
        extremes = undecided_extremes(
            counts,
            believed=believed,
            reviewers=past.reviewers,
            confidence_level=confidence_level,
        )
    return ShownAudit(
        audit=audit,
        posterior=estimate_audit(counts, believed=believed, reviewers=past.reviewers),
        fairness=check_fairness(counts),
        undecided=extremes,
        confidence_level=confidence_level,
    )
