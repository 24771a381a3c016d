"""Axes of a plotted area: grid, ticks, labels, titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pumonitor.report import palette
from pumonitor.report.drawing.canvas import Canvas
from pumonitor.report.drawing.scales import Scale
from pumonitor.report.drawing.text_width import shortened, text_width
from pumonitor.report.drawing.ticks import apart

_TICK, _PADDING, _TITLE_PADDING, _SIZE = 4, 2, 8, 12
_NEAR_THE_END: Final = 1.0
_HALF: Final = 0.5
"""Lines of one pixel lie between two pixels otherwise, and are drawn faintly on both."""


def draw_grid(
    canvas: Canvas, scale: Scale, axis: Mapping[str, Any], *, across: float, upright: bool
) -> None:
    """Lines across the plotted area: `upright` ones of the axis below."""
    if scale.step or not axis.get("grid", True):
        return
    places = [place + _HALF for place, _ in scale.ticks(axis)]
    far = across + _HALF
    ends = [(at, _HALF, at, far) if upright else (_HALF, at, far, at) for at in places]
    canvas.lines(ends, _looks(axis, "grid", palette.GRID))


def draw_axis(
    canvas: Canvas,
    scale: Scale,
    axis: Mapping[str, Any],
    *,
    size: tuple[float, float],
    below: bool,
) -> None:
    """The axis below the plotted area, or that at its left."""
    width, height = size
    ticks = scale.ticks(axis)
    if axis.get("domain", True):
        looks = _looks(axis, "axis", axis.get("domainColor", palette.AXIS))
        if below:
            canvas.line(0, height + _HALF, width + 1, height + _HALF, looks)
        else:
            canvas.line(_HALF, 0, _HALF, height + 1, looks)
    has_ticks = axis.get("ticks", True)
    if has_ticks:
        places = [place + _HALF for place, _ in ticks]
        canvas.lines(
            [
                (at, height, at, height + _TICK + _HALF) if below else (-_TICK, at, _HALF, at)
                for at in places
            ],
            _looks(axis, "axis", palette.AXIS),
        )
    offset = _TICK * has_ticks + axis.get("labelPadding", _PADDING)
    if below:
        _below(canvas, ticks, axis, size=size, offset=offset)
    else:
        _beside(canvas, ticks, axis, height=height, offset=offset)


def _looks(axis: Mapping[str, Any], kind: str, color: str) -> str:
    """Of a line: its color, or its class where a style sheet has the colors."""
    return f' class="{kind}"' if "style" in axis else f' stroke="{color}"'


def _text_looks(axis: Mapping[str, Any]) -> str:
    return ' class="tick"' if "style" in axis else ""


def _below(
    canvas: Canvas,
    ticks: Sequence[tuple[float, str]],
    axis: Mapping[str, Any],
    *,
    size: tuple[float, float],
    offset: float,
) -> None:
    width, height = size
    reach = 0.0
    if axis.get("labels", True):
        near = axis.get("labelFlush", _NEAR_THE_END)
        aligned = [_alignment(place, width, near) if near else "center" for place, _ in ticks]
        ends = []
        for (place, text), align in zip(ticks, aligned, strict=True):
            begin = place - {"left": 0.0, "center": 0.5, "right": 1.0}[align] * text_width(text)
            ends.append((begin, begin + text_width(text)))
        with canvas.grouped(kind="along"):
            for shown in apart(ends):
                place, text = ticks[shown]
                canvas.text(
                    place + _HALF,
                    height + _HALF + offset,
                    text,
                    color=palette.MUTED,
                    align=aligned[shown],
                    baseline="top",
                    how=_text_looks(axis),
                )
        reach = offset + _SIZE
    title = axis.get("title")
    if title:
        y = height + reach + axis.get("titlePadding", _TITLE_PADDING)
        how = _text_looks(axis)
        canvas.text(
            0.5 * width, y, title, color=palette.INK, align="center", baseline="top", how=how
        )


def _alignment(place: float, width: float, near: float) -> str:
    """Labels at the ends, or so many pixels from them, stay within the plotted area."""
    if place <= near:
        return "left"
    return "right" if place >= width - near else "center"


def _beside(
    canvas: Canvas,
    ticks: Sequence[tuple[float, str]],
    axis: Mapping[str, Any],
    *,
    height: float,
    offset: float,
) -> None:
    reach = 0.0
    if axis.get("labels", True):
        limit = axis.get("labelLimit", 180)
        for place, text in ticks:
            shown = shortened(text, limit=limit)
            canvas.text(
                _HALF - offset,
                place + _HALF,
                shown,
                color=axis.get("labelColor", palette.MUTED),
                align="right",
                baseline="middle",
                how=_text_looks(axis),
            )
            reach = max(reach, offset + text_width(shown))
    reach = max(reach, axis.get("minExtent", 0.0))
    canvas.reach(-reach, 0.0, 0.0, 0.0)
    title = axis.get("title")
    if not title:
        return
    x = -reach - axis.get("titlePadding", _TITLE_PADDING)
    middle = 0.5 * height
    if axis.get("titleAngle") == 0:
        canvas.text(x, middle, title, color=palette.INK, align="right", baseline="middle")
    else:
        canvas.text(
            x, middle, title, color=palette.INK, align="center", baseline="bottom", upward=True
        )
