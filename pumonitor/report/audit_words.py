"""What an evaluation with an audit takes for granted, in sentences."""

from __future__ import annotations

from typing import Final

from pumonitor.audit.estimates import AuditedEstimates
from pumonitor.audit.fairness import Fairness
from pumonitor.audit.findings import LEVEL
from pumonitor.text import probability_text

_TESTED: Final = (
    "It is not assumed that the confirmed positives are a fair sample of all positives: the audit "
    "tests that, and its estimates allow for the opposite. How likely a positive is to be "
    "confirmed is taken to follow the score evenly, to differ a little from one score bin to the "
    "next, and to jump nowhere but at the threshold, where it may."
)
_TAKEN_FOR_FAIR: Final = (
    "As was asked for, confirmed positives are taken for a fair sample of all positives, whatever "
    "the audit says of that."
)
_DRAWN: Final = (
    "Its cases were drawn at random, by score bin, from the cases that were not confirmed, and "
    "none was picked or passed over. Its verdicts are the truth, but for errors that show on cases "
    "of known truth among them; undecided cases are like the decided ones of similar scores."
)
_CARRIED: Final = (
    " The audit is not of these cases alone. How likely a positive is to be confirmed is taken to "
    "be as it was there, but for a slow drift: a sudden change since then looks like one of the "
    "share of positives."
)
_THESE_CASES: Final = (
    "The intervals are about these very cases: left to chance is which positives got confirmed and "
    "which cases the audit drew."
)
_FLAGGED_APART: Final = " That of the share flagged alone allows for other cases having come up."
NOT_SEEN: Final = (
    "An audit sees confirmations that follow the score or jump at the threshold. It does not see "
    "those that jump elsewhere, reviewers who are all mistaken in the same way, or cases that were "
    "picked and not drawn."
)
"""Which errors no audit shows."""


def fair_labels(audit: AuditedEstimates) -> str:
    """Whether confirmed positives are taken for a fair sample, and what the audit found of it.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> print(fair_labels(SimpleNamespace(fair="assume", fairness=None)))
    As was asked for, confirmed positives are taken for a fair sample of all positives, whatever \
the audit says of that.
    """
    taken = _TAKEN_FOR_FAIR if audit.fair == "assume" else _TESTED
    return " ".join([taken, *([] if audit.fairness is None else [_found(audit.fairness)])])


def _found(fairness: Fairness) -> str:
    p_value = probability_text(fairness.p_value)
    if fairness.p_value > LEVEL:
        power = fairness.power_sentence
        told = f" That is no proof: {power}." if power else ""
        return f"The audit found no sign that they are unfair ({p_value}).{told}"
    return f"The audit found that {fairness.sentence} ({p_value})."


def how_drawn(audit: AuditedEstimates) -> str:
    """What is assumed of the cases of an audit, and of its age where it is of other cases."""
    return _DRAWN + (_CARRIED if audit.method == "audit carried" else "")


def what_intervals_cover(*, is_flagged_apart: bool) -> str:
    """What the intervals are about.

    Parameters
    ----------
    is_flagged_apart : bool
        Whether the share flagged, which no audit estimates, has an interval.
    """
    return _THESE_CASES + (_FLAGGED_APART if is_flagged_apart else "")
