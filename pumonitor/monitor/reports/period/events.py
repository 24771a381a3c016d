"""What happened in a period: alerts, model versions, configurations, versions of pumonitor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from pumonitor.monitor.charts.time_series import Mark
from pumonitor.monitor.config.changes import changes_between
from pumonitor.monitor.ledger.records.alerts import StoredTransition
from pumonitor.monitor.ledger.records.columns import ResultColumns
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.plain_text import one_line, series_of
from pumonitor.text import count_text, moment_cell

_MOST_MARKS: Final = 40

FIRING: Final = "firing"
"""What is said of an alert that fired before the period, and was not resolved before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An alert that fired, was resolved, was firing before, or of which somebody was reminded.

    Attributes
    ----------
    number : int or None
        Of its mark in the charts.
    at : datetime
        Start of the window.
    kind, severity, rule, series, sentence, cause, when, known : str
    page : str
        Address of the window's page; "" if it is not known.
    """

    number: int | None
    at: datetime
    kind: str
    severity: str
    rule: str
    series: str
    sentence: str
    cause: str
    when: str
    known: str
    page: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionShown:
    """A model version that predicted in some windows."""

    name: str
    windows: int
    first: str
    last: str
    predictions: str


def alerts_in(
    events: Sequence[StoredTransition],
    *,
    start: datetime,
    zone: ZoneInfo,
    pages: PageAddresses | None,
) -> list[Event]:
    """Transitions of alerts in their order; those of windows before `start` fired before."""
    found: list[Event] = []
    number = 0
    for stored in events:
        one = stored.transition
        is_before = one.window_start < start
        is_marked = one.kind == "fired" and not is_before and number < _MOST_MARKS
        number += is_marked
        cause = one.cause.get("sentence")
        found.append(
            Event(
                number=number if is_marked else None,
                at=one.window_start,
                kind=FIRING if is_before else one.kind,
                severity=one.severity,
                rule=one_line(one.rule),
                series=series_of(one.model_version, one.segment),
                sentence=one_line(one.sentence),
                cause=one_line(cause) if isinstance(cause, str) else "",
                when=moment_cell(one.window_start, zone),
                known=moment_cell(one.as_of, zone),
                page=""
                if pages is None
                else pages.window(one.monitor, one.window_start, one.model_version, one.segment),
            )
        )
    return found


def notes_said(notes: Sequence[Note], *, zone: ZoneInfo) -> list[str]:
    """Notes of people with what they are about."""
    return [
        f"{moment_cell(one.at, zone)}"
        f"{'' if one.ends is None else f' to {moment_cell(one.ends, zone)}'}, {one.author}: "
        f"{one_line(one.text)}"
        for one in notes
    ]


def marks_of(events: Sequence[Event]) -> list[Mark]:
    """Marks of the alerts that fired, for the charts."""
    return [
        Mark(one.at, one.number, f"{one.rule} fired", "alert")
        for one in events
        if one.number is not None
    ]


def by_window_and_version(columns: ResultColumns, metric: str) -> dict[tuple[datetime, str], float]:
    """Values of a metric of every model version of every window, where there is one.

    The oldest window is left out if the ledger has more results than were read, as it is in
    `metric_over_windows`: of it some may be missing.
    """
    stored = zip(
        columns.window_start, columns.model_version, columns.metric, columns.value, strict=True
    )
    oldest = min(columns.window_start, default=None) if columns.is_cut else None
    return {
        (start, version): value
        for start, version, name, value in stored
        if name == metric and value is not None and start != oldest
    }


def versions_of(columns: ResultColumns, *, zone: ZoneInfo) -> list[VersionShown]:
    """Model versions by their first window, each with all windows in which it predicted."""
    found: dict[str, dict[datetime, float]] = {}
    for (start, version), many in by_window_and_version(columns, "predictions").items():
        found.setdefault(version, {})[start] = many
    return [
        VersionShown(
            name=one_line(version) or "without a version",
            windows=len(some),
            first=moment_cell(min(some), zone),
            last=moment_cell(max(some), zone),
            predictions=count_text(round(sum(some.values()))),
        )
        for version, some in sorted(found.items(), key=lambda one: (min(one[1]), one[0]))
    ]


def configurations_said(
    records: Sequence[WindowRecord],
    stored: Mapping[str, Mapping[str, Any]],
    *,
    current: str | None,
    zone: ZoneInfo,
) -> list[str]:
    """Sentences on windows that were evaluated under other configurations than the present one.

    Parameters
    ----------
    records : sequence of WindowRecord
        Of the period, under all configurations.
    stored : mapping
        Configurations by hash.
    current : str or None
        Hash of the one whose numbers are shown.
    zone : ZoneInfo
    """
    others: dict[str, list[WindowRecord]] = {}
    for one in records:
        if one.configuration != current and any(pane.revision is not None for pane in one.panes):
            others.setdefault(one.configuration, []).append(one)
    found = []
    for configuration, some in others.items():
        now = stored.get(current or "", {})
        changes = changes_between(stored.get(configuration, {}), now)
        first, last = some[0].window.start, some[-1].window.start
        found.append(
            f"{len(some)} windows from {moment_cell(first, zone)} to {moment_cell(last, zone)} "
            f"were also evaluated under another configuration: {'; '.join(changes)}. This report "
            "has the numbers of the present one."
        )
    return found
