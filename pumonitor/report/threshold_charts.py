"""What would happen at another threshold: one small panel for each metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from pumonitor.names import AT_THRESHOLD, SHARES, title
from pumonitor.report import palette
from pumonitor.report.curve_chart import band_and_lines
from pumonitor.report.theme import layered
from pumonitor.results import Curve, Evaluation

if TYPE_CHECKING:
    import altair

__all__ = ["threshold_chart", "threshold_panels"]

_FIRST = (
    "precision",
    "recall",
    "f1",
    "f_beta",
    "predicted_positive_rate",
    "mcc",
    "specificity",
    "balanced_accuracy",
    "accuracy",
)
_METRICS = dict.fromkeys((*_FIRST, *AT_THRESHOLD))

_WIDTH, _HEIGHT, _LABELS, _COLUMNS = 150, 110, 36, 3


def threshold_panels(
    evaluation: Evaluation, *, with_legend: bool = True
) -> dict[str, altair.LayerChart]:
    """One panel for each threshold metric that has a curve, by metric name."""
    panels = {}
    for name in _METRICS:
        curve = evaluation.curves.get(f"{name}_by_threshold")
        if curve is not None and np.isfinite(curve.y).any():
            panels[name] = _panel(evaluation, name, curve, with_legend=with_legend)
    return panels


def threshold_chart(evaluation: Evaluation) -> altair.ConcatChart:
    """All panels in one picture."""
    import altair as alt

    panels = threshold_panels(evaluation).values()
    chart = alt.concat(*panels, columns=_COLUMNS, spacing=18)
    return cast("altair.ConcatChart", chart.resolve_scale(x="shared", color="shared"))


def _panel(
    evaluation: Evaluation, name: str, curve: Curve, *, with_legend: bool
) -> altair.LayerChart:
    import altair as alt

    threshold = float(evaluation.settings["threshold"])
    known = curve.x[np.isfinite(curve.x)]
    domain = [min(float(known.min()), threshold), max(float(known.max()), threshold)]
    x_axis = alt.Axis(title="Threshold", tickCount=4, grid=False, titlePadding=4)
    x = alt.X("x:Q", scale=alt.Scale(domain=domain, nice=False), axis=x_axis)
    # MCC can be negative; its panel starts at 0 unless the curve goes below.
    shown = np.concatenate([curve.y, curve.low])[np.tile(np.isfinite(curve.y), 2)]
    lowest = min(0.0, float(np.nanmin(shown)))
    y_scale = alt.Scale(domain=[lowest, 1], nice=False)
    y_axis = alt.Axis(
        title=None,
        tickCount=3,
        format=".0%" if name in SHARES else ".1f",
        minExtent=_LABELS,
        maxExtent=_LABELS,
    )
    rule = (
        alt.Chart(alt.InlineData(values=[{"x": threshold}]))
        .mark_rule(color=palette.INK, strokeDash=[3, 3], strokeWidth=1.25)
        .encode(x=x)
    )
    lines = band_and_lines(curve, x=x, y_scale=y_scale, y_axis=y_axis, with_legend=with_legend)
    return layered(*lines, rule).properties(
        width=_WIDTH, height=_HEIGHT, title=alt.TitleParams(title(name, evaluation.settings))
    )
