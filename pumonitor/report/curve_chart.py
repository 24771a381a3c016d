"""A curve with its band, and the uncorrected curve dashed beside it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pumonitor.report import palette
from pumonitor.report.chart_parts import Spec, by_source, layer, second
from pumonitor.report.theme import CORRECTED_NAME, UNCORRECTED_NAME
from pumonitor.results import Curve

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
    names = ("x", "y", "low", "high", "uncorrected")
    columns = (
        map(_finite, column[kept].tolist()) for column in (curve.x, curve.y, low, high, naive)
    )
    return [dict(zip(names, point, strict=True)) for point in zip(*columns, strict=True)]


def _finite(value: float) -> float | None:
    # Six digits are a hundredth of a pixel and keep the page small.
    return float(f"{value:.6g}") if math.isfinite(value) else None


def band_and_lines(curve: Curve, *, x: Spec, y: Spec, with_legend: bool = True) -> list[Spec]:
    """The layers of a curve: band, corrected line, uncorrected line (dashed).

    `x` and `y` say what the axes look like; the columns are those of `points_of`.
    """
    rows = points_of(curve)

    def along(name: str) -> Spec:
        return {"x": {**x, "field": "x"}, "y": {**y, "field": name}}

    def line(name: str, source: str) -> Spec:
        encoding = {**along(name), **by_source(with_legend=with_legend)}
        return layer(rows, "line", look={"strokeWidth": 2.25}, source=source, **encoding)

    band = layer(
        rows,
        "area",
        look={"color": palette.CORRECTED, "opacity": 0.18},
        **along("low"),
        y2=second("high"),
    )
    layers = [band, line("y", CORRECTED_NAME)]
    if curve.uncorrected is not None:
        # Dashes on top: where both curves agree, both are seen.
        layers.append(line("uncorrected", UNCORRECTED_NAME))
    return layers
