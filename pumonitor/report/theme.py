"""The look all charts share, and their drawing without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from pumonitor.report import palette
from pumonitor.report.drawing.panels import FONT, draw

if TYPE_CHECKING:
    import altair

    Chart = altair.LayerChart | altair.VConcatChart | altair.ConcatChart
    Drawable = dict[str, Any] | altair.TopLevelMixin

CORRECTED_NAME: Final = "Corrected"
UNCORRECTED_NAME: Final = "Unconfirmed counted as negative"

CONFIG: Final[dict[str, Any]] = {
    "font": FONT,
    "background": palette.BACKGROUND,
    # The page names each chart once; a label on every mark would be read out hundreds of times.
    "aria": False,
    "padding": 6,
    "view": {"stroke": None},
    "axis": {
        "domainColor": palette.AXIS,
        "tickColor": palette.AXIS,
        "gridColor": palette.GRID,
        "labelColor": palette.MUTED,
        "titleColor": palette.INK,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "tickSize": 4,
    },
    "legend": {
        "labelColor": palette.INK,
        "labelFontSize": 12,
        "orient": "top",
        "symbolStrokeWidth": 2.5,
        "symbolSize": 140,
        "labelLimit": 300,
        "title": None,
        "padding": 0,
        "offset": 8,
    },
    "title": {
        "color": palette.INK,
        "subtitleColor": palette.MUTED,
        "fontSize": 13,
        "fontWeight": "bold",
        "subtitleFontSize": 12,
        "anchor": "start",
    },
    "header": {"labelColor": palette.INK, "labelFontSize": 13},
    "text": {"color": palette.INK, "fontSize": 12},
}


def themed(chart: Chart) -> Chart:
    """The chart with the look of all charts; only for a whole chart, not for a part of one."""
    return cast("Chart", chart.configure(**CONFIG))


def to_png(chart: Drawable, *, scale: float = 2.0) -> bytes:
    """The chart as a PNG picture, `scale` pixels for each of its points.

    Raises
    ------
    ValueError
        Unless scale > 0.
    """
    import vl_convert

    if not scale > 0:
        msg = f"scale must satisfy scale > 0, got {scale:g}"
        raise ValueError(msg)
    return bytes(vl_convert.svg_to_png(to_svg(chart), scale=scale))


def to_svg(chart: Drawable) -> str:
    """The chart as an SVG document, drawn in the light colours of `pumonitor.report.palette`.

    Charts of this package are specifications, drawn here. One of Altair is drawn by Vega.
    """
    if isinstance(chart, dict):
        return draw(chart)
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart.to_dict(validate=False), allowed_base_urls=[]))
