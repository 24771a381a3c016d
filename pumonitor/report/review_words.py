"""What an evaluation with reviews takes for granted, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pumonitor.reviews.reading import ReviewedEstimates
from pumonitor.text import count_text, percent_text

_REVIEWED: Final = (
    "A verdict is the truth of its case, which was reviewed for its score, by chance, or for a "
    "reason that is stated. Cases of the same score are alike, reviewed or not, but for those that "
    "a rule chose: these are known and tell nothing of others."
)
_ERRING: Final = (
    "Reviewers miss positives, as complaints of cleared cases show: all estimates allow for that."
)
_BLOCKED: Final = (
    " A case that was found positive is stopped and can never complain, so how often positives "
    "complain is told by the jump of known positives where reviews end: the share of positives "
    "itself does not jump there."
)
_FREE: Final = (
    " A case that was found positive can complain all the same, so how often positives complain "
    "is seen among those that review found."
)
_COMPLAINTS: Final = (
    "Not taken for a fair sample: how likely a positive is to complain follows the score evenly, "
    "with a slope that is allowed for."
)
_ORIGINS: Final = {
    "found by review": ("positive_silent", "drawn_positive"),
    "complained": ("open_complained", "undecided_complained"),
    "both": ("positive_complained",),
    "cleared, then complained": ("cleared_complained",),
    "of a rule, or stopped": ("known_positive",),
}
NOT_SEEN: Final = (
    "Nobody sees a change of that slope far below the scores that are reviewed, positives that can "
    "never complain, and reviewers who call negatives positive. A week with a lower cut, or an "
    "audit, tells the first two."
)
THESE_CASES: Final = (
    "The intervals are about these very cases: left to chance is which positives complained and "
    "what the unreviewed cases are."
)


def how_reviewed(reviews: ReviewedEstimates) -> str:
    """What is assumed of verdicts."""
    return f"{_REVIEWED} {_ERRING}" if reviews.counts.errs else _REVIEWED


def how_complaints_come(reviews: ReviewedEstimates) -> str:
    """What is assumed of complaints."""
    said = _COMPLAINTS + (_BLOCKED if reviews.counts.blocks else _FREE)
    if reviews.complaint_rate is None:
        return said
    low, high = reviews.complaint_rate
    return (
        f"{said} As stated, {percent_text(low)} to {percent_text(high)} of the positives that "
        "nobody reviewed or stopped have complained by now."
    )


def how_known(reviews: Mapping[str, int] | None) -> str:
    """How many of the confirmed positives came through review and through complaints.

    Parameters
    ----------
    reviews : mapping of str to int or None
        Rows by kind (`pumonitor.reviews.KINDS`); None without reviews, of which nothing is said.

    Examples
    --------
    >>> how_known({"positive_silent": 130, "open_complained": 60, "positive_complained": 22})
    ' (130 found by review, 60 complained, 22 both)'
    """
    if reviews is None:
        return ""
    parts = [
        (sum(reviews.get(kind, 0) for kind in kinds), words) for words, kinds in _ORIGINS.items()
    ]
    return f" ({', '.join(f'{count_text(count)} {words}' for count, words in parts if count)})"
