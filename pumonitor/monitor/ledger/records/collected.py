"""Records of collected windows, the input of their evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pumonitor.ports import State, Window

if TYPE_CHECKING:
    from pumonitor.tables import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectedSeries:
    """Collected data of one series of a pane.

    Attributes
    ----------
    model_version, segment : str
        "" without model versions, and for all rows.
    table : ScoreTable or None
        Compressed score table; None with too few rows.
    class_prior : mapping or None
        The estimate from these rows alone, in JSON types.
    delays : JSON value
        Row counts of the series: "labeled", "unlabeled" and "negative".
    """

    model_version: str
    segment: str
    table: ScoreTable | None
    class_prior: Mapping[str, Any] | None = None
    delays: Any = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CollectedPane:
    """Collected data of one pane.

    Attributes
    ----------
    number : int
    digest : str
        Digest of the data: equal digests mean equal data.
    counts : mapping
        `InputCounts` in JSON types; with "versions", those of tables in lakes.
    series : sequence of CollectedSeries
    """

    number: int
    digest: str
    counts: Mapping[str, Any]
    series: Sequence[CollectedSeries] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorState:
    """State of the class prior's filter after a window.

    Attributes
    ----------
    segment, model_version : str
    window_start : datetime
    known : str
        Digest of what was known of the windows up to it; the state is valid while it is the same.
    state : bytes
    """

    segment: str
    model_version: str
    window_start: datetime
    known: str
    state: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredSeries:
    """Collected data of one series of a pane, as stored in the ledger.

    Attributes
    ----------
    window_key : str
    window : Window
    number : int
        Number of the pane.
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
        """The score table, decompressed at every call."""
        if self.table_bytes is None:
            return None
        # NumPy is for tables: who reads results loads none.
        from pumonitor.monitor.ledger.records.table_bytes import table_from_bytes

        return table_from_bytes(self.table_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneCounts:
    """Row counts of a window as known at a moment."""

    window: Window
    as_of: datetime
    counts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabeledCount:
    """Number of confirmed positives of one series of a window at one of its panes."""

    window: Window
    number: int
    model_version: str
    segment: str
    labeled: int
    rows: int = 0
