"""What a stored window was evaluated with of an audit, for its report."""

from __future__ import annotations

from dataclasses import replace

from pumonitor.audit.estimates import AuditedEstimates, EstimatesByBin
from pumonitor.audit.fairness import check_fairness
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.windows.class_prior.by_audits import past_audit
from pumonitor.monitor.windows.evaluation.audited_windows import read_again
from pumonitor.tables import ScoreTable


def reading_of_window(
    found: StoredEvaluation, table: ScoreTable | None, ledger: LedgerReader
) -> EstimatesByBin | None:
    """What audits, with the check of fair labels, or reviews said of the window; None for neither.

    The check is of the audit over all of its windows. It is left out where verdicts have come
    since the window was evaluated, and where the audit is of another model version, whose scores
    are others.
    """
    audit = read_again(found.evaluation, table)
    if not isinstance(audit, AuditedEstimates):
        return audit
    used = {(one["audit"], one["digest"]) for one in found.evaluation["made_with"]["audits"]}
    for one in ledger.audits_as_read(found.monitor):
        is_of_window = one.name == audit.name and one.model_version == found.model_version
        if is_of_window and (one.name, one.digest) in used:
            return replace(audit, fairness=check_fairness(past_audit(one).counts))
    return audit
