"""Findings on a monitor's tables from the row counts in the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.rules.alerts.health import OVER
from pumonitor.monitor.rules.windows.input_findings import InputFinding, InputKind, input_findings
from pumonitor.ports import Window
from pumonitor.text import moment_text

ROW_KINDS: Final = {
    "predictions": "predictions that count",
    "duplicate_predictions": "repeated predictions with the same score, left out",
    "conflicting_predictions": "repeated predictions with another score, left out",
    "label_rows": "rows of labels",
    "duplicate_labels": "labels that repeat an earlier one",
    "conflicting_labels": "labels that contradict each other, left out",
    "retracted_labels": "labels taken back by a later one",
    "differing_verdicts": "cases on whose verdict reviewers differ, counted as undecided",
    "waiting_cases": "cases queued without a verdict",
    "early_labels": "labels known up to a day before their prediction, counted",
    "refused_labels": "labels known more than a day before their prediction, left out",
    "late_labels": "labels first known after the maturity",
    "orphan_labels": "labels without a prediction",
}
"""What people call the numbers of `pumonitor.ports.InputCounts`, and of cases in a queue."""

_USUAL_ROWS: Final = ("predictions", "label_rows", "late_labels", "waiting_cases")


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
        lines.append(f"{monitor}, window of {moment_text(newest.start)}{more}: {newest.sentence}")
    return lines


def odd_rows(windows: Sequence[WindowRecord]) -> list[str]:
    """One line with all rows of the windows that were left out or are odd, however few; or none."""
    counts = [counts for record in windows if (counts := _newest_counts(record)) is not None]
    totals = {
        what: sum(int(own.get(name) or 0) for own in counts)
        for name, what in ROW_KINDS.items()
        if name not in _USUAL_ROWS
    }
    parts = [f"{number:,} {what}" for what, number in totals.items() if number]
    return [f"In all windows together: {'; '.join(parts)}."] if parts else []


def _newest_counts(record: WindowRecord) -> Mapping[str, Any] | None:
    return next((one.counts for one in reversed(record.panes) if one.counts is not None), None)


def _named(monitor: str, window: Window, findings: Iterable[InputFinding]) -> list[WindowFinding]:
    return [
        WindowFinding(monitor=monitor, start=window.start, kind=one.kind, sentence=one.sentence)
        for one in findings
    ]
