"""A curve with its band, and the uncorrected curve dashed beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from pumonitor.report import palette
from pumonitor.report.chart_data import csv_data
from pumonitor.report.theme import CORRECTED_NAME, UNCORRECTED_NAME
from pumonitor.results import Curve

if TYPE_CHECKING:
    import altair

__all__ = ["band_and_lines", "points_of", "source_encoding"]

_MOST_POINTS = 160


def points_of(curve: Curve) -> list[dict[str, Any]]:
    """The curve's points as plain numbers; a coordinate without a value is None, never NaN.

    More points than a picture can show are thinned evenly, ends kept.
    """
    size = len(curve.x)
    kept = np.unique(np.linspace(0, size - 1, min(size, _MOST_POINTS)).round().astype(np.intp))
    naive = np.full(size, np.nan) if curve.uncorrected is None else curve.uncorrected
    # A band around nothing would be drawn as a wedge to the next point.
    low, high = (np.where(np.isfinite(curve.y), end, np.nan) for end in (curve.low, curve.high))
    columns = (curve.x, curve.y, low, high, naive)
    names = ("x", "y", "low", "high", "uncorrected")
    return [
        {name: _finite(column, index) for name, column in zip(names, columns, strict=True)}
        for index in kept.tolist()
    ]


def _finite(column: NDArray[np.float64], index: int) -> float | None:
    value = float(column[index])
    # Six digits are a hundredth of a pixel and keep the page small.
    return float(f"{value:.6g}") if math.isfinite(value) else None


def source_encoding(*, with_legend: bool = True) -> dict[str, Any]:
    """Colour and dash by source, corrected or uncorrected, with one legend for both."""
    import altair as alt

    names = [CORRECTED_NAME, UNCORRECTED_NAME]
    legend = alt.Legend(symbolType="stroke", symbolSize=400) if with_legend else None
    return {
        "color": alt.Color(
            "source:N",
            scale=alt.Scale(domain=names, range=[palette.CORRECTED, palette.UNCORRECTED]),
            legend=legend,
        ),
        "strokeDash": alt.StrokeDash(
            "source:N", scale=alt.Scale(domain=names, range=[[1, 0], [6, 4]]), legend=legend
        ),
    }


def band_and_lines(
    curve: Curve,
    *,
    x: altair.X,
    y_scale: altair.Scale,
    y_axis: altair.Axis,
    with_legend: bool = True,
) -> list[altair.Chart]:
    """The layers of a curve: band, corrected line, uncorrected line (dashed).

    `x`, `y_scale` and `y_axis` describe the axes; the fields are those of `points_of`.
    """
    import altair as alt

    base = alt.Chart(csv_data(points_of(curve))).encode(x=x)

    def line(field: str, source: str) -> altair.Chart:
        drawn = (
            base.transform_calculate(source=f"'{source}'")
            .mark_line(strokeWidth=2.25)
            .encode(
                y=alt.Y(f"{field}:Q", scale=y_scale, axis=y_axis),
                **source_encoding(with_legend=with_legend),
            )
        )
        return cast("altair.Chart", drawn)

    band = base.mark_area(color=palette.CORRECTED, opacity=0.18).encode(
        y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2=alt.Y2("high:Q")
    )
    layers = [band, line("y", CORRECTED_NAME)]
    if curve.uncorrected is not None:
        # Dashes on top: where both curves agree, both are seen.
        layers.append(line("uncorrected", UNCORRECTED_NAME))
    return layers
