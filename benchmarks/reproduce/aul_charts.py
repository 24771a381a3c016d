"""Pictures of the AUL paper: blue is the truth or AUL, orange the labels alone or AUC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from pumonitor.report import palette

if TYPE_CHECKING:
    import altair

__all__ = ["boxes", "curves", "settings"]

_COLORS: Final = (palette.CORRECTED, palette.UNCORRECTED)

Series = Mapping[str, Any]


def curves(series: Series) -> altair.HConcatChart:
    """ROC and lift curve, with the true classes and with the labels alone."""
    import altair as alt

    order = np.argsort(-np.asarray(series["scores"]), kind="stable")
    panels = []
    for title, x_title, of_all in (
        ("ROC", "Share of the other rows flagged", False),
        ("Lift", "Share of all rows flagged", True),
    ):
        rows = []
        for name, key in (("True classes", "positive"), ("Labels alone", "labeled")):
            found = np.asarray(series[key])[order]
            below = np.ones_like(found) if of_all else 1 - found
            x = np.concatenate([[0], np.cumsum(below) / below.sum()])
            y = np.concatenate([[0], np.cumsum(found) / found.sum()])
            rows += [
                {"x": float(one), "y": float(other), "which": name, "order": place}
                for place, (one, other) in enumerate(zip(x, y, strict=True))
            ]
        panels.append(_curve_panel(rows, title, x_title))
    return alt.hconcat(*panels, spacing=26)


def _curve_panel(rows: Sequence[Mapping[str, Any]], title: str, x_title: str) -> altair.Chart:
    import altair as alt

    names = ["True classes", "Labels alone"]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(
                "x:Q", axis=alt.Axis(title=x_title, format=".0%", tickCount=5, labelFlush=False)
            ),
            y=alt.Y("y:Q", axis=alt.Axis(title="Share of positives", format=".0%", tickCount=5)),
            color=alt.Color("which:N", scale=alt.Scale(domain=names, range=list(_COLORS))),
            strokeDash=alt.StrokeDash(
                "which:N", scale=alt.Scale(domain=names, range=[[1, 0], [5, 3]])
            ),
            order="order:Q",
        )
        .properties(width=215, height=215, title=alt.TitleParams(title))
    )
    return cast("altair.Chart", chart)


def settings(series: Series) -> altair.LayerChart:
    """Ours against printed in each setting, with Monte-Carlo errors, on logarithmic axes."""
    import altair as alt

    names = ["AUL", "AUC, prior by auto"]
    points = [
        {
            "x": row[printed],
            "y": row[ours],
            "low": max(row[ours] - row[error], 1e-4),
            "high": row[ours] + row[error],
            "which": name,
        }
        for row in series["settings"]
        for name, printed, ours, error in (
            (names[0], "printed", "ours", "error"),
            (names[1], "auc_printed", "auc", "auc_error"),
        )
    ]
    low = 0.8 * min(min(one["x"], one["y"]) for one in points)
    high = 1.25 * max(max(one["x"], one["y"]) for one in points)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    color = alt.Color("which:N", scale=alt.Scale(domain=names, range=list(_COLORS)))
    base = alt.Chart(alt.InlineData(values=points)).encode(
        x=alt.X("x:Q", scale=scale, axis=alt.Axis(title="Printed mean absolute error")),
        color=color,
    )
    y = alt.Y("y:Q", scale=scale, axis=alt.Axis(title="Ours"))
    same = (
        alt.Chart(alt.InlineData(values=[{"x": one, "y": one} for one in (low, high)]))
        .mark_line(color=palette.INK, strokeDash=[3, 3], strokeWidth=1.25)
        .encode(x=alt.X("x:Q", scale=scale), y=y)
    )
    errors = base.mark_rule(strokeWidth=1.25).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    dots = base.mark_point(filled=True, size=40, opacity=0.9).encode(y=y)
    chart = alt.layer(same, errors, dots).properties(width=420, height=330)
    return cast("altair.LayerChart", chart)


def boxes(series: Series) -> altair.LayerChart:
    """Error distributions, one pair of boxes a data set."""
    import altair as alt

    names = ["AUL", "AUC"]
    data = alt.InlineData(values=series["boxes"])
    base = alt.Chart(data).encode(
        x=alt.X(
            "data:N",
            sort=[box["data"] for box in series["boxes"]],
            axis=alt.Axis(title=None, labelAngle=-40),
        ),
        xOffset=alt.XOffset("which:N", sort=names),
        color=alt.Color("which:N", scale=alt.Scale(domain=names, range=list(_COLORS))),
    )
    y_axis = alt.Axis(title="Estimate less truth", format="+.2f")
    whiskers = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", axis=y_axis), y2="high:Q")
    bars = base.mark_bar(size=11).encode(y="first:Q", y2="third:Q")
    medians = base.mark_tick(size=11, thickness=2, color=palette.BACKGROUND).encode(
        y="middle:Q", color=alt.value(palette.BACKGROUND)
    )
    means = base.mark_point(
        shape="diamond", filled=True, size=42, stroke=palette.BACKGROUND, strokeWidth=1
    ).encode(y="mean:Q", color=alt.value(palette.INK))
    zero = (
        alt.Chart(alt.InlineData(values=[{"y": 0}]))
        .mark_rule(color=palette.MUTED, strokeDash=[3, 3])
        .encode(y="y:Q")
    )
    chart = alt.layer(zero, whiskers, bars, medians, means).properties(width=450, height=280)
    return cast("altair.LayerChart", chart)
