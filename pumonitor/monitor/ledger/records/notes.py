"""A note that somebody wrote about a monitor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedAlert:
    """The incident of an alert that a note is about.

    Attributes
    ----------
    rule_key, model_version, segment : str
    incident : int
    """

    rule_key: str
    model_version: str
    segment: str
    incident: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note about a moment, a period or an incident of a monitor.

    Attributes
    ----------
    id : int
        0 until it is stored.
    monitor : str
    at : datetime
        The moment it is about, or the beginning of its period.
    ends : datetime or None
        End of its period; None for a moment.
    alert : NotedAlert or None
    text, author : str
    created_at, withdrawn_at : datetime or None
        By the database's clock; None until it is stored, or while it holds.
    """

    monitor: str
    at: datetime
    text: str
    author: str
    ends: datetime | None = None
    alert: NotedAlert | None = None
    id: int = 0
    created_at: datetime | None = None
    withdrawn_at: datetime | None = None

    def __post_init__(self) -> None:
        if self.ends is not None and self.ends < self.at:
            msg = f"a note must be about a period that ends after it begins, got {self.at} to "
            raise ValueError(msg + str(self.ends))
