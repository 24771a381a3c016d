"""What is doubtful about an audit, each finding a sentence for people."""

from __future__ import annotations

from typing import Final

from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.fairness import Fairness
from pumonitor.audit.verdicts import Audit
from pumonitor.results import Finding

__all__ = ["audit_findings"]

LEVEL: Final = 0.05
"""Of the check of fair labels."""

GROWN: Final = 1.1
"""From how many times as many confirmed positives as when the audit was drawn it is said."""


def audit_findings(audit: Audit, counts: AuditCounts, fairness: Fairness) -> tuple[Finding, ...]:
    """Warnings before notes.

    Parameters
    ----------
    audit : Audit
    counts : AuditCounts
    fairness : Fairness
    """
    return (
        *_unfair(audit, fairness),
        *_labels_changed(audit, counts),
        *_unread(audit),
        *_refused(audit),
        *_undecided(counts),
    )


def _unfair(audit: Audit, fairness: Fairness) -> list[Finding]:
    if fairness.p_value > LEVEL:
        return []
    times = max(fairness.favoured, 1 / fairness.favoured)
    often = f"{times:.2g} times as often as" if times < 100 else "over 100 times as often as"
    high, low = ("highest", "lowest") if fairness.favoured > 1 else ("lowest", "highest")
    then = (
        "The audit took confirmations for a fair sample, so recall and AUC are wrong by that: read "
        "it with fair='check'."
        if audit.fair == "assume"
        else "The audited estimates allow for that. Those that the audit does not give, curves, "
        "average precision, the best thresholds and the top of the list, do not."
    )
    return [
        Finding(
            name="unfair_labels_by_audit",
            severity="warning",
            sentence=(
                f"Positives of the {high} scores get confirmed {often} those of the {low}, by the "
                f"audit (p = {fairness.p_value:.2g}): confirmed positives are not a fair sample. "
                f"{then}"
            ),
        )
    ]


def _labels_changed(audit: Audit, counts: AuditCounts) -> list[Finding]:
    before, now = sum(audit.design.labeled), int(counts.labeled.sum())
    if 1 / GROWN <= now / before <= GROWN:
        return []
    return [
        Finding(
            name="audit_labels_changed",
            severity="warning",
            sentence=(
                f"{now} positives are confirmed, and {before} were when the audit was drawn. Its "
                "cases were drawn from rows unconfirmed then, which are not those unconfirmed now: "
                "give the labels as they were at the draw."
            ),
        )
    ]


def _unread(audit: Audit) -> list[Finding]:
    if audit.unread == 0:
        return []
    cases = [case.id in audit.verdicts for case in audit.design.cases]
    read = sum(cases)
    in_order = sum(cases[:read]) >= 0.9 * read
    return [
        Finding(
            name="audit_unread",
            severity="note" if in_order else "warning",
            sentence=(
                f"{audit.unread} of {len(cases)} cases have no verdict yet. "
                + (
                    "The others stand first in the random order: intervals are right, only wider."
                    if in_order
                    else "The others were not taken in the order of the list: if they were picked, "
                    "the audit is no random one. Review the cases in their order."
                )
            ),
        )
    ]


def _refused(audit: Audit) -> list[Finding]:
    if not audit.refused:
        return []
    return [
        Finding(
            name="audit_verdicts_not_used",
            severity="warning",
            sentence=f"Verdicts that are not used: {'; '.join(map(str, audit.refused))}.",
        )
    ]


def _undecided(counts: AuditCounts) -> list[Finding]:
    undecided = int(counts.undecided.sum())
    if undecided == 0:
        return []
    drawn = undecided + int(counts.decided.sum())
    return [
        Finding(
            name="audit_undecided",
            severity="note",
            sentence=(
                f"{undecided} of {drawn} reviewed cases are undecided. Intervals take them to be "
                "like the decided cases of their score bin; those over odds from a quarter to four "
                "times are in `audit.undecided`, in JSON `undecided_intervals`."
            ),
        )
    ]
