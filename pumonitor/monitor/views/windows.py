"""A window, what is doubtful about it, and work that is left."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pumonitor.monitor.ledger.records.windows import PaneRecord, WindowRecord
from pumonitor.views.model import Moment, View


class WindowView(View):
    """A window and how far it is."""

    monitor: str
    start: Moment
    end: Moment
    configuration: str
    attempts: int = Field(description="Failed attempts in a row.")
    last_error: str | None
    next_attempt: Moment | None
    panes: list[PaneRecord]


def window_view(record: WindowRecord) -> WindowView:
    """A window and how far it is."""
    return WindowView.from_record(
        record,
        start=record.window.start,
        end=record.window.end,
        next_attempt=record.not_before,
    )


class FindingView(View):
    """What is doubtful about a window, or worth knowing."""

    name: str
    severity: Literal["note", "warning"]
    sentence: str


class WorkView(View):
    """Work that is left of a monitor."""

    monitor: str
    windows: int
    to_collect: int
    to_evaluate: int
    failing: int
    oldest_unfinished: Moment | None
