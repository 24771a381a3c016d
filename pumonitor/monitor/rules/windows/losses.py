"""Whether a later look at a window has lost rows or labels that an earlier one counted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Self

Found = Mapping[tuple[int, str, str], tuple[int, int]]
"""Rows and labels that a look finds, by pane, model version and segment."""

_DEVIATIONS: Final = 3.0
"""Standard deviations that chance may add to what one series loses where losses are tolerated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesCount:
    """What an earlier look counted of one series.

    Attributes
    ----------
    number : int
        Of the pane.
    as_of : datetime
        Its moment.
    model_version, segment : str
    rows, labels : int
    """

    number: int
    as_of: datetime
    model_version: str
    segment: str
    rows: int
    labels: int

    def to_json(self) -> dict[str, Any]:
        """In JSON types."""
        return asdict(self) | {"as_of": self.as_of.isoformat()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """From JSON types."""
        return cls(**{**stored, "as_of": datetime.fromisoformat(stored["as_of"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Rows or labels that were counted and are gone, of all rows or of one series.

    Attributes
    ----------
    what : {"rows", "labels"}
    as_of : datetime
        Moment of the earlier look; labels are counted again as of it.
    known, found : int
    model_version, segment : str or None
        None for all rows together.
    """

    what: str
    as_of: datetime
    known: int
    found: int
    model_version: str | None = None
    segment: str | None = None


def find_loss(
    known: Sequence[SeriesCount], found: Found, *, rows: float, labels: float
) -> Loss | None:
    """The largest loss beyond what is tolerated; None without one.

    Labels are compared as of the moment of the earlier look: what a later row takes back or turns
    into the other label was still known then, so that only rows of labels that are gone are lost.
    Of one series as much may be lost as chance makes of the tolerated share, and no more than is
    lost of all rows: rows that moved to another segment are not lost.

    Parameters
    ----------
    known : sequence of SeriesCount
        Of all earlier looks.
    found : mapping
        Of all moments up to the newest.
    rows, labels : float
        Largest tolerated shares.
    """
    if not found:
        return None
    newest = max(number for number, _, _ in found)
    losses: list[Loss] = []
    by_pane: dict[int, list[SeriesCount]] = {}
    for count in known:
        by_pane.setdefault(count.number, []).append(count)
    for number, counts in by_pane.items():
        # Rows do not depend on the moment: any one tells of them.
        moment = min(number, newest)
        left = [
            found.get((moment, earlier.model_version, earlier.segment), (0, 0))
            for earlier in counts
        ]
        of_rows = [
            (earlier, earlier.rows, rows_left)
            for earlier, (rows_left, _) in zip(counts, left, strict=True)
        ]
        losses += _losses("rows", of_rows, rows)
        if number <= newest:
            of_labels = [
                (earlier, earlier.labels, labels_left)
                for earlier, (_, labels_left) in zip(counts, left, strict=True)
            ]
            losses += _losses("labels", of_labels, labels)
    # With rows their labels are gone as well: rows first, all before a series, then the largest.
    return min(
        losses,
        key=lambda loss: (
            loss.segment is not None,
            loss.what != "rows",
            loss.found / loss.known,
            loss.as_of,
        ),
        default=None,
    )


def _losses(
    what: str, counts: Iterable[tuple[SeriesCount, int, int]], tolerated: float
) -> list[Loss]:
    counts = list(counts)
    whole = [(known, left) for count, known, left in counts if count.segment == ""]
    known_of_all, left_of_all = (sum(column) for column in zip(*whole, strict=True))
    lost_of_all = known_of_all - left_of_all
    if lost_of_all <= 0:
        return []
    loss = Loss(what=what, as_of=counts[0][0].as_of, known=known_of_all, found=left_of_all)
    if lost_of_all > tolerated * known_of_all:
        return [loss]
    return [
        replace(
            loss, known=known, found=left, model_version=count.model_version, segment=count.segment
        )
        for count, known, left in counts
        if min(known - left, lost_of_all) > _most_by_chance(known, tolerated)
    ]


def _most_by_chance(rows: int, share: float) -> float:
    expected = share * rows
    return expected + _DEVIATIONS * math.sqrt(expected * (1 - share))
