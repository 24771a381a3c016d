"""The look all charts share, and their drawing without a browser."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from functools import lru_cache
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


def unchecked() -> AbstractContextManager[None]:
    """Context in which Altair does not check each part of a chart against the whole schema.

    That takes longer than all else; tests check what is drawn.
    """
    from altair.utils.schemapi import debug_mode

    return debug_mode(False)  # noqa: FBT003 (Altair's signature)


def layered(*charts: altair.Chart) -> altair.LayerChart:
    """`altair.layer` of charts whose marks and channels are dictionaries of what is set.

    Altair copies a chart several times wherever it becomes part of another, with every property
    that a mark, an axis or a scale can have: of those of its classes nearly all are not set.
    """
    import altair as alt

    return cast("altair.LayerChart", alt.layer(*(_plain(chart) for chart in charts)))


def _plain(chart: altair.Chart) -> altair.Chart:
    plain: Any = chart.copy(deep=False)
    plain.mark = plain.mark.to_dict(validate=False)
    plain.encoding = plain.encoding.copy(deep=False)
    for name, channel in plain.encoding.to_dict(validate=False).items():
        plain.encoding[name] = channel
    return cast("altair.Chart", plain)


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

    Charts of a report are specifications, drawn here. One of Altair is drawn by Vega.
    """
    if isinstance(chart, dict):
        return draw(chart)
    return _drawn_by_vega(json.dumps(chart.to_dict(validate=False)))


@lru_cache(maxsize=32)
def _drawn_by_vega(spec: str) -> str:
    """The drawing of a chart of Altair. A page and the pictures beside it have the same ones."""
    import vl_convert

    # From text it reads some numbers an ulp off.
    return str(vl_convert.vegalite_to_svg(json.loads(spec), allowed_base_urls=[]))
