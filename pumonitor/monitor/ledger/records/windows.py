"""Records of windows and panes, the backlog, and entries of the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from pumonitor.ports import State, Window
from pumonitor.views.model import Moment, View

Status = Literal["planned", "collected", "evaluated"]


class PaneRecord(View):
    """One look at a window."""

    number: int
    state: State
    as_of: Moment
    status: Status
    revision: int | None = Field(description="Revision of its newest results.")
    digest: str | None = Field(description="Digest of the rows that were counted.")
    counts: dict[str, Any] | None = Field(
        description="Rows that were counted; in versions what read them (read_by: engine, version, "
        "seconds, bytes, query_ids, and how many windows together), of tables in lakes the version "
        "or snapshot, and an engine that was not verified."
    )
    collected_at: Moment | None
    evaluated_at: Moment | None
    library_version: str | None = Field(description="That last worked on it.")


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRecord:
    """A window with its panes, its claim and its failed attempts.

    Attributes
    ----------
    window_key, monitor, configuration : str
    window : Window
    panes : tuple of PaneRecord
        In order.
    attempts : int
        Number of failed attempts in a row.
    last_error : str or None
        Error of the last of them.
    not_before : datetime or None
        Time of the next attempt.
    lease_owner : str or None
        Process that holds the claim, or held it when the lease expired.
    lease_until : datetime or None
        End of the lease.
    refused_look : mapping or None
        Since when rows are gone, and what the last look found; None while none are gone.
    accepted_look : mapping or None
        Who took a look all the same, when ("at"), why, and what it had found.
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
    refused_look: Mapping[str, Any] | None = None
    accepted_look: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Amount of work left.

    Attributes
    ----------
    windows : int
        Number of planned windows.
    to_collect : int
        Windows with due panes that are not collected.
    to_evaluate : int
        Windows with collected panes that are not evaluated.
    failing : int
        Windows of either kind whose last attempt failed.
    oldest_unfinished : datetime or None
        Earliest moment of the due panes that are not evaluated.
    """

    windows: int
    to_collect: int
    to_evaluate: int
    failing: int
    oldest_unfinished: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorWork:
    """What is due of a monitor, and what the last round found of it.

    Attributes
    ----------
    to_collect, to_evaluate, failing : int
        As of `Backlog`.
    due : int
        Windows to collect or to evaluate.
    failing_since : datetime or None
        Start of the earliest window that fails.
    held : int
        Windows that a worker has claimed, and works on unless it has died since.
    windows : int
        All windows that are planned; 0 while none is held.
    oldest_due : datetime or None
        Earliest moment of the due panes that are not evaluated.
    newest_end : datetime or None
        End of the newest window that is planned.
    next_mature : datetime or None
        Moment of the earliest mature pane that is not evaluated: when a window is judged next.
    last_evaluated : datetime or None
        When a window was last evaluated with new results, by the database's clock.
    last_prediction, looked_at, problem, problem_since
        As of `Standing`.
    """

    to_collect: int = 0
    to_evaluate: int = 0
    failing: int = 0
    due: int = 0
    failing_since: datetime | None = None
    held: int = 0
    windows: int = 0
    oldest_due: datetime | None = None
    newest_end: datetime | None = None
    next_mature: datetime | None = None
    last_evaluated: datetime | None = None
    last_prediction: datetime | None = None
    looked_at: datetime | None = None
    problem: str | None = None
    problem_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """An entry of the audit log: an action of a user or a process."""

    at: datetime
    actor: str
    action: str
    detail: Mapping[str, Any]
