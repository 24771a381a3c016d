"""What happened over the windows of a chart: alerts, versions, configurations, audits, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Final

from pumonitor.errors import shortened
from pumonitor.monitor.charts.time_series import Mark
from pumonitor.monitor.config.changes import changes_between
from pumonitor.monitor.dashboard.address import SeriesAddress
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.reports.metric_over_windows import MetricOverWindows
from pumonitor.plain_text import one_line
from pumonitor.text import moment_cell

_MOST: Final = 40
_LONGEST: Final = 160
_AN_INSTANT: Final = timedelta(microseconds=1)


def notes_shown(
    ledger: Ledger, name: str, shown: MetricOverWindows, at: SeriesAddress
) -> tuple[Note, ...]:
    """Notes about the time of these windows and, on the newest page, since then."""
    if not len(shown):
        return ledger.notes.all(name, limit=_MOST)
    found = ledger.notes.all(name, since=shown.starts[0], until=at.until, limit=_MOST)
    return tuple(one for one in found if _is_known(one.created_at, at))


def marks_shown(
    ledger: Ledger,
    name: str,
    shown: MetricOverWindows,
    at: SeriesAddress,
    notes: Sequence[Note],
    *,
    zone: tzinfo,
) -> list[Mark]:
    """What happened in the windows shown, in order of time.

    Parameters
    ----------
    ledger : Ledger
    name : str
        Of the monitor.
    shown : MetricOverWindows
    at : SeriesAddress
    notes : sequence of Note
        From `notes_shown`.
    zone : tzinfo
        In which moments are written.
    """
    if not len(shown):
        return []
    found = [
        *_alerts(ledger, name, shown, at, zone=zone),
        *_versions(shown),
        *_configurations(ledger, name, at),
        *_audits(ledger, name, at, zone=zone),
        *((one.at, "note", f"{one.author}: {_on_one_line(one.text)}") for one in notes),
    ]
    within = [one for one in sorted(found) if shown.starts[0] <= one[0] <= shown.ends[-1]]
    # What happened at one moment has one mark; of its kinds the first in the alphabet is drawn.
    return [
        Mark(at=when, number=place, text="; ".join(texts), kind=kind)  # type: ignore[arg-type]
        for place, (when, (kind, texts)) in enumerate(_together(within).items(), start=1)
    ]


def _together(
    found: Sequence[tuple[datetime, str, str]],
) -> dict[datetime, tuple[str, list[str]]]:
    together: dict[datetime, tuple[str, list[str]]] = {}
    for when, kind, text in found:
        _, texts = together.setdefault(when, (kind, []))
        if text not in texts:
            texts.append(text)
    return together


def _alerts(
    ledger: Ledger, name: str, shown: MetricOverWindows, at: SeriesAddress, *, zone: tzinfo
) -> Iterator[tuple[datetime, str, str]]:
    """Alerts at the windows with which they began, which is earlier than they were noticed."""
    # What was known at a moment includes what became known then.
    until = None if at.as_of is None else at.as_of + _AN_INSTANT
    events = ledger.alerts.history(
        name, since=shown.starts[0], until=until, kind="fired", limit=_MOST
    )
    for one in events:
        noticed = moment_cell(one.transition.as_of, zone)
        said = f"{one.transition.rule}: bad since this window, noticed on {noticed}"
        yield one.transition.window_start, "alert", said


def _versions(shown: MetricOverWindows) -> Iterator[tuple[datetime, str, str]]:
    for version, start in list(shown.first_windows.items())[1:]:
        if version:
            yield start, "version", f"model version {one_line(version)}"


def _configurations(
    ledger: Ledger, name: str, at: SeriesAddress
) -> Iterator[tuple[datetime, str, str]]:
    """When the monitor's configuration changed, and what of it."""
    used = [one for one in ledger.configuration_changes(name) if _is_known(one[0], at)]
    for (_, before), (when, now) in pairwise(used[-_MOST:]):
        changes = changes_between(before, now)
        if changes:
            said = shortened("; ".join(changes), most=_LONGEST)
            yield when, "configuration", f"configuration: {said}"


def _audits(
    ledger: Ledger, name: str, at: SeriesAddress, *, zone: tzinfo
) -> Iterator[tuple[datetime, str, str]]:
    """Audits that are used, at the first of the windows that they were drawn from."""
    used = ledger.reviews.all(name, configuration=ledger.configuration(name))
    for one in used[-_MOST:]:
        if _is_known(one.drawn_at, at):
            many = "1 window" if len(one.windows) == 1 else f"{len(one.windows)} windows"
            version = f", model version {one_line(one.model_version)}" if one.model_version else ""
            yield (
                one.window_start,
                "audit",
                f"audit {one.name}: cases of {many}, until {moment_cell(one.window_end, zone)}, "
                f"drawn on {moment_cell(one.drawn_at, zone)}{version}",
            )


def _on_one_line(text: str) -> str:
    return shortened(" ".join(text.split()), most=_LONGEST)


def _is_known(moment: datetime | None, at: SeriesAddress) -> bool:
    return at.as_of is None or (moment is not None and moment <= at.as_of)
