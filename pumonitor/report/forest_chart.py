"""All estimates with their intervals, and the uncorrected numbers beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pumonitor.names import AT_THRESHOLD, title
from pumonitor.report import palette
from pumonitor.report.numbers import number
from pumonitor.report.theme import CORRECTED_NAME, UNCORRECTED_NAME, layered
from pumonitor.report.uncorrected import uncorrected_value
from pumonitor.results import Estimate, Evaluation

if TYPE_CHECKING:
    import altair

__all__ = ["forest_chart", "forest_rows"]

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
    return [
        _row(evaluation, evaluation.estimates[name])
        for name in names
        if name in evaluation.estimates
    ]


def _row(evaluation: Evaluation, estimate: Estimate) -> dict[str, Any]:
    row: dict[str, Any] = {"metric": title(estimate.name, evaluation.settings)}
    row["naive"] = uncorrected_value(evaluation, estimate.name)
    if estimate.undefined_reason is not None:
        return row | {"value": None, "low": None, "high": None, "text": "no value"}
    value, low, high = estimate.displayed
    row |= {"value": value, "low": low, "high": high}
    if estimate.infeasible:
        return row | {"text": f"came out at {number(estimate.came_out)}"}
    if low == high:
        return row | {"text": number(value)}
    return row | {"text": f"{number(value)} ({number(low)}–{number(high)})"}


def forest_chart(evaluation: Evaluation) -> altair.VConcatChart:
    """Dots with intervals by group, uncorrected numbers as orange diamonds, values at the right."""
    import altair as alt

    panels = []
    for heading, names in _PANELS.items():
        rows = forest_rows(evaluation, names)
        if rows:
            panels.append(_panel(heading, rows, own_axis=heading == _OWN_AXIS))
    chart = alt.vconcat(*panels, spacing=14)
    return cast("altair.VConcatChart", chart.resolve_scale(x="independent", color="shared"))


def _panel(heading: str, rows: list[dict[str, Any]], *, own_axis: bool) -> altair.LayerChart:
    import altair as alt

    numbers = [row[key] for row in rows for key in ("low", "high", "naive") if row[key] is not None]
    lowest = min([0.0, *numbers])
    highest = max([1.0, *numbers]) if own_axis else 1.0
    scale = alt.Scale(domain=[lowest, highest], nice=own_axis)
    axis = alt.Axis(title=None, tickCount=4, labelFlush=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(
            "metric:N",
            # In the order given: lines without a value would otherwise go last.
            sort=[row["metric"] for row in rows],
            axis=alt.Axis(
                title=None,
                ticks=False,
                domain=False,
                minExtent=_LABEL,
                maxExtent=_LABEL,
                labelLimit=_LABEL,
                labelColor=palette.INK,
                labelPadding=8,
            ),
        )
    )
    interval = base.mark_rule(strokeWidth=2.5, color=palette.CORRECTED, opacity=0.55).encode(
        x=alt.X("low:Q", scale=scale, axis=axis), x2=alt.X2("high:Q")
    )
    naive = _marks(base, "naive", UNCORRECTED_NAME, scale=scale, axis=axis)
    value = _marks(base, "value", CORRECTED_NAME, scale=scale, axis=axis)
    text = base.mark_text(align="left", baseline="middle").encode(
        x=alt.value(_WIDTH + 14), text=alt.Text("text:N")
    )
    return layered(interval, naive, value, text).properties(
        width=_WIDTH, height=alt.Step(_STEP), title=heading
    )


def _marks(
    base: altair.Chart,
    field: str,
    source: str,
    *,
    scale: altair.Scale,
    axis: altair.Axis,
) -> altair.Chart:
    import altair as alt

    names = [CORRECTED_NAME, UNCORRECTED_NAME]
    drawn = (
        base.transform_calculate(source=f"'{source}'")
        .mark_point(filled=True, size=62, opacity=1)
        .encode(
            x=alt.X(f"{field}:Q", scale=scale, axis=axis),
            color=alt.Color(
                "source:N",
                scale=alt.Scale(domain=names, range=[palette.CORRECTED, palette.UNCORRECTED]),
            ),
            shape=alt.Shape("source:N", scale=alt.Scale(domain=names, range=["circle", "diamond"])),
        )
    )
    return cast("altair.Chart", drawn)
