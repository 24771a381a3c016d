"""What is known of the cases of a window with reviews."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
