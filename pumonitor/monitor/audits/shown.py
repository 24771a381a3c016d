"""What one audit of a monitor says by itself, beside what was known of its windows without it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from pumonitor.audit.compared import AuditsAround, TwoAudits, compare_audits
from pumonitor.audit.estimates import AUDITED, AuditedEstimates
from pumonitor.audit.estimation import estimate_audit, undecided_intervals
from pumonitor.audit.fairness import Fairness, check_fairness
from pumonitor.audit.findings import undecided_cases, unfair_labels, unread_cases
from pumonitor.errors import InputError
from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.audits import ReadAudit
from pumonitor.monitor.windows.class_prior.by_audits import audited_table, past_audit
from pumonitor.monitor.windows.evaluation.class_priors import (
    class_prior_from_json,
    own_class_prior,
)
from pumonitor.results import ClassPriorEstimate, Evaluation, Finding
from pumonitor.tables import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShownAudit(AuditedEstimates):
    """An audit read by itself, over all of its windows together.

    Attributes
    ----------
    audit : ReadAudit
    fairness : Fairness
    table : ScoreTable
        The rows of its windows, as they were known when it was drawn.
    prior_without : ClassPriorEstimate or None
        What was known of the class prior without it; None if nothing was.
    compared : TwoAudits or None
        With the audit before it; None if it is the first.
    """

    audit: ReadAudit
    fairness: Fairness
    table: ScoreTable
    prior_without: ClassPriorEstimate | None
    compared: TwoAudits | None

    @property
    def drawn(self) -> Sequence[int]:
        """Cases by bin."""
        return self.audit.planned

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful about it, warnings before notes."""
        return (
            *unfair_labels(self.fair, self.fairness),
            *unread_cases(self.audit.unread, self.audit.cases),
            *undecided_cases(self.posterior.counts),
        )

    def evaluation(self, *, curves: bool = False) -> Evaluation:
        """The rows of its windows together, evaluated with it."""
        return evaluate_table(
            self.table,
            threshold=self.audit.threshold,
            audit=self,
            curves=curves,
            confidence_level=self.confidence_level,
            rng=0,
        )

    def without(self, *, curves: bool = False) -> Evaluation | None:
        """The same rows without it; None where they cannot be evaluated."""
        prior = self.prior_without
        if prior is None:
            return None
        try:
            return evaluate_table(
                self.table,
                threshold=self.audit.threshold,
                class_prior=prior,
                curves=curves,
                confidence_level=self.confidence_level,
                rng=0,
            )
        except InputError:
            return None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, without ids."""
        without = self.without()
        compared = self.compared
        return {
            "estimates": {name: one.to_dict() for name, one in self.estimates.items()},
            "without_audit": None
            if without is None
            else {name: without[name].to_dict() for name in AUDITED},
            "audit_before": None
            if compared is None
            else {
                "audit": compared.before.name,
                "class_prior": asdict(compared.class_prior),
                "label_frequency": asdict(compared.label_frequency),
                "support": dict(compared.support),
            },
            "fairness": asdict(self.fairness),
            "undecided_intervals": {name: list(ends) for name, ends in self.undecided.items()},
            "bins": self.by_bin(),
        }


def shown_audit(
    ledger: LedgerReader,
    monitor: Monitor,
    audit: ReadAudit,
    *,
    earlier: Iterable[ReadAudit] = (),
    confidence_level: float = 0.95,
) -> ShownAudit:
    """Read an audit together with the confirmations of its windows, as of its draw.

    It stands for itself: what earlier audits say is in the evaluation of the windows.

    Parameters
    ----------
    ledger : LedgerReader
    monitor : Monitor
    audit : ReadAudit
    earlier : iterable of ReadAudit
        Those before it, to compare it with.
    confidence_level : float

    Raises
    ------
    InputError
        If it has no decided case, or its windows are no longer in the state database.
    """
    past, table = past_audit(audit), audited_table(ledger, audit)
    bins = past.counts.bins.with_order_of(table, threshold=audit.threshold)
    past = replace(past, counts=replace(past.counts, bins=bins))
    counts = past.counts
    if not counts.decided.any():
        msg = f"no case of audit {audit.name} is decided yet: pumonitor audit read reads verdicts"
        raise InputError(msg)
    believed = past.nothing_known
    before = tuple(
        past_audit(one)
        for one in earlier
        if any(sum(part.decided) for part in one.by_window.values())
    )
    return ShownAudit(
        name=audit.name,
        audit=audit,
        fair=audit.fair,
        posterior=estimate_audit(counts, believed=believed, reviewers=past.reviewers),
        fairness=check_fairness(counts),
        undecided=undecided_intervals(
            counts,
            believed=believed,
            reviewers=past.reviewers,
            confidence_level=confidence_level,
        ),
        confidence_level=confidence_level,
        table=table,
        prior_without=_prior_without(ledger, monitor, audit, table),
        compared=compare_audits(AuditsAround(before=before, after=(past,))) if before else None,
    )


def _prior_without(
    ledger: LedgerReader, monitor: Monitor, audit: ReadAudit, table: ScoreTable
) -> ClassPriorEstimate | None:
    """The class prior that its windows have without it, weighted by rows; else of their rows."""
    found = []
    for start, counts in audit.by_window.items():
        for one in ledger.evaluations(
            audit.monitor,
            start=start,
            model_version=audit.model_version,
            segment="",
            configuration=audit.configuration,
        ):
            prior = class_prior_from_json(one.evaluation["made_with"]["class_prior"])
            if prior is not None:
                found.append((sum(counts.rows), prior.value, prior.low, prior.high))
    if not found:
        return own_class_prior(table, monitor.assumed_prior)
    rows, *priors = np.array(found).T
    value, low, high = (float(np.average(one, weights=rows)) for one in priors)
    return ClassPriorEstimate.given(value if low == high else (value, low, high))
