"""A chart as SVG: panels beside and below each other, their titles and the legend."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from pumonitor.report import palette
from pumonitor.report.drawing.axes import draw_axis, draw_grid
from pumonitor.report.drawing.canvas import Canvas, attributes
from pumonitor.report.drawing.marks import Layer, draw_marks
from pumonitor.report.drawing.scales import Scale, scale_of
from pumonitor.report.drawing.text_width import text_width

_OFFSET, _HEIGHT, _GAP, _BETWEEN = 8, 14, 6, 14
_SYMBOL: Final = {"stroke": 20.0, "square": 12.0, "point": 13.0}
_AREA: Final = 140.0

FONT: Final = "Helvetica Neue, Arial, Liberation Sans, DejaVu Sans, sans-serif"
_PADDING: Final = 6
_TITLE_SIZE: Final = 13
_TITLE_OFFSET: Final = 5
_SPACING: Final = 20
_STEP: Final = 20


def draw(chart: Mapping[str, Any]) -> str:
    """An SVG document of a chart, in the light colours of `pumonitor.report.palette`.

    Parameters
    ----------
    chart : mapping
        A specification of Vega-Lite as `pumonitor.report.chart_parts` puts it together.

    Examples
    --------
    >>> svg = draw({"mark": {"type": "rule"}, "width": 90, "height": 40,
    ...             "data": {"values": [{"x": 0.5}]},
    ...             "encoding": {"x": {"field": "x", "type": "quantitative"}}})
    >>> svg.startswith("<svg") and svg.endswith("</svg>")
    True
    """
    canvas = _drawn(chart)
    draw_legend(canvas, list(_layers(chart)))
    width = math.ceil(canvas.right - canvas.left + 2 * _PADDING)
    height = math.ceil(canvas.bottom - canvas.top + 2 * _PADDING)
    x, y = math.ceil(_PADDING - canvas.left), math.ceil(_PADDING - canvas.top)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}">'
        f'<rect width="{width}" height="{height}" fill="{palette.BACKGROUND}"/>'
        f'<g transform="translate({x},{y})" font-family="{FONT}" font-size="12px" '
        f'stroke-miterlimit="10">{canvas}</g></svg>'
    )


def draw_on_page(
    chart: Mapping[str, Any],
    *,
    kind: str,
    title: str,
    identifier: str | None = None,
    role: str = "img",
) -> str:
    """An SVG element of a chart whose marks have styles, the looks being those of the page.

    Parameters
    ----------
    chart : mapping
        As in `draw`.
    kind : str
        Its class.
    title : str
        What is drawn, for readers who hear it.
    identifier : str, optional
        Unique on the page; with it the title is an element.
    role : {"img", "group"}
        A group is read out with what is in it, such as links.
    """
    canvas = _drawn(chart)
    left, top = math.floor(canvas.left - _PADDING), math.floor(canvas.top - _PADDING)
    width = math.ceil(canvas.right + _PADDING) - left
    height = math.ceil(canvas.bottom + _PADDING) - top
    named, element = f'aria-label="{escape(title)}"', ""
    if identifier is not None:
        of_title = f"{escape(identifier)}-title"
        named = f'aria-labelledby="{of_title}"'
        element = f'<title id="{of_title}">{escape(title, quote=False)}</title>'
    box = f"{left} {top} {width} {height}"
    return f'<svg class="{kind}" role="{role}" viewBox="{box}" {named}>{element}{canvas}</svg>'


def _layers(chart: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """All layers of all panels."""
    parts = [*chart.get("layer", ()), *chart.get("vconcat", ()), *chart.get("concat", ())]
    for one in parts:
        yield from _layers(one)
    if "mark" in chart:
        yield chart


def _drawn(chart: Mapping[str, Any]) -> Canvas:
    if "vconcat" in chart:
        canvas = _placed([[one] for one in chart["vconcat"]], chart.get("spacing", _SPACING))
    elif "concat" in chart:
        panels, columns = chart["concat"], chart.get("columns", 1)
        rows = [panels[begin : begin + columns] for begin in range(0, len(panels), columns)]
        canvas = _placed(rows, chart.get("spacing", _SPACING))
    else:
        canvas = _panel(chart)
    _title(canvas, chart.get("title"))
    return canvas


def _title(canvas: Canvas, title: str | Mapping[str, Any] | None) -> None:
    """Above all that is covered, from its left end, a subtitle below it."""
    if title is None:
        return
    how: Mapping[str, Any] = {"text": title} if isinstance(title, str) else title
    bold = how.get("fontWeight", "bold") == "bold"
    left, y = canvas.left, canvas.top - how.get("offset", _TITLE_OFFSET) - 0.2 * _TITLE_SIZE
    if "subtitle" in how:
        canvas.text(left, y, how["subtitle"], color=palette.MUTED)
        y -= 1.4 * _TITLE_SIZE
    canvas.text(left, y, how["text"], color=palette.INK, size=_TITLE_SIZE, bold=bold)


def _placed(rows: Sequence[Sequence[Mapping[str, Any]]], spacing: float) -> Canvas:
    """Panels in rows, the plotted areas of a column below each other."""
    drawn = [[_drawn(one) for one in row] for row in rows]
    columns = range(max(len(row) for row in drawn))
    whole, x_of, x = Canvas(), [], 0.0
    for column in columns:
        held = [row[column] for row in drawn if column < len(row)]
        x += -min(one.left for one in held) if column else 0.0
        x_of.append(x)
        x += max(one.right for one in held) + spacing
    y = 0.0
    for number, row in enumerate(drawn):
        y += -min(one.top for one in row) if number else 0.0
        for place, one in zip(x_of, row, strict=False):
            whole.put(one, place, y)
        y += max(one.bottom for one in row) + spacing
    return whole


def _panel(chart: Mapping[str, Any]) -> Canvas:
    """A plotted area with its layers, and its axes."""
    layers = chart.get("layer", [chart])
    x, y = _channels(layers, "x"), _channels(layers, "y")
    width = float(chart["width"])
    given = chart["height"]
    if isinstance(given, Mapping):
        height = float(given["step"] * len(y[0].get("sort") or ()))
    else:
        height = float(given)
    scales: dict[str, Scale | None] = {
        "x": _scale(layers, "x", x, length=width),
        "y": _scale(layers, "y", y, length=height),
    }
    canvas = Canvas(width, height)
    axes = {"x": _axis(x), "y": _axis(y)}
    for name, scale in scales.items():
        if scale is not None:
            across = height if name == "x" else width
            draw_grid(canvas, scale, axes[name], across=across, upright=name == "x")
    for name, scale in scales.items():
        if scale is not None:
            draw_axis(canvas, scale, axes[name], size=(width, height), below=name == "x")
    for layer in layers:
        draw_marks(
            canvas,
            Layer(
                mark=layer["mark"],
                encoding=layer["encoding"],
                rows=layer["data"]["values"],
                constants=_constants(layer),
                x=scales["x"],
                y=scales["y"],
                width=width,
                height=height,
            ),
        )
    return canvas


def _constants(layer: Mapping[str, Any]) -> dict[str, str]:
    """Columns that are added with one text for all rows."""
    return {one["as"]: one["calculate"].strip("'") for one in layer.get("transform", ())}


def _channels(layers: Sequence[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    """Those of an axis that layers have, without places that are given in pixels."""
    found = (layer["encoding"].get(name) for layer in layers)
    return [one for one in found if one is not None and "value" not in one]


def _axis(channels: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the channels say of their axis."""
    axis: dict[str, Any] = {}
    for channel in channels:
        axis = {**channel.get("axis", {}), **axis}
    return axis


def _scale(
    layers: Sequence[Mapping[str, Any]],
    name: str,
    channels: Sequence[Mapping[str, Any]],
    *,
    length: float,
) -> Scale | None:
    if not channels:
        return None
    return scale_of(channels, _values(layers, name), length=length, upward=name == "y")


def _values(layers: Sequence[Mapping[str, Any]], name: str) -> Iterator[Any]:
    """All that layers have of an axis, its second ends with it."""
    for layer in layers:
        for channel in (name, f"{name}2"):
            field = layer["encoding"].get(channel, {}).get("field")
            if field is not None:
                for row in layer["data"]["values"]:
                    yield row[field]


def draw_legend(canvas: Canvas, layers: Sequence[Mapping[str, Any]]) -> None:
    """Draw it above all that is covered; nothing where no layer's colour is explained."""
    layer = next((one for one in layers if _explains(one)), None)
    if layer is None:
        return
    encoding = layer["encoding"]
    legend, scale = encoding["color"].get("legend", {}), encoding["color"]["scale"]
    kind = legend.get("symbolType", "point")
    x, y = 0.0, canvas.top - _OFFSET - 0.5 * _HEIGHT
    for name, color in zip(scale["domain"], scale["range"], strict=True):
        _symbol(canvas, x, y, kind=kind, color=color, name=name, encoding=encoding)
        x += _SYMBOL[kind] + _GAP
        canvas.text(x, y, name, color=palette.INK, baseline="middle")
        x += text_width(name) + _BETWEEN


def _explains(layer: Mapping[str, Any]) -> bool:
    color = layer["encoding"].get("color", {})
    return "scale" in color and color.get("legend", {}) is not None


def _symbol(
    canvas: Canvas,
    x: float,
    y: float,
    *,
    kind: str,
    color: str,
    name: str,
    encoding: Mapping[str, Any],
) -> None:
    size = _SYMBOL[kind]

    def of(channel: str) -> Any:
        scale = encoding.get(channel, {}).get("scale")
        return None if scale is None else scale["range"][scale["domain"].index(name)]

    if kind == "stroke":
        dash = of("strokeDash")
        mark = {"strokeWidth": 2.5} | ({} if dash in (None, [1, 0]) else {"strokeDash": dash})
        canvas.line(x, y, x + size, y, attributes(mark, stroke=color))
    elif kind == "square":
        reach = 0.5 * size
        canvas.rectangle(x, y - reach, x + size, y + reach, attributes({}, fill=color))
    else:
        draw = canvas.diamond if of("shape") == "diamond" else canvas.circle
        draw(x + 0.5 * size, y, area=_AREA, how=attributes({}, fill=color))
