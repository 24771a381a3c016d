"""Challengers of a monitor: verdicts, differences over windows, and what was promoted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any, Final, NamedTuple

import numpy as np

from pumonitor.errors import InputError
from pumonitor.monitor.charts.time_series import Drawn, Level, draw_time_series
from pumonitor.monitor.config.sections.challengers import Gate, GateMetric
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.dashboard.pages.challengers_found import (
    ChallengersFound,
    as_sentence,
    challengers_found,
    said_to_be_better,
)
from pumonitor.monitor.dashboard.pages.window_drawings import Drawing
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.delivery.notifications.promotion_words import evidence_said
from pumonitor.monitor.ledger.records.challengers import ChallengerDifferences
from pumonitor.monitor.ledger.records.promotions import Promotion
from pumonitor.monitor.views.challengers import ChallengerConditionView, ChallengerView
from pumonitor.names import title
from pumonitor.text import interval_text, moment_cell, percent_text, signed_text

_MOST_PROMOTIONS: Final = 100
_BADGES: Final = {"better": "ok", "worse": "critical", "cannot be judged": "warning"}
_METRICS: Final[tuple[GateMetric, ...]] = ("recall", "aul")


class _Difference(NamedTuple):
    """A cell: a difference with its interval, and what it has to be."""

    value: str = ""
    interval: str = ""
    note: str = ""


def challengers_page(site: Site, name: str) -> dict[str, Any]:
    """What the page of a monitor's challengers shows.

    Parameters
    ----------
    site : Site
    name : str
        Of the monitor.
    """
    monitor, zone = site.monitors[name], site.zone(name)
    found = challengers_found(site, name)
    with site.at_once() as ledger:
        made = ledger.promotions.all(name, limit=_MOST_PROMOTIONS + 1)
    gate = monitor.challengers.gate if monitor.challengers is not None else Gate()
    columns = _columns(found)
    better = [view.challenger for view in found.judged if view.verdict == "better"]
    return {
        "monitor": name,
        "zone": zone,
        "is_configured": monitor.challengers is not None,
        "gate": gate,
        "capacity": percent_text(gate.capacity),
        "columns": {metric: _column(metric, gate) for metric in columns},
        "shown": [_shown(one, found, columns, gate, zone) for one in found.judged],
        "others": found.others,
        "noted": found.noted,
        "lead": "No challenger is surely better than the deployed model"
        if found.judged
        else "There is no challenger to judge",
        "better": said_to_be_better(monitor, better),
        "promotions": made[:_MOST_PROMOTIONS],
        "undone_by": {one.undoes: one for one in made if one.state == "done"},
        "evidence_said": evidence_said,
        "has_older": len(made) > _MOST_PROMOTIONS,
        "deployed": _deployed(monitor, made, zone),
    }


def _columns(found: ChallengersFound) -> list[str]:
    """Metrics of the table: both of the gate, and precision where an audit decides."""
    of_conditions = {condition.metric for view in found.judged for condition in view.conditions}
    return [*_METRICS, *sorted(of_conditions - set(_METRICS))]


def _column(metric: str, gate: Gate) -> str:
    among = f" among the highest {percent_text(gate.capacity)}" if metric != "aul" else ""
    return f"{title(metric)}{among}"


def _shown(
    judged: ChallengerView,
    found: ChallengersFound,
    columns: Sequence[str],
    gate: Gate,
    zone: tzinfo,
) -> dict[str, Any]:
    """A challenger that is judged, and what is drawn and written of it."""
    name = judged.challenger
    over = found.over_windows[name]
    conditions = {condition.metric: condition for condition in judged.conditions}
    return {
        "judged": judged,
        "badge": _BADGES.get(judged.verdict, ""),
        "reason": as_sentence(judged.reason),
        "cells": [_cell(metric, conditions.get(metric), over) for metric in columns],
        "noted": found.noted.get(name),
        "charts": [one for metric in _METRICS if (one := _chart(metric, name, over, gate, zone))],
        "failures": _failures(over),
    }


def _failures(
    over: Sequence[ChallengerDifferences],
) -> list[tuple[str, list[ChallengerDifferences]]]:
    """Windows that could not be scored, by the reason, that of the newest window first."""
    found: dict[str, list[ChallengerDifferences]] = {}
    for one in over:
        if one.error is not None and one.labels is None:
            found.setdefault(one.error, []).append(one)
    return sorted(found.items(), key=lambda failure: failure[1][-1].start, reverse=True)


def _cell(
    metric: str, condition: ChallengerConditionView | None, over: Sequence[ChallengerDifferences]
) -> _Difference:
    """What the gate says of it; of what it is not asked for, what the newest window left."""
    if condition is not None:
        if condition.value is None:
            return _Difference(note="no labels yet")
        above = f"has to be above {signed_text(condition.above)}" if condition.above else ""
        return _difference(condition.model_dump(), above)
    newest = next((one for window in reversed(over) if (one := _of(metric, window))), None)
    return _Difference() if newest is None else _difference(newest, "the gate does not ask for it")


def _difference(of: Mapping[str, Any], note: str) -> _Difference:
    """As `pumonitor challenge` writes it."""
    return _Difference(
        value=signed_text(of["value"]),
        interval=interval_text(of["low"], of["high"], as_text=signed_text),
        note=note,
    )


def _of(metric: str, window: ChallengerDifferences) -> Mapping[str, Any] | None:
    """The difference up to a window; None without labels."""
    found = (window.differences or {}).get(metric)
    return None if found is None or found["value"] is None else found


def _chart(
    metric: GateMetric,
    name: str,
    over: Sequence[ChallengerDifferences],
    gate: Gate,
    zone: tzinfo,
) -> Drawing | None:
    """The difference on all windows up to each; None if no window has one."""
    seen = [_of(metric, one) for one in over]
    value, low, high = (
        np.array([np.nan if one is None else one[key] for one in seen], dtype=float)
        for key in ("value", "low", "high")
    )
    # What the lines mean stands below the chart, where there is room on narrow pages.
    levels = [Level(0.0, "", "reference")]
    margin = ""
    if metric in gate.not_worse:
        levels.append(Level(-gate.not_worse[metric], "", "limit"))
        margin = f"has to be above {-gate.not_worse[metric]:g}"
    heading = f"Difference of {_column(metric, gate).replace('Recall', 'recall')}"
    drawn = draw_time_series(
        Drawn(
            starts=[one.start for one in over],
            ends=[one.end for one in over],
            value=value,
            low=low,
            high=high,
            provisional=np.zeros(len(over), dtype=bool),
        ),
        title=f"{heading}: {name} less the deployed model, on all windows up to each",
        zone=zone,
        levels=levels,
        identifier=f"{metric}-of-{name}",
    )
    if not drawn:
        return None
    lines = [
        (
            moment_cell(window.start, zone),
            "" if window.labels is None else f"{window.labels:,}",
            *(_difference(one, "")[:2] if one is not None else (_why_none(window), "")),
        )
        for window, one in zip(over, seen, strict=True)
    ]
    columns = ("Up to the window", "Its labels", "Difference", "Interval")
    return Drawing(heading=heading, chart=drawn, columns=columns, lines=lines[::-1], note=margin)


def _why_none(window: ChallengerDifferences) -> str:
    if window.error is not None and window.labels is None:
        return "could not be scored"
    return "no labels yet" if window.labels is not None else "not scored yet"


def _deployed(monitor: Monitor, made: Sequence[Promotion], zone: tzinfo) -> str:
    """Which version was deployed last, as far as that is known here; "" without a model."""
    from pumonitor.monitor.promotion.by_gate import deployed_by

    try:
        deployed = deployed_by(monitor)
    except InputError:
        return ""
    here = [
        one
        for one in made
        if (one.model, one.alias, one.state) == (deployed.model, deployed.alias, "done")
    ]
    if not here:
        return f"The deployed version is the {deployed.alias} of model {deployed.model}."
    last = here[0]
    return (
        f"Version {last.to_version} of model {last.model} became {last.alias} on "
        f"{moment_cell(last.ended_at, zone)}."
    )
