"""What is known of the cases of a window with reviews, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from pumonitor.results import Finding
from pumonitor.text import count_text

_NAME: Final = "labels_to_come"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLabels:
    """What is known of the cases of a window at a moment.

    Attributes
    ----------
    verdicts, undecided, waiting : int
        Cases with a verdict, those that reviewers could not tell or differ on, and those that were
        queued without one.
    complaints : int
        Cases of which somebody complained.
    """

    verdicts: int
    undecided: int
    waiting: int
    complaints: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelsToCome:
    """What a window that is not mature waits for.

    Attributes
    ----------
    waiting : int or None
        Cases that were queued and have no verdict yet; None where no queue says when it queued
        them.
    complaints : int
        Complaints that are known.
    expected, low, high : float or None
        Complaints that are still to come by the maturity, with their 95% interval; None while no
        earlier window tells: none is mature, or none had complaints at this age.
    """

    waiting: int | None
    complaints: int
    expected: float | None
    low: float | None
    high: float | None

    @property
    def sentence(self) -> str:
        """In words."""
        queued = ""
        if self.waiting is not None:
            are = "case is" if self.waiting == 1 else "cases are"
            queued = f"{self.waiting:,} {are} queued without a verdict. "
        if self.expected is None or self.low is None or self.high is None:
            return (
                f"{queued}{self.complaints:,} complaints have come; how many are still to come "
                "cannot be told yet: no earlier window is mature, or none had complaints so early."
            )
        return (
            f"{queued}{self.complaints:,} complaints have come, and {count_text(self.expected)} "
            f"({count_text(self.low)} to {count_text(self.high)}) are still to come by the "
            "maturity."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)

    def as_finding(self) -> Finding:
        """Among the findings of the window."""
        return Finding(name=_NAME, severity="note", sentence=self.sentence)


def known_labels(counts: Mapping[str, Any]) -> KnownLabels | None:
    """Of the counts of a pane; None where no reviews were counted."""
    labels = counts.get("labels")
    if labels is None:
        return None
    of_verdict = {"positive": 0, "negative": 0, "undecided": 0, "reviewers differ": 0, "waiting": 0}
    complaints = 0
    for name, (silent, complained) in labels["rows"].items():
        complaints += complained
        verdict = name.rpartition(", ")[2]
        if verdict in of_verdict:
            of_verdict[verdict] += silent + complained
    return KnownLabels(
        verdicts=of_verdict["positive"] + of_verdict["negative"],
        undecided=of_verdict["undecided"] + of_verdict["reviewers differ"],
        waiting=of_verdict["waiting"],
        complaints=complaints,
    )
