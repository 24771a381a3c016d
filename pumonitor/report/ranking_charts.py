"""ROC, precision-recall and lift: what the ranking alone makes possible, at every threshold."""

from __future__ import annotations

import math
from typing import Any

from pumonitor.report import palette
from pumonitor.report.chart_parts import Spec, field, layer, layered
from pumonitor.report.curve_chart import band_and_lines
from pumonitor.results import Curve, Evaluation
from pumonitor.text import given_text

_WIDTH, _HEIGHT = 330, 300

Point = tuple[float, float]


def roc_chart(evaluation: Evaluation) -> Spec:
    """Recall against the false positive rate, chance as a dotted diagonal."""
    return _square(
        evaluation,
        evaluation.curves["roc"],
        x_title="Share of real negatives flagged",
        y_title="Share of real positives flagged",
        chance=((0.0, 0.0), (1.0, 1.0)),
        here=_operating_point(evaluation, "specificity", "recall", complement=True),
    )


def precision_recall_chart(evaluation: Evaluation) -> Spec:
    """Precision against recall, chance (the share of positives) as a dotted line."""
    prior = min(max(evaluation.class_prior.value, 0.0), 1.0)
    return _square(
        evaluation,
        evaluation.curves["precision_recall"],
        x_title="Share of real positives flagged (recall)",
        y_title="Share of flagged really positive (precision)",
        chance=((0.0, prior), (1.0, prior)),
        here=_operating_point(evaluation, "recall", "precision"),
        label_above=True,
    )


def lift_chart(evaluation: Evaluation) -> Spec:
    """Share of positives found against the share of cases flagged, chance as a diagonal."""
    return _square(
        evaluation,
        evaluation.curves["lift"],
        x_title="Share of all cases flagged, highest scores first",
        y_title="Share of real positives flagged",
        chance=((0.0, 0.0), (1.0, 1.0)),
        here=_operating_point(evaluation, "predicted_positive_rate", "recall"),
    )


def _operating_point(
    evaluation: Evaluation, x_name: str, y_name: str, *, complement: bool = False
) -> Point | None:
    x, y = evaluation[x_name], evaluation[y_name]
    if not (math.isfinite(x.value) and math.isfinite(y.value)):
        return None
    horizontal = x.displayed[0]
    return (1 - horizontal if complement else horizontal, y.displayed[0])


def _square(
    evaluation: Evaluation,
    curve: Curve,
    *,
    x_title: str,
    y_title: str,
    chance: tuple[Point, Point],
    here: Point | None,
    label_above: bool = False,
) -> Spec:
    unit = {"domain": [0, 1], "nice": False}
    axis = {"format": ".0%", "tickCount": 5}
    x = field("x", scale=unit, axis={**axis, "title": x_title, "labelFlush": False})
    y = field("y", scale=unit, axis={**axis, "title": y_title})
    guess = layer(
        [{"x": along, "y": up} for along, up in chance],
        "line",
        look={"color": palette.MUTED, "strokeDash": [2, 3], "strokeWidth": 1.25},
        x=x,
        y=y,
    )
    layers = [guess, *band_and_lines(curve, x=x, y=y)]
    if here is not None:
        threshold = given_text(evaluation.settings["threshold"])
        layers += _marked(here, threshold, label_above=label_above)
    return layered(*layers, width=_WIDTH, height=_HEIGHT)


def _marked(here: Point, threshold: str, *, label_above: bool) -> list[Spec]:
    """A dot at the chosen threshold with its value beside it, kept inside the picture."""
    at_right = here[0] > 0.8
    above = here[1] < 0.08 or (label_above and here[1] < 0.92)
    rows = [{"x": here[0], "y": here[1], "label": f"at {threshold}"}]
    place: Spec = {"x": field("x"), "y": field("y")}
    words: Spec = {"text": field("label", "nominal")}
    dot = {
        "filled": True,
        "size": 80,
        "color": palette.INK,
        "opacity": 1,
        "stroke": palette.BACKGROUND,
    }
    label: dict[str, Any] = {
        "align": "right" if at_right else "left",
        "baseline": "bottom" if above else "top",
        "dx": -9 if at_right else 9,
        "dy": -5 if above else 5,
        "fontWeight": "bold",
        "color": palette.INK,
    }
    # Drawn twice: a halo in the background's colour keeps it readable across lines.
    halo = {
        **label,
        "stroke": palette.BACKGROUND,
        "strokeWidth": 4,
        "strokeJoin": "round",
        "opacity": 0.85,
    }
    return [
        layer(rows, "text", look=halo, **place, **words),
        layer(rows, "point", look=dot, **place),
        layer(rows, "text", look=label, **place, **words),
    ]
