"""Incidents over time: which rule fired when, and until when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, tzinfo
from typing import Final

from markupsafe import Markup

from pumonitor.monitor.charts.incidents import IncidentBar, IncidentRow, draw_incidents
from pumonitor.monitor.rules.alerts.alert import Transition
from pumonitor.monitor.views.alerts import AlertView
from pumonitor.plain_text import one_line, series_of
from pumonitor.text import moment_cell

__all__ = ["incidents_drawn"]

_MOST_ROWS: Final = 30
_LONGEST: Final = 110


def incidents_drawn(
    transitions: Sequence[Transition],
    *,
    until: datetime,
    zone: tzinfo,
    link: Callable[[Transition], str],
    since: datetime | None = None,
) -> Markup:
    """Draw the incidents of these transitions, a row for each alert; "" without any.

    An incident lasts from the window with which it began to the one that resolved it.

    Parameters
    ----------
    transitions : sequence of Transition
        The oldest first.
    until : datetime
        Until when what is not resolved lasts: as `last_known` answers.
    zone : tzinfo
    link : callable
        Address to which the bar of an incident leads.
    since : datetime, optional
        Where the axis begins; by default with the first incident.
    """
    incidents: dict[str, list[Transition]] = {}
    for one in transitions:
        incidents.setdefault(one.incident_key(one.incident), []).append(one)
    bars: dict[str, list[IncidentBar]] = {}
    labels: dict[str, str] = {}
    for some in incidents.values():
        last = some[-1]
        labels[last.lane] = _label(last)
        bars.setdefault(last.lane, []).append(_bar(some, now=until, zone=zone, link=link))
    # The alerts whose last incident is the latest come first.
    order = sorted(bars, key=lambda lane: max(one.end for one in bars[lane]), reverse=True)
    shown = order[:_MOST_ROWS]
    if not shown:
        return Markup("")
    begin = min(one.begin for lane in shown for one in bars[lane])
    return draw_incidents(
        [IncidentRow(label=labels[lane], bars=bars[lane]) for lane in shown],
        begin=begin if since is None else min(since, begin),
        end=until,
        zone=zone,
        title="Incidents over time, a row for each alert; the list below says the same",
    )


def last_known(
    now: datetime, alerts: Iterable[AlertView], transitions: Iterable[Transition]
) -> datetime:
    """Until when anything is known: where windows have ended long ago, that is not now.

    Parameters
    ----------
    now : datetime
    alerts : iterable of AlertView
    transitions : iterable of Transition
    """
    moments = [one.as_of for one in alerts if one.as_of is not None]
    moments += [one.as_of for one in transitions]
    return min(max(moments, default=now), now)


def _bar(
    some: Sequence[Transition],
    *,
    now: datetime,
    zone: tzinfo,
    link: Callable[[Transition], str],
) -> IncidentBar:
    last = some[-1]
    begin = last.firing_since or some[0].window_start
    end = last.window_start if last.kind == "resolved" else now
    until = f"to {moment_cell(end, zone)}" if last.kind == "resolved" else "fires still"
    noticed = next((one.as_of for one in some if one.kind == "fired"), None)
    known = "" if noticed is None else f", noticed on {moment_cell(noticed, zone)}"
    return IncidentBar(
        begin=begin,
        end=max(end, begin),
        kind=last.severity,
        text=f"{_label(last)}: bad since {moment_cell(begin, zone)}{known}, {until}",
        link=link(last),
    )


def _label(one: Transition) -> str:
    version = f"version {one.model_version}" if one.model_version else ""
    series = series_of(version, one.segment, between=", ")
    text = f"{one_line(one.monitor)}: {one_line(one.rule)}{f' ({series})' if series else ''}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
