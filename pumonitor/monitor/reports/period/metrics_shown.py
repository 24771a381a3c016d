"""Headline estimates over the windows of a period: a chart, a line of a table, and all windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np
from markupsafe import Markup

from pumonitor.monitor.charts.time_series import Mark, draw_time_series
from pumonitor.monitor.ledger.records.columns import ResultColumns
from pumonitor.monitor.ledger.records.results import MetricResult
from pumonitor.monitor.reports.metric_over_windows import (
    MetricOverWindows,
    metric_over_windows,
    metrics_read,
)
from pumonitor.monitor.windows.messages.window_messages import verdict_of
from pumonitor.names import MEANING, estimate_text, title
from pumonitor.text import interval_shown, marked, moment_cell

HEADLINES: Final = ("class_prior", "precision", "recall", "f1", "auc", "aul")
MOST_DRAWN: Final = 2000
"""Most windows in a chart, of which there are several: the page stays below 1.5 MB."""
_CHANGES: Final = ("f1_change", "auc_change", "aul_change_ranking")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of one window, as it is shown.

    Attributes
    ----------
    value, interval : str
        "–" and "" where it is undefined; the value with a mark where it has a reason.
    reason : str
        Why it is undefined or cannot be right.
    when : str
        Start of the window.
    provisional : bool
    """

    value: str
    interval: str
    reason: str
    when: str
    provisional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricShown:
    """A metric over the windows of a period.

    Attributes
    ----------
    name, title, meaning : str
    chart : Markup
        "" if no window has a value.
    newest, lowest, highest : Number or None
        Of the windows whose labels are mature.
    numbers : tuple of Number
        Of every window.
    """

    name: str
    title: str
    meaning: str
    chart: Markup
    newest: Number | None
    lowest: Number | None
    highest: Number | None
    numbers: tuple[Number, ...]


def names_read() -> list[str]:
    """Metrics that must be read for the report."""
    found = [one for name in HEADLINES for one in metrics_read(name)]
    return list(dict.fromkeys([*found, *_CHANGES]))


def metric_shown(
    columns: ResultColumns, name: str, *, zone: ZoneInfo, marks: Sequence[Mark] = ()
) -> MetricShown | None:
    """A metric as the report shows it; None if no window asks for it, or it is assumed."""
    if name not in columns.metric or assumed_value(columns, name) is not None:
        return None
    over = metric_over_windows(columns, name)
    numbers = tuple(_number(over, place, zone) for place in range(len(over)))
    usable = np.isfinite(over.value) & ~over.provisional & ~over.infeasible
    places = np.flatnonzero(usable)

    def at(place: int | None) -> Number | None:
        return None if place is None else numbers[place]

    heading = title(name)
    return MetricShown(
        name=name,
        title=heading,
        meaning=MEANING.get(name, ""),
        chart=draw_time_series(
            replace(over.newest(MOST_DRAWN), versions=()),
            title=f"{heading} over windows",
            zone=zone,
            marks=marks,
            identifier=f"chart-{name}",
        ),
        newest=at(int(places[-1]) if places.size else None),
        lowest=at(int(places[np.argmin(over.value[places])]) if places.size else None),
        highest=at(int(places[np.argmax(over.value[places])]) if places.size else None),
        numbers=numbers,
    )


def assumed_value(columns: ResultColumns, name: str) -> float | None:
    """The one value that all windows assume; None if it is estimated."""
    found = {
        columns.value[place] if columns.assumed[place] else None
        for place, metric in enumerate(columns.metric)
        if metric == name
    }
    return found.pop() if len(found) == 1 else None


def verdicts(columns: ResultColumns) -> dict[datetime, str]:
    """How each mature window compares with the reference: "degraded", "level" or "unknown"."""
    changes = {name: metric_over_windows(columns, name) for name in _CHANGES}
    first = next(iter(changes.values()))
    return {
        start: verdict_of(
            [_result(name, over, place) for name, over in changes.items()],
        )
        for place, start in enumerate(first.starts)
        if first.states[place] != "provisional"
    }


def _result(name: str, over: MetricOverWindows, place: int) -> MetricResult:
    def plain(value: float) -> float | None:
        return float(value) if np.isfinite(value) else None

    return MetricResult(
        metric=name,
        value=plain(over.value[place]),
        low=plain(over.low[place]),
        high=plain(over.high[place]),
        infeasible_reason=over.reasons[place] or None,
    )


def _number(over: MetricOverWindows, place: int, zone: ZoneInfo) -> Number:
    value, low, high = (float(of[place]) for of in (over.value, over.low, over.high))
    return Number(
        value=marked(estimate_text("", value), over.reasons[place]),
        interval=interval_shown(low, high),
        reason=over.reasons[place],
        when=moment_cell(over.starts[place], zone),
        provisional=over.states[place] == "provisional",
    )
