"""The class prior over the windows up to one, and what changed in each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pumonitor.report import palette
from pumonitor.report.chart_parts import Spec, field, layer, layered, moment, second, time_axis
from pumonitor.text import percent_text

_WIDTH: Final = 430
_HEIGHT: Final = 170
_LANE: Final = 16
_LEAST_SHOWN: Final = 0.02
_LEAST: Final = 1e-6
_BEYOND: Final = 10.0
_ROOM: Final = 1.15
_LATE: Final = 0.75
_TICKS: Final = tuple(float(f"{digit}e{power}") for power in range(-6, 0) for digit in (1, 2, 5))
_LANES: Final = {
    "prior": ("Share of positives", palette.CORRECTED),
    "label frequency": ("Share confirmed", palette.UNCORRECTED),
    "ranking": ("Ranking", palette.INK),
    "negatives": ("Other cases", palette.MUTED),
}
"""Name in hypotheses to heading and colour of its lane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorPoint:
    """The class prior of one window.

    Attributes
    ----------
    start, end : datetime
    value, low, high : float
    own : float or None
        What the window's rows say by themselves.
    changes : mapping of str to float
        Chance of each hypothesis about what changed in it.
    """

    start: datetime
    end: datetime
    value: float
    low: float
    high: float
    own: float | None
    changes: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorLevel:
    """What it is followed from, over its period."""

    start: datetime
    end: datetime
    value: float
    low: float
    high: float
    given: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorHistory:
    """Windows in order of time, one at least, and the level.

    Attributes
    ----------
    points : sequence of PriorPoint
    level : PriorLevel
    version : (datetime, str), optional
        Where it took over from another, the model version and its first window's start.
    """

    points: Sequence[PriorPoint]
    level: PriorLevel
    version: tuple[datetime, str] | None = None


def prior_chart(history: PriorHistory) -> Spec:
    """Class prior with its band, own estimates faint behind, and a lane for each kind of change.

    A bar in a lane is as high as the chance that such a change came with the window; that of
    nothing is left empty. Shares are on a logarithmic scale, so that doubling is one step anywhere.
    """
    points = history.points
    period = [moment(points[0].start), moment(points[-1].end)]
    scale = {"type": "utc", "domain": period, "nice": False}
    lanes = {
        "vconcat": [_lane(points, name, scale) for name in _LANES],
        "spacing": 4,
        "title": {
            "text": "Chance that it changed with the window",
            "fontWeight": "normal",
            "offset": 2,
        },
    }
    above = layered(*_shares(history, scale), width=_WIDTH, height=_HEIGHT)
    return {"vconcat": [above, lanes], "spacing": 10}


def _shares(history: PriorHistory, scale: Spec) -> Iterator[Spec]:
    low, high = _domain(history)
    hidden = {"title": None, "labels": False, "ticks": False, "grid": False}
    x = field("at", "temporal", scale=scale, axis=hidden)
    how: Spec = {
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {
            "title": None,
            "values": [tick for tick in _TICKS if low <= tick <= high],
            "format": ".3~%",
            "domain": False,
            "ticks": False,
        },
    }
    rows = list(_rows(history.points, low, high))
    dots = {"shape": "circle", "size": 14, "filled": True, "opacity": 0.55, "color": palette.AXIS}
    yield layer(rows, "point", look=dots, x=x, y=field("own", **how))
    band = {"color": palette.CORRECTED, "opacity": 0.2}
    yield layer(rows, "area", look=band, x=x, y=field("low", **how), y2=second("high"))
    line = {"color": palette.CORRECTED, "strokeWidth": 2}
    yield layer(rows, "line", look=line, x=x, y=field("value", **how))
    yield from _new_version(history, x)
    for row in _level(history):
        place: Spec = {"x": x, "y": field("value", **how)}
        bar = {"color": palette.INK, "strokeWidth": 3}
        yield layer([row], "rule", look=bar, **place, x2=second("until"))
        words = {"align": "left", "dx": 3, "dy": 12, "color": palette.INK}
        yield layer([row], "text", look=words, **place, text=field("label", "nominal"))


def _new_version(history: PriorHistory, x: Spec) -> Iterator[Spec]:
    """Where a model version took over, in words on the side where there is room."""
    if history.version is None:
        return
    start, name = history.version
    first, last = history.points[0].start, history.points[-1].end
    late = start - first > _LATE * (last - first)
    rows = [{"at": moment(start), "label": f"version {name}"}]
    yield layer(rows, "rule", look={"color": palette.MUTED, "strokeDash": [3, 3]}, x=x)
    look = {
        "align": "right" if late else "left",
        "baseline": "top",
        "dx": -4 if late else 4,
        "color": palette.MUTED,
    }
    yield layer(rows, "text", look=look, x=x, y={"value": 0}, text=field("label", "nominal"))


def _rows(points: Sequence[PriorPoint], low: float, high: float) -> Iterator[dict[str, Any]]:
    """What lies beyond the ends is drawn at them; where windows are missing lines are broken."""
    before = None
    for one in points:
        if before is not None and one.start > before:
            yield {"at": moment(before), "value": None, "low": None, "high": None, "own": None}
        yield {
            "at": moment(one.start + (one.end - one.start) / 2),
            "value": one.value,
            "low": max(one.low, low),
            "high": min(one.high, high),
            "own": None if one.own is None else min(max(one.own, low), high),
        }
        before = one.end


def _level(history: PriorHistory) -> Iterator[dict[str, Any]]:
    """The level over its period, as far as that is drawn."""
    level, points = history.level, history.points
    start, end = max(level.start, points[0].start), min(level.end, points[-1].end)
    if start < end:
        yield {
            "at": moment(start),
            "until": moment(end),
            "value": level.value,
            "label": f"{'given' if level.given else 'estimated'}: {percent_text(level.value)}",
        }


def _domain(history: PriorHistory) -> tuple[float, float]:
    """All of the band and of the level, and own estimates up to ten times as far."""
    shown: list[PriorPoint | PriorLevel] = [*history.points, history.level]
    low, high = max(min(one.low for one in shown), _LEAST), max(one.high for one in shown)
    own = [one.own for one in history.points if one.own is not None]
    low = min(low, max(min(own, default=low), low / _BEYOND))
    high = max(high, min(max(own, default=high), high * _BEYOND))
    return low / _ROOM, min(high * _ROOM, 1.0)


def _lane(points: Sequence[PriorPoint], name: str, scale: Spec) -> Spec:
    """How likely it is in each window that such a change came with it."""
    title, color = _LANES[name]
    rows = [
        {"start": moment(one.start), "end": moment(one.end), "chance": chance}
        for one in points
        if (chance := _chance(name, one.changes)) >= _LEAST_SHOWN
    ]
    last = name == list(_LANES)[-1]
    x = {
        "title": None,
        "grid": False,
        "labels": last,
        "ticks": last,
        **time_axis(points[0].start, points[-1].end, most=6),
        "labelOverlap": True,
        "domainColor": palette.AXIS if last else palette.GRID,
    }
    y = {
        "title": title,
        "titleAngle": 0,
        "titleAlign": "right",
        "titleBaseline": "middle",
        "titlePadding": 6,
        "labels": False,
        "ticks": False,
        "grid": False,
        "domain": False,
    }
    bars = layer(
        rows,
        "rect",
        look={"color": color},
        x=field("start", "temporal", scale=scale, axis=x),
        x2=second("end"),
        y=field("chance", scale={"domain": [0, 1]}, axis=y),
        y2={"datum": 0},
    )
    return {**bars, "width": _WIDTH, "height": _LANE}


def _chance(name: str, changes: Mapping[str, float]) -> float:
    """Of such a change, alone or with another."""
    return sum(chance for kinds, chance in changes.items() if name in kinds.split(" and "))
