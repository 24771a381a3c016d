"""What would happen at another threshold: one small panel for each metric."""

from __future__ import annotations

import numpy as np

from pumonitor.names import AT_THRESHOLD, SHARES, title
from pumonitor.report.chart_parts import MARKED, Spec, field, layer, layered
from pumonitor.report.curve_chart import band_and_lines
from pumonitor.results import Curve, Evaluation

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


def threshold_panels(evaluation: Evaluation, *, with_legend: bool = True) -> dict[str, Spec]:
    """One panel for each threshold metric that has a curve, by metric name."""
    panels = {}
    for name in _METRICS:
        curve = evaluation.curves.get(f"{name}_by_threshold")
        if curve is not None and np.isfinite(curve.y).any():
            panels[name] = _panel(evaluation, name, curve, with_legend=with_legend)
    return panels


def threshold_chart(evaluation: Evaluation) -> Spec:
    """All panels in one picture."""
    panels = threshold_panels(evaluation).values()
    shared = {"scale": {"x": "shared", "color": "shared"}}
    return {"concat": list(panels), "columns": _COLUMNS, "spacing": 18, "resolve": shared}


def _panel(evaluation: Evaluation, name: str, curve: Curve, *, with_legend: bool) -> Spec:
    threshold = float(evaluation.settings["threshold"])
    known = curve.x[np.isfinite(curve.x)]
    domain = [min(float(known.min()), threshold), max(float(known.max()), threshold)]
    x = field(
        "x",
        scale={"domain": domain, "nice": False},
        axis={"title": "Threshold", "tickCount": 4, "grid": False, "titlePadding": 4},
    )
    # MCC can be negative; its panel starts at 0 unless the curve goes below.
    shown = np.concatenate([curve.y, curve.low])[np.tile(np.isfinite(curve.y), 2)]
    lowest = min(0.0, float(np.nanmin(shown)))
    y = field(
        "y",
        scale={"domain": [lowest, 1], "nice": False},
        axis={
            "title": None,
            "tickCount": 3,
            "format": ".0%" if name in SHARES else ".1f",
            "minExtent": _LABELS,
            "maxExtent": _LABELS,
        },
    )
    return layered(
        *band_and_lines(curve, x=x, y=y, with_legend=with_legend),
        layer([{"x": threshold}], "rule", look=MARKED, x=x),
        width=_WIDTH,
        height=_HEIGHT,
        title=title(name, evaluation.settings),
    )
