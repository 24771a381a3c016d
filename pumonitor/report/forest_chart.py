"""All estimates with their intervals, and the uncorrected numbers beside them."""

from __future__ import annotations

from typing import Any

from pumonitor.names import AT_THRESHOLD
from pumonitor.report import palette
from pumonitor.report.chart_parts import (
    Spec,
    field,
    layer,
    layered,
    second,
    source_scale,
)
from pumonitor.report.theme import CORRECTED_NAME, UNCORRECTED_NAME
from pumonitor.results import Evaluation
from pumonitor.text import marked, number_text, with_interval
from pumonitor.views.estimates import EstimateView, estimate_views

_OWN_AXIS = "On their own scale"
_PANELS = {
    "At the chosen threshold": tuple(
        name for name in AT_THRESHOLD if name not in ("predicted_positive_rate", "ll_score")
    ),
    "Ranking": ("auc", "aul", "average_precision"),
    "Class prior and labels": (
        "class_prior",
        "unlabeled_prior",
        "label_frequency",
        "predicted_positive_rate",
    ),
    "At the best threshold": ("f1_max", "mcc_max", "balanced_accuracy_max", "accuracy_max"),
    "In the highest scores": ("precision_at_k", "recall_at_k"),
    _OWN_AXIS: ("lift_at_k", "ll_score"),
}
_WIDTH, _STEP, _LABEL = 150, 21, 138


def forest_rows(evaluation: Evaluation, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """What each line of the picture shows, plain numbers and words; None where there is none."""
    views = estimate_views(evaluation)
    return [_row(views[name]) for name in names if name in views]


def _row(view: EstimateView) -> dict[str, Any]:
    text = "no value"
    if view.value is not None:
        text = marked(with_interval(view.value, view.low, view.high), view.note)
    if view.came_out is not None:
        text = f"came out at {number_text(view.came_out)}"
    return {
        "metric": view.title,
        "naive": view.uncorrected,
        "value": view.value,
        "low": view.low,
        "high": view.high,
        "text": text,
    }


def forest_chart(evaluation: Evaluation) -> Spec:
    """Dots with intervals by group, uncorrected numbers as orange diamonds, values at the right."""
    panels = []
    for heading, names in _PANELS.items():
        rows = forest_rows(evaluation, names)
        if rows:
            panels.append(_panel(heading, rows, own_axis=heading == _OWN_AXIS))
    apart = {"scale": {"x": "independent", "color": "shared"}}
    return {"vconcat": panels, "spacing": 14, "resolve": apart}


def _panel(heading: str, rows: list[dict[str, Any]], *, own_axis: bool) -> Spec:
    numbers = [row[key] for row in rows for key in ("low", "high", "naive") if row[key] is not None]
    lowest = min([0.0, *numbers])
    highest = max([1.0, *numbers]) if own_axis else 1.0
    how: Spec = {
        "scale": {"domain": [lowest, highest], "nice": own_axis},
        "axis": {"title": None, "tickCount": 4, "labelFlush": False},
    }
    y = field(
        "metric",
        "nominal",
        # In the order given: lines without a value would otherwise go last.
        sort=[row["metric"] for row in rows],
        axis={
            "title": None,
            "ticks": False,
            "domain": False,
            "minExtent": _LABEL,
            "maxExtent": _LABEL,
            "labelLimit": _LABEL,
            "labelColor": palette.INK,
            "labelPadding": 8,
        },
    )
    interval = layer(
        rows,
        "rule",
        look={"strokeWidth": 2.5, "color": palette.CORRECTED, "opacity": 0.55},
        x=field("low", **how),
        x2=second("high"),
        y=y,
    )
    text = layer(
        rows,
        "text",
        look={"align": "left", "baseline": "middle"},
        x={"value": _WIDTH + 14},
        y=y,
        text=field("text", "nominal"),
    )
    return layered(
        interval,
        _marks(rows, "naive", UNCORRECTED_NAME, y=y, how=how),
        _marks(rows, "value", CORRECTED_NAME, y=y, how=how),
        text,
        width=_WIDTH,
        height={"step": _STEP},
        title=heading,
    )


def _marks(rows: list[dict[str, Any]], name: str, source: str, *, y: Spec, how: Spec) -> Spec:
    colors = source_scale([palette.CORRECTED, palette.UNCORRECTED])
    return layer(
        rows,
        "point",
        look={"filled": True, "size": 62, "opacity": 1},
        x=field(name, **how),
        y=y,
        source=source,
        color=field("source", "nominal", scale=colors),
        shape=field("source", "nominal", scale=source_scale(["circle", "diamond"])),
    )
