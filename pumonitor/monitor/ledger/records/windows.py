"""Windows and panes as they stand, how much is left to do, and what was done by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pumonitor.ports import State, Window

__all__ = ["AuditEntry", "Backlog", "PaneRecord", "Status", "WindowRecord"]

Status = Literal["planned", "collected", "evaluated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneRecord:
    """A pane and how far it is.

    Attributes
    ----------
    number, state, as_of
    status : {"planned", "collected", "evaluated"}
    revision : int or None
        Of its newest results.
    digest : str or None
    counts : mapping or None
    collected_at, evaluated_at : datetime or None
    library_version : str or None
        That last worked on it.
    """

    number: int
    state: State
    as_of: datetime
    status: Status
    revision: int | None
    digest: str | None
    counts: Mapping[str, Any] | None
    collected_at: datetime | None
    evaluated_at: datetime | None
    library_version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRecord:
    """A window and how far it is.

    Attributes
    ----------
    window_key, monitor, configuration : str
    window : Window
    panes : tuple of PaneRecord
        In order.
    attempts : int
        Failed ones in a row.
    last_error : str or None
        Of the last of them.
    not_before : datetime or None
        When the next is made.
    lease_owner : str or None
        Who works on it, or did when the lease ran out.
    lease_until : datetime or None
    """

    window_key: str
    monitor: str
    configuration: str
    window: Window
    panes: tuple[PaneRecord, ...]
    attempts: int
    last_error: str | None
    not_before: datetime | None
    lease_owner: str | None
    lease_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """How much there is to do.

    Attributes
    ----------
    windows : int
        All that are planned.
    to_collect : int
        Windows with panes that are due and not collected.
    to_evaluate : int
        Windows with panes that are collected and not evaluated.
    failing : int
        Those of both whose last attempt failed.
    oldest_unfinished : datetime or None
        Least as_of of the panes that are due and not evaluated.
    """

    windows: int
    to_collect: int
    to_evaluate: int
    failing: int
    oldest_unfinished: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Something a person or a process did."""

    at: datetime
    actor: str
    action: str
    detail: Mapping[str, Any]
