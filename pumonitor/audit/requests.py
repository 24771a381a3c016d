"""What an audit asks of the source of its rows: counts by score bin, and rows of smallest key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pumonitor.ports import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class BinRequest:
    """Which score bins of one window are to be counted.

    Attributes
    ----------
    window : Window
    as_of : datetime
        Labels known later do not count.
    model_version : str
        "" without such a column.
    threshold : float
        Decision threshold.
    edges : tuple of float
        Inner edges of the bins; a bin holds edge <= score < next edge.
    """

    window: Window
    as_of: datetime
    model_version: str
    threshold: float
    edges: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BinRows:
    """Rows and confirmed positives by score bin."""

    rows: tuple[int, ...]
    labeled: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRequest(BinRequest):
    """Which rows of these bins are wanted: those of smallest key.

    Attributes
    ----------
    seed : str
        Of the keys: SHA-256 of ``seed:id`` in hexadecimal digits.
    shares : tuple of float
        By bin: which share of all possible keys an unconfirmed row's must be among.
    confirmed_share : float
        The same for confirmed positives of all bins.
    columns : tuple of str
        Columns of the predictions that are wanted beside the id.
    """

    seed: str
    shares: tuple[float, ...]
    confirmed_share: float = 0.0
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRow:
    """A row whose key is small enough.

    Attributes
    ----------
    id, key : str
    bin : int
        From 0, for the lowest scores.
    is_confirmed : bool
        Whether it was a confirmed positive at the moment asked for.
    shown : tuple of str
        The columns asked for, as text; empty where a value is missing.
    segments : tuple of str
        Those it is of, each as column=value.
    """

    id: str
    key: str
    bin: int
    is_confirmed: bool
    shown: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
