"""What is stored of a collected window, and read back by those that evaluate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pumonitor.monitor.ledger.records.table_bytes import table_from_bytes
from pumonitor.ports import State, Window
from pumonitor.tables import ScoreTable

__all__ = [
    "CollectedPane",
    "CollectedSeries",
    "LabeledCount",
    "PaneCounts",
    "PriorState",
    "StoredSeries",
]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectedSeries:
    """What was collected of one series of a pane.

    Attributes
    ----------
    model_version, segment : str
        "" where there is none.
    table : ScoreTable or None
        Compressed; None where there are too few rows for one.
    class_prior : mapping or None
        The estimate from these rows alone, plain JSON values.
    delays : JSON value
        Counts of confirmations by delay.
    """

    model_version: str
    segment: str
    table: ScoreTable | None
    class_prior: Mapping[str, Any] | None = None
    delays: Any = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectedPane:
    """What was collected of one pane.

    Attributes
    ----------
    number : int
    digest : str
        Of the counts: equal digests stand for equal data.
    counts : mapping
        `InputCounts`, plain JSON values.
    series : sequence of CollectedSeries
    """

    number: int
    digest: str
    counts: Mapping[str, Any]
    series: Sequence[CollectedSeries] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorState:
    """A class prior as it was followed up to a window, that window among them.

    Attributes
    ----------
    segment, model_version : str
    window_start : datetime
    known : str
        What was known then of the windows up to it: a state holds as long as that is the same.
    state : bytes
    """

    segment: str
    model_version: str
    window_start: datetime
    known: str
    state: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredSeries:
    """What was collected of one series of a pane, as it is stored.

    Attributes
    ----------
    window_key : str
    window : Window
    number : int
        The pane's.
    state : {"provisional", "mature", "final"}
    as_of : datetime
    model_version, segment : str
    class_prior : mapping or None
    delays : JSON value
    table_bytes : bytes or None
    """

    window_key: str
    window: Window
    number: int
    state: State
    as_of: datetime
    model_version: str
    segment: str
    class_prior: Mapping[str, Any] | None
    delays: Any
    table_bytes: bytes | None = field(repr=False)

    def table(self) -> ScoreTable | None:
        """The score table, unpacked at every call."""
        return None if self.table_bytes is None else table_from_bytes(self.table_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneCounts:
    """What was found in a window as of a moment."""

    window: Window
    as_of: datetime
    counts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabeledCount:
    """How many positives of one series of a window were confirmed as of one of its panes."""

    window: Window
    number: int
    model_version: str
    segment: str
    labeled: int
    rows: int = 0
