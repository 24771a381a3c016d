"""Scores of confirmed against unconfirmed cases."""

from __future__ import annotations

from typing import Any, Final

from pumonitor.report import palette
from pumonitor.report.chart_parts import MARKED, Spec, field, layer, layered
from pumonitor.results import Evaluation
from pumonitor.text import given_text

_CONFIRMED: Final = "Confirmed positives"
_UNCONFIRMED: Final = "Unconfirmed cases"
_WIDTH, _HEIGHT = 330, 300


def score_chart(evaluation: Evaluation) -> Spec:
    """Histogram of the scores, each group's bars adding to 100%, and the chosen threshold."""
    edges = evaluation.scores["edges"]
    threshold = float(evaluation.settings["threshold"])
    low, high = min(float(edges[0]), threshold), max(float(edges[-1]), threshold)
    scale = {"domain": [low, high], "nice": False}
    steps = layer(
        _outlines(evaluation),
        "area",
        look={"interpolate": "step-after", "fillOpacity": 0.28, "line": {"strokeWidth": 1.75}},
        x=field("x", scale=scale, axis={"title": "Score", "grid": False, "tickCount": 6}),
        y=field(
            "share",
            stack=None,
            axis={"title": "Share of the group's cases", "format": ".0%", "tickCount": 5},
        ),
        color=field(
            "group",
            "nominal",
            scale={
                "domain": [_CONFIRMED, _UNCONFIRMED],
                "range": [palette.CORRECTED, palette.MUTED],
            },
            legend={"symbolType": "square", "symbolStrokeWidth": 0},
        ),
    )
    at_right = threshold > low + 0.75 * (high - low)
    marked = _threshold_line(threshold, scale, at_right=at_right)
    return layered(steps, *marked, width=_WIDTH, height=_HEIGHT)


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


def _threshold_line(threshold: float, scale: Spec, *, at_right: bool) -> tuple[Spec, Spec]:
    """The chosen threshold: a line, and its number on the side where there is room."""
    rows = [{"x": threshold, "label": f"at {given_text(threshold)}"}]
    x = field("x", scale=scale)
    look = {
        "align": "right" if at_right else "left",
        "dx": -5 if at_right else 5,
        "dy": 6,
        "fontWeight": "bold",
        "color": palette.INK,
        "baseline": "top",
    }
    words = layer(rows, "text", look=look, x=x, y={"value": 0}, text=field("label", "nominal"))
    return layer(rows, "rule", look=MARKED, x=x), words
