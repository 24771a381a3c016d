"""Scores of confirmed against unconfirmed cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pumonitor.report import palette
from pumonitor.report.chart_data import csv_data
from pumonitor.report.theme import layered
from pumonitor.results import Evaluation

if TYPE_CHECKING:
    import altair

__all__ = ["score_chart"]

_CONFIRMED: Final = "Confirmed positives"
_UNCONFIRMED: Final = "Unconfirmed cases"
_WIDTH, _HEIGHT = 330, 300


def score_chart(evaluation: Evaluation) -> altair.LayerChart:
    """Histogram of the scores, each group's bars adding to 100%, and the chosen threshold."""
    import altair as alt

    edges = evaluation.scores["edges"]
    threshold = float(evaluation.settings["threshold"])
    low, high = min(float(edges[0]), threshold), max(float(edges[-1]), threshold)
    x_scale = alt.Scale(domain=[low, high], nice=False)
    color = alt.Color(
        "group:N",
        scale=alt.Scale(
            domain=[_CONFIRMED, _UNCONFIRMED], range=[palette.CORRECTED, palette.MUTED]
        ),
        legend=alt.Legend(symbolType="square", symbolStrokeWidth=0),
    )
    steps = (
        alt.Chart(csv_data(_outlines(evaluation)))
        .mark_area(interpolate="step-after", fillOpacity=0.28, line={"strokeWidth": 1.75})
        .encode(
            x=alt.X("x:Q", scale=x_scale, axis=alt.Axis(title="Score", grid=False, tickCount=6)),
            y=alt.Y(
                "share:Q",
                stack=None,
                axis=alt.Axis(title="Share of the group's cases", format=".0%", tickCount=5),
            ),
            color=color,
        )
    )
    at_right = threshold > low + 0.75 * (high - low)
    return layered(steps, *_threshold_line(threshold, x_scale, at_right=at_right)).properties(
        width=_WIDTH, height=_HEIGHT
    )


def _outlines(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Edges of the bins with the share of each group's cases."""
    return [
        {"x": float(edge), "share": float(share), "group": group}
        for group, key in ((_UNCONFIRMED, "unlabeled"), (_CONFIRMED, "labeled"))
        # The last share stands at both edges of its bin, which closes the outline.
        for edge, share in zip(
            evaluation.scores["edges"],
            [*evaluation.scores[key], evaluation.scores[key][-1]],
            strict=True,
        )
    ]


def _threshold_line(
    threshold: float, x_scale: altair.Scale, *, at_right: bool
) -> tuple[altair.Chart, altair.Chart]:
    """The chosen threshold: a line, and its number on the side where there is room."""
    import altair as alt

    here = alt.Chart(alt.InlineData(values=[{"x": threshold, "label": f"at {threshold:.4g}"}]))
    rule = here.mark_rule(color=palette.INK, strokeDash=[3, 3], strokeWidth=1.25).encode(
        x=alt.X("x:Q", scale=x_scale)
    )
    label = here.mark_text(
        align="right" if at_right else "left",
        dx=-5 if at_right else 5,
        dy=6,
        fontWeight="bold",
        color=palette.INK,
        baseline="top",
    ).encode(x=alt.X("x:Q", scale=x_scale), y=alt.value(0), text=alt.Text("label:N"))
    return rule, label
