"""Pictures of Tabatabaei et al. (2020): blue is F1 as estimated, orange is LL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from pumonitor.report import palette

if TYPE_CHECKING:
    import altair

__all__ = ["factors", "inversions", "label_frequency", "scatter", "strip"]

_SIZE: Final = {"width": 440, "height": 290}
_BY_F1: Final = "F1 as estimated"
_BY_LL: Final = "LL score"

Series = Mapping[str, Any]


def scatter(series: Series) -> altair.LayerChart:
    """Estimated F1 and LL against F1, one point a classifier."""
    import altair as alt

    points = [
        {"x": x, "y": y, "which": name}
        for name, key in ((_BY_LL, "ll"), (_BY_F1, "f1"))
        for x, y in zip(series["truth"], series[key], strict=True)
    ]
    least, reach = min(point["x"] for point in points), max(point["x"] for point in points)
    right = _line([(least, least), (reach, reach)], color=palette.INK, dash=[3, 3])
    dots = (
        alt.Chart(alt.InlineData(values=points))
        .mark_point(filled=True, size=26, opacity=0.65)
        .encode(
            x=alt.X(
                "x:Q", scale=alt.Scale(zero=False), axis=alt.Axis(title="True F1", tickCount=6)
            ),
            y=alt.Y("y:Q", axis=alt.Axis(title="Score", tickCount=6)),
            color=_colors(),
        )
    )
    return _layered(dots, right)


def label_frequency(series: Series) -> altair.LayerChart:
    """Estimate of the label frequency over the label frequency."""
    diagonal = _line([(0.0, 0.0), (1.0, 1.0)], color=palette.INK, dash=[2, 3])
    x = series["frequency"]
    return _layered(
        _band(x, series["low"], series["high"], opacity=0.14),
        _band(x, series["p10"], series["p90"], opacity=0.28),
        _line(
            list(zip(x, series["mean"], strict=True)),
            color=palette.CORRECTED,
            titles=("Share of positives labeled", "Estimated share"),
        ),
        diagonal,
    )


def strip(series: Series) -> altair.LayerChart:
    """Estimates of F1 over labelings, with the computed mean and deviation."""
    import altair as alt

    frequency, truth = series["frequency"], series["truth"]
    shown = [
        {"x": x, "y": y}
        for x, row in zip(frequency, series["estimates"], strict=True)
        for y in sorted(set(row))
    ]
    dots = (
        alt.Chart(alt.InlineData(values=shown))
        .mark_point(filled=True, size=7, opacity=0.35, color=palette.AXIS)
        .encode(
            x=alt.X("x:Q", axis=alt.Axis(title="Share of positives labeled", tickCount=6)),
            y=alt.Y(
                "y:Q",
                scale=alt.Scale(zero=False),
                axis=alt.Axis(title="Estimated F1", tickCount=6),
            ),
        )
    )
    layers = [dots, _line([(frequency[0], truth), (frequency[-1], truth)], color=palette.CORRECTED)]
    layers.append(_marks(frequency, series["mean"], color=palette.CORRECTED))
    for sign in (-1, 1):
        computed = [truth + sign * one for one in series["computed"]]
        seen = [
            mean + sign * one for mean, one in zip(series["mean"], series["deviation"], strict=True)
        ]
        layers.append(_line(list(zip(frequency, computed, strict=True)), color=palette.UNCORRECTED))
        layers.append(_marks(frequency, seen, color=palette.UNCORRECTED))
    return _layered(*layers)


def inversions(series: Series) -> altair.LayerChart:
    """Shares of inversions over the label frequency."""
    import altair as alt

    x = series["frequency"]
    rows = [
        {"x": one, "y": y, "which": name}
        for name, key in ((_BY_F1, "f1"), (_BY_LL, "ll"))
        for one, y in zip(x, series[key], strict=True)
    ]
    lines = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("x:Q", axis=alt.Axis(title="Share of positives labeled", tickCount=6)),
            y=alt.Y("y:Q", axis=alt.Axis(title="Pairs in the wrong order", format=".0%")),
            color=_colors(),
        )
    )
    return _layered(
        _band(x, series["ll_low"], series["ll_high"], opacity=0.15, color=palette.UNCORRECTED),
        _band(x, series["f1_low"], series["f1_high"], opacity=0.18),
        lines,
    )


def factors(series: Series) -> altair.LayerChart:
    """Mean inversions by F1 over the factor, LL as a level."""
    import altair as alt

    ends = (series["factors"][0], series["factors"][-1])
    rows = [
        {"x": x, "y": y, "which": _BY_F1}
        for x, y in zip(series["factors"], series["f1"], strict=True)
    ]
    curve = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=2, point={"size": 45, "filled": True})
        .encode(
            x=alt.X("x:Q", axis=alt.Axis(title="Label frequency taken, as a multiple")),
            y=alt.Y(
                "y:Q",
                scale=alt.Scale(zero=False),
                axis=alt.Axis(title="Pairs in the wrong order", format=".1%"),
            ),
            color=_colors(),
        )
    )
    level = (
        alt.Chart(
            alt.InlineData(values=[{"x": x, "y": series["ll"], "which": _BY_LL} for x in ends])
        )
        .mark_line(strokeWidth=2, strokeDash=[6, 3])
        .encode(x="x:Q", y="y:Q", color=_colors())
    )
    return _layered(curve, level)


def _layered(*layers: altair.Chart) -> altair.LayerChart:
    import altair as alt

    return cast("altair.LayerChart", alt.layer(*layers).properties(**_SIZE))


def _colors() -> altair.Color:
    import altair as alt

    scale = alt.Scale(domain=[_BY_F1, _BY_LL], range=[palette.CORRECTED, palette.UNCORRECTED])
    return alt.Color("which:N", scale=scale)


def _line(
    points: Sequence[tuple[float, float]],
    *,
    color: str,
    dash: Sequence[int] = (1, 0),
    titles: tuple[str, str] | None = None,
) -> altair.Chart:
    import altair as alt

    x, y = alt.X("x:Q"), alt.Y("y:Q")
    if titles is not None:
        x, y = x.axis(title=titles[0], tickCount=6), y.axis(title=titles[1], tickCount=6)
    chart = (
        alt.Chart(alt.InlineData(values=[{"x": one, "y": other} for one, other in points]))
        .mark_line(color=color, strokeDash=list(dash), strokeWidth=1.75)
        .encode(x=x, y=y)
    )
    return cast("altair.Chart", chart)


def _marks(x: Sequence[float], y: Sequence[float], *, color: str) -> altair.Chart:
    import altair as alt

    rows = [{"x": one, "y": other} for one, other in zip(x, y, strict=True)]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=14, opacity=0.9, color=color)
        .encode(x="x:Q", y="y:Q")
    )
    return cast("altair.Chart", chart)


def _band(
    x: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    opacity: float,
    color: str = palette.CORRECTED,
) -> altair.Chart:
    import altair as alt

    rows = [
        {"x": one, "low": below, "high": above}
        for one, below, above in zip(x, low, high, strict=True)
    ]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_area(color=color, opacity=opacity)
        .encode(x="x:Q", y="low:Q", y2="high:Q")
    )
    return cast("altair.Chart", chart)
