"""ROC, precision-recall and lift: what the ranking alone makes possible, at every threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pumonitor.report import palette
from pumonitor.report.curve_chart import band_and_lines
from pumonitor.report.theme import layered
from pumonitor.results import Curve, Evaluation

if TYPE_CHECKING:
    import altair

__all__ = ["lift_chart", "precision_recall_chart", "roc_chart"]

_WIDTH, _HEIGHT = 330, 300

Point = tuple[float, float]


def roc_chart(evaluation: Evaluation) -> altair.LayerChart:
    """Recall against the false positive rate, chance as a dotted diagonal."""
    return _square(
        evaluation,
        evaluation.curves["roc"],
        x_title="Share of real negatives flagged",
        y_title="Share of real positives flagged",
        chance=((0.0, 0.0), (1.0, 1.0)),
        here=_operating_point(evaluation, "specificity", "recall", complement=True),
    )


def precision_recall_chart(evaluation: Evaluation) -> altair.LayerChart:
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


def lift_chart(evaluation: Evaluation) -> altair.LayerChart:
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
) -> altair.LayerChart:
    import altair as alt

    unit = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X(
        "x:Q", scale=unit, axis=alt.Axis(format=".0%", tickCount=5, title=x_title, labelFlush=False)
    )
    y_axis = alt.Axis(format=".0%", tickCount=5, title=y_title)
    guess = (
        alt.Chart(alt.InlineData(values=[{"x": x, "y": y} for x, y in chance]))
        .mark_line(color=palette.MUTED, strokeDash=[2, 3], strokeWidth=1.25)
        .encode(x=x, y=alt.Y("y:Q", scale=unit, axis=y_axis))
    )
    layers = [guess, *band_and_lines(curve, x=x, y_scale=unit, y_axis=y_axis)]
    if here is not None:
        threshold = f"{evaluation.settings['threshold']:.4g}"
        layers += _marked(here, threshold, label_above=label_above)
    return layered(*layers).properties(width=_WIDTH, height=_HEIGHT)


def _marked(here: Point, threshold: str, *, label_above: bool) -> list[altair.Chart]:
    """A dot at the chosen threshold with its value beside it, kept inside the picture."""
    import altair as alt

    at_right = here[0] > 0.8
    above = here[1] < 0.08 or (label_above and here[1] < 0.92)
    data = alt.InlineData(values=[{"x": here[0], "y": here[1], "label": f"at {threshold}"}])
    base = alt.Chart(data).encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))
    dot = base.mark_point(
        filled=True, size=80, color=palette.INK, opacity=1, stroke=palette.BACKGROUND
    )
    place: dict[str, Any] = {
        "align": "right" if at_right else "left",
        "baseline": "bottom" if above else "top",
        "dx": -9 if at_right else 9,
        "dy": -5 if above else 5,
        "fontWeight": "bold",
    }
    # Drawn twice: a halo in the background's colour keeps it readable across lines.
    halo = base.mark_text(
        **place, stroke=palette.BACKGROUND, strokeWidth=4, strokeJoin="round", opacity=0.85
    )
    label = base.mark_text(**place, color=palette.INK)
    return [halo.encode(text=alt.Text("label:N")), dot, label.encode(text=alt.Text("label:N"))]
