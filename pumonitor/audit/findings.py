"""What is doubtful about an audit, each finding a sentence for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.fairness import Fairness
from pumonitor.audit.verdicts import Audit, Fair
from pumonitor.results import Finding
from pumonitor.text import probability_text

LEVEL: Final = 0.05
"""Of the check of fair labels."""

PATTERN_LEVEL: Final = 0.01
"""Of the checks whether being decided follows the score or the order of the list."""

_SHUFFLES: Final = 1999

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
        *unfair_labels(audit.fair, fairness),
        *_labels_changed(audit, counts),
        *_undecided_pattern(audit),
        *_unread(audit),
        *_one_sided(audit),
        *_refused(audit),
        *undecided_cases(counts),
    )


def unfair_labels(fair: Fair, fairness: Fairness) -> list[Finding]:
    """What the check of fair labels found, and what that means for the estimates."""
    if fairness.p_value > LEVEL:
        return []
    then = (
        "The audit took confirmations for a fair sample, so recall and AUC are wrong by that: read "
        "it with fair='check'."
        if fair == "assume"
        else "All estimates and curves of the audit allow for that."
    )
    return [
        Finding(
            name="unfair_labels_by_audit",
            severity="warning",
            sentence=(
                f"{fairness.sentence.capitalize()}, by the audit "
                f"({probability_text(fairness.p_value)}): confirmed positives are not a fair "
                f"sample. {then}"
            ),
        )
    ]


def _labels_changed(audit: Audit, counts: AuditCounts) -> list[Finding]:
    before, now = sum(audit.design.labeled), int(counts.labeled.sum())
    if before <= GROWN * now and now <= GROWN * before:
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
    # A line that cannot be used was reviewed all the same.
    unusable = sum(one.count for one in audit.refused if one.reason == "unknown_word")
    in_order = read - sum(cases[:read]) <= max(0.1 * read, unusable)
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


def _one_sided(audit: Audit) -> list[Finding]:
    said = audit.one_sided
    if said is None:
        return []
    return [Finding(name="audit_one_sided", severity="warning", sentence=said)]


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


def unread_cases(unread: int, cases: int) -> list[Finding]:
    """How many cases have no verdict, where it is not known which places of the list these have."""
    if unread == 0:
        return []
    return [
        Finding(
            name="audit_unread",
            severity="note",
            sentence=(
                f"{unread} of {cases} cases have no verdict yet. If the others were taken in the "
                "order of the file, intervals are right, only wider."
            ),
        )
    ]


def undecided_cases(counts: AuditCounts) -> list[Finding]:
    """How many reviewed cases are undecided, and what is made of them."""
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


def _undecided_pattern(audit: Audit) -> list[Finding]:
    """Where cases of some scores, or some part of the list, were decided less often."""
    reviewed = [
        (place, case) for place, case in enumerate(audit.design.cases) if case.id in audit.verdicts
    ]
    undecided = np.array([audit.verdicts[case.id] is None for _, case in reviewed])
    by = {
        ("low", "high"): [case.bin for _, case in reviewed],
        ("first", "last"): [place for place, _ in reviewed],
    }
    found = []
    for (low, high), along in by.items():
        p_value, rises = _trend(undecided, along)
        if p_value > PATTERN_LEVEL:
            continue
        where = (
            f"Cases of {high if rises else low} scores"
            if low == "low"
            else f"Cases that stand {'late' if rises else 'early'} in the list"
        )
        then = (
            "Within a score bin an undecided case is taken to be like a decided one, which is "
            "doubtful where the hard cases are the undecided ones: look at the interval for other "
            "odds."
            if low == "low"
            else "Nothing about a case depends on its place, so the way of reviewing changed: have "
            "the undecided ones looked at once more."
        )
        found.append(
            Finding(
                name="audit_undecided_follows_score"
                if low == "low"
                else "audit_undecided_follows_order",
                severity="warning",
                sentence=f"{where} are left undecided more often ({probability_text(p_value)}). "
                f"{then}",
            )
        )
    return found


def _trend(chosen: ArrayLike, along: Sequence[int]) -> tuple[float, bool]:
    """Whether the chosen ones lie higher or lower than chance puts them, and whether higher.

    A permutation test of the mean rank, two-sided, by shuffles with a fixed seed.
    """
    picked = np.asarray(chosen)
    count = int(picked.sum())
    if not 0 < count < len(picked):
        return 1.0, False
    _, rank = np.unique(np.asarray(along), return_inverse=True)
    centred = rank - rank.mean()
    seen = float(centred[picked].mean())
    rng = np.random.default_rng(0)
    shuffled = rng.permuted(np.tile(centred, (_SHUFFLES, 1)), axis=1)[:, :count].mean(axis=1)
    beyond = int(np.sum(np.abs(shuffled) >= abs(seen) - 1e-12))
    return (beyond + 1) / (_SHUFFLES + 1), seen > 0
