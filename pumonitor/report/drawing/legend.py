"""The legend above a chart: what its colours stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pumonitor.report import palette
from pumonitor.report.drawing.canvas import Canvas, attributes
from pumonitor.report.drawing.text_width import text_width

_OFFSET, _HEIGHT, _GAP, _BETWEEN = 8, 14, 6, 14
_SYMBOL: Final = {"stroke": 20.0, "square": 12.0, "point": 13.0}
_AREA: Final = 140.0


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
