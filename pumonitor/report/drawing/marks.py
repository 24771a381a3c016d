"""Marks of a layer: lines, areas, rules, points, texts and rectangles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.report import palette
from pumonitor.report.drawing.canvas import Canvas, attributes
from pumonitor.report.drawing.scales import Scale

Row = Mapping[str, Any]

_THIN: Final = 1.5
"""Half the width of an area at one place alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer of a panel, with the scales that its layers share.

    Attributes
    ----------
    mark, encoding : mapping
        As Vega-Lite has them.
    rows : sequence of mapping
    constants : mapping
        Columns that are the same in all rows.
    x, y : Scale or None
    width, height : float
        Of the plotted area.
    """

    mark: Mapping[str, Any]
    encoding: Mapping[str, Mapping[str, Any]]
    rows: Sequence[Row]
    constants: Row
    x: Scale | None
    y: Scale | None
    width: float
    height: float

    def place(self, name: str, row: Row) -> float | None:
        """Pixels of a channel; None without the channel, and where the row has no value."""
        channel = self.encoding.get(name)
        if channel is None:
            return None
        if "value" in channel:
            return float(channel["value"])
        scale = self.x if name.startswith("x") else self.y
        given = channel["datum"] if "datum" in channel else row[channel["field"]]
        return None if given is None or scale is None else scale.at(given)

    def look(self, name: str, row: Row, default: Any) -> Any:
        """What a channel such as color is for a row."""
        channel = self.encoding.get(name)
        if channel is None:
            return default
        field = channel["field"]
        given = self.constants[field] if field in self.constants else row[field]
        scale = channel.get("scale")
        return given if scale is None else scale["range"][scale["domain"].index(given)]

    def color(self, row: Row) -> str:
        """Of a row."""
        return str(self.look("color", row, self.mark.get("color", palette.INK)))

    def grouped(self, canvas: Canvas, row: Row) -> AbstractContextManager[None]:
        """What is drawn of a row leads to its link and says its text, where it has them."""
        text, link = (
            row[self.encoding[name]["field"]] if name in self.encoding else None
            for name in ("tooltip", "href")
        )
        return nullcontext() if text is None else canvas.grouped(text=text, link=link)

    def groups(self) -> Iterator[list[Row]]:
        """Rows that one line joins: those of one color."""
        field = self.encoding.get("color", {}).get("field")
        if field is None or field in self.constants:
            yield list(self.rows)
            return
        for value in dict.fromkeys(row[field] for row in self.rows):
            yield [row for row in self.rows if row[field] == value]

    def runs(self, rows: Sequence[Row], names: Sequence[str]) -> Iterator[list[list[float]]]:
        """Pixels of consecutive rows that have all of these channels."""
        places = np.column_stack([self._places(name, rows) for name in names])
        known = np.flatnonzero(~np.isnan(places).any(axis=1))
        for run in np.split(known, np.flatnonzero(np.diff(known) > 1) + 1):
            if len(run):
                yield places[run].tolist()

    def _places(self, name: str, rows: Sequence[Row]) -> FloatArray:
        """`place` of all rows; NaN where a row has none."""
        field = self.encoding.get(name, {}).get("field")
        scale = self.x if name.startswith("x") else self.y
        if field is None or scale is None:
            place = self.place(name, rows[0])
            return np.full(len(rows), np.nan if place is None else place)
        return scale.all_at([row[field] for row in rows])


def draw_marks(canvas: Canvas, layer: Layer) -> None:
    """Draw a layer.

    Raises
    ------
    KeyError
        If its mark is none of those that drawings know.
    """
    if layer.rows:
        with canvas.clipped(layer.width, layer.height, is_clipped=layer.mark.get("clip", False)):
            _DRAWN[layer.mark["type"]](canvas, layer)


def _line(canvas: Canvas, layer: Layer) -> None:
    for rows in layer.groups():
        mark = {**layer.mark}
        if "strokeDash" in layer.encoding:
            dash = layer.look("strokeDash", rows[0], None)
            mark |= {} if dash == [1, 0] else {"strokeDash": dash}
        how = attributes(mark, fill="none", stroke=layer.color(rows[0]))
        for run in layer.runs(rows, ("x", "y")):
            canvas.path(run, how, closed=False)  # type: ignore[arg-type]  # two of each


def _area(canvas: Canvas, layer: Layer) -> None:
    """Areas, each down to its other end or to zero, then their outlines."""
    outlined = layer.mark.get("line")
    outlines = []
    for rows in layer.groups():
        color = layer.color(rows[0])
        names = ("x", "y", "y2") if "y2" in layer.encoding else ("x", "y")
        for run in layer.runs(rows, names):
            upper = [(places[0], places[1]) for places in run]
            zero = 0.0 if layer.y is None else layer.y.at(0.0) if len(names) == 2 else 0.0
            lower = [(places[0], places[2] if len(places) == 3 else zero) for places in run]
            if len(run) == 1:
                upper, lower = ([(x - _THIN, y), (x + _THIN, y)] for ((x, y),) in (upper, lower))
            if layer.mark.get("interpolate") == "step-after":
                upper, lower = _steps(upper), _steps(lower)
            canvas.path([*upper, *reversed(lower)], attributes(layer.mark, fill=color), closed=True)
            outlines.append((upper, color))
    if outlined:
        for upper, color in outlines:
            canvas.path(upper, attributes(outlined, fill="none", stroke=color), closed=False)


def _steps(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Level up to the next point, and there up or down to it."""
    stepped = [points[0]]
    for x, y in points[1:]:
        stepped += [(x, stepped[-1][1]), (x, y)]
    return stepped


def _rule(canvas: Canvas, layer: Layer) -> None:
    for row in layer.rows:
        x, y = layer.place("x", row), layer.place("y", row)
        x2, y2 = layer.place("x2", row), layer.place("y2", row)
        if "x" not in layer.encoding:
            x, x2 = 0.0, layer.width
        elif "x2" not in layer.encoding:
            x2 = x
        if "y" not in layer.encoding:
            y, y2 = 0.0, layer.height
        elif "y2" not in layer.encoding:
            y2 = y
        if x is not None and y is not None and x2 is not None and y2 is not None:
            with layer.grouped(canvas, row):
                canvas.line(x, y, x2, y2, attributes(layer.mark, stroke=layer.color(row)))


def _point(canvas: Canvas, layer: Layer) -> None:
    for row in layer.rows:
        x, y = layer.place("x", row), layer.place("y", row)
        if x is None or y is None:
            continue
        how = attributes(layer.mark, fill=layer.color(row), stroke=layer.mark.get("stroke"))
        area = float(layer.look("size", row, layer.mark.get("size", 30)))
        shape = layer.look("shape", row, layer.mark.get("shape", "circle"))
        draw = canvas.diamond if shape == "diamond" else canvas.circle
        with layer.grouped(canvas, row):
            draw(x, y, area=area, how=how)


def _text(canvas: Canvas, layer: Layer) -> None:
    mark = layer.mark
    for row in layer.rows:
        x, y = layer.place("x", row), layer.place("y", row)
        if x is None or y is None:
            continue
        canvas.text(
            x + mark.get("dx", 0),
            y + mark.get("dy", 0),
            str(row[layer.encoding["text"]["field"]]),
            color=layer.color(row),
            align=mark.get("align", "center"),
            baseline=mark.get("baseline", "middle"),
            bold=mark.get("fontWeight") == "bold",
            how=attributes(mark, stroke=mark.get("stroke")),
        )


def _rectangle(canvas: Canvas, layer: Layer) -> None:
    for row in layer.rows:
        x, x2 = layer.place("x", row), layer.place("x2", row)
        y, y2 = layer.place("y", row), layer.place("y2", row)
        if "height" in layer.mark and layer.y is not None and y is not None:
            half = 0.5 * layer.mark["height"]["band"] * layer.y.step
            y, y2 = y - half, y + half
        how = attributes(layer.mark, fill=layer.color(row))
        with layer.grouped(canvas, row):
            canvas.rectangle(
                0.0 if x is None else x,
                0.0 if y is None else y,
                layer.width if x2 is None else x2,
                layer.height if y2 is None else y2,
                how,
            )


_DRAWN: Final[Mapping[str, Callable[[Canvas, Layer], None]]] = {
    "line": _line,
    "area": _area,
    "rule": _rule,
    "point": _point,
    "text": _text,
    "rect": _rectangle,
}
