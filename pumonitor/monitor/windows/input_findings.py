"""Findings on a monitor's tables from the row counts in the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.rules.alerts.usual import OVER
from pumonitor.monitor.rules.windows.input_findings import InputFinding, InputKind, input_findings
from pumonitor.ports import Window

__all__ = ["WindowFinding", "findings_of", "findings_of_counts", "findings_of_windows", "summed_up"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFinding:
    """A finding about the rows of one window.

    Attributes
    ----------
    monitor : str
    start : datetime
        Of the window.
    kind, sentence : str
        As of `InputFinding`.
    """

    monitor: str
    start: datetime
    kind: InputKind
    sentence: str


def findings_of(
    ledger: LedgerReader,
    monitor: str,
    configuration: str,
    window: Window,
    counts: Mapping[str, Any],
    *,
    as_of: datetime,
) -> list[WindowFinding]:
    """Findings on a window just collected; earlier windows are read if they matter."""

    def before() -> list[Mapping[str, Any]]:
        earlier = ledger.pane_counts_before(
            monitor, configuration, start=window.start, as_of=as_of, since=window.start - OVER
        )
        return [one.counts for one in earlier]

    return _named(monitor, window, input_findings(counts, before))


def findings_of_windows(windows: Sequence[WindowRecord]) -> list[WindowFinding]:
    """Findings on all collected windows of a monitor, each by its last count."""
    counts = [(one.window, _newest_counts(one)) for one in windows]
    counted = [(window, found) for window, found in counts if found is not None]
    return findings_of_counts(windows[0].monitor, counted) if counted else []


def findings_of_counts(
    monitor: str, counted: Sequence[tuple[Window, Mapping[str, Any]]]
) -> list[WindowFinding]:
    """Findings on windows of a monitor with their counts, in order of time."""
    found: list[WindowFinding] = []
    for place, (window, counts) in enumerate(counted):

        def before(
            earlier: Sequence[tuple[Window, Mapping[str, Any]]] = counted[:place],
            since: datetime = window.start - OVER,
        ) -> list[Mapping[str, Any]]:
            return [counts for other, counts in earlier if other.start >= since]

        found += _named(monitor, window, input_findings(counts, before))
    return found


def summed_up(findings: Iterable[WindowFinding]) -> list[str]:
    """One line for each monitor and kind: the newest finding, and the number of other windows."""
    by_kind: dict[tuple[str, str], list[WindowFinding]] = {}
    for one in findings:
        by_kind.setdefault((one.monitor, one.kind), []).append(one)
    lines: list[str] = []
    for (monitor, _), some in by_kind.items():
        newest = max(some, key=lambda one: one.start)
        others = len({one.start for one in some}) - 1
        more = f" (and {others} other{'' if others == 1 else 's'})" if others else ""
        lines.append(
            f"{monitor}, window of {newest.start:%Y-%m-%d %H:%M} UTC{more}: {newest.sentence}"
        )
    return lines


def _newest_counts(record: WindowRecord) -> Mapping[str, Any] | None:
    return next((one.counts for one in reversed(record.panes) if one.counts is not None), None)


def _named(monitor: str, window: Window, findings: Iterable[InputFinding]) -> list[WindowFinding]:
    return [
        WindowFinding(monitor=monitor, start=window.start, kind=one.kind, sentence=one.sentence)
        for one in findings
    ]
