"""What an audit says by score bin, and what it changes: charts of an evaluation with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pumonitor.audit.estimates import EstimatesByBin
from pumonitor.names import TITLES, title
from pumonitor.report import palette
from pumonitor.report.theme import layered
from pumonitor.results import Evaluation
from pumonitor.text import given_text, with_interval

if TYPE_CHECKING:
    import altair

_STEP: Final = 26
_HEIGHT: Final = 200
_WIDTH: Final = 200
_COMPARED: Final = ("class_prior", "precision", "recall", "f1", "auc")
_WITHOUT, _WITH = "Without the audit", "With it"
_HIDDEN: Final = "Hidden, estimated"
_OF_PARTS: Final = (palette.CORRECTED, palette.UNCORRECTED, palette.AXIS)


def audit_frequency_chart(evaluation: Evaluation) -> altair.LayerChart:
    """Share of the positives confirmed, by score bin, beside the same share at every score.

    Raises
    ------
    ValueError
        If the evaluation has no audit.
    """
    import altair as alt

    bins = _bins(evaluation)
    overall = evaluation["label_frequency"]
    y_axis = alt.Axis(title="Share of the positives confirmed", format=".0%", tickCount=5)
    scale = alt.Scale(domain=[0, 1], nice=False)
    even = alt.Chart(
        alt.InlineData(values=[{"low": overall.low, "value": overall.value, "high": overall.high}])
    )
    band = even.mark_rect(color=palette.AXIS, opacity=0.25).encode(
        y=alt.Y("low:Q", scale=scale, axis=y_axis), y2=alt.Y2("high:Q")
    )
    line = even.mark_rule(color=palette.MUTED, strokeWidth=1.5, strokeDash=[4, 3]).encode(
        y=alt.Y("value:Q", scale=scale)
    )
    base = alt.Chart(alt.InlineData(values=bins))
    x = _by_score(bins)
    interval = base.mark_rule(strokeWidth=2.5, color=palette.CORRECTED, opacity=0.55).encode(
        x=x, y=alt.Y("frequency_low:Q", scale=scale), y2=alt.Y2("frequency_high:Q")
    )
    value = base.mark_point(filled=True, size=62, opacity=1, color=palette.CORRECTED).encode(
        x=x, y=alt.Y("frequency:Q", scale=scale)
    )
    return layered(band, line, *_threshold(bins), interval, value).properties(
        width=alt.Step(_STEP), height=_HEIGHT
    )


def audit_positives_chart(evaluation: Evaluation) -> altair.LayerChart:
    """Positives by score bin: those known, by how they came to be, and hidden ones as estimated.

    Raises
    ------
    ValueError
        If the evaluation has no audit and no reviews.
    """
    import altair as alt

    bins, known = _bins(evaluation), _by_bin(evaluation).known_parts
    colors = dict(zip((*known, _HIDDEN), _OF_PARTS, strict=True))
    parts = []
    for row in bins:
        counts = {heading: row[key] for heading, key in known.items()}
        counts[_HIDDEN] = max(row["positives"] - sum(counts.values()), 0.0)
        parts += [
            {"score": row["score"], "part": part, "order": order, "positives": count}
            for order, (part, count) in enumerate(counts.items())
        ]
    x, y_axis = _by_score(bins), alt.Axis(title="Positives", format="~s", tickCount=5)
    bars = (
        alt.Chart(alt.InlineData(values=parts))
        .mark_bar(width=_STEP - 8)
        .encode(
            x=x,
            y=alt.Y("positives:Q", axis=y_axis),
            color=alt.Color("part:N", scale=_colors(colors)),
            order=alt.Order("order:Q"),
        )
    )
    base = alt.Chart(alt.InlineData(values=bins))
    interval = base.mark_rule(strokeWidth=1.5, color=palette.INK).encode(
        x=x, y=alt.Y("positives_low:Q"), y2=alt.Y2("positives_high:Q")
    )
    return layered(bars, *_threshold(bins), interval).properties(
        width=alt.Step(_STEP), height=_HEIGHT
    )


def with_and_without_chart(evaluation: Evaluation, without: Evaluation) -> altair.LayerChart:
    """Estimates with the audit below those without it, each with its interval.

    Parameters
    ----------
    evaluation, without : Evaluation
        Of the same rows.
    """
    import altair as alt

    rows: list[dict[str, Any]] = []
    for name in _COMPARED:
        for what, of in ((_WITHOUT, without), (_WITH, evaluation)):
            one = of[name]
            if one.undefined_reason is None:
                value, low, high = one.displayed
                shown = {"metric": title(name, of.settings), "what": what}
                said = with_interval(value, low, high)
                rows.append(shown | {"value": value, "low": low, "high": high, "text": said})
    base = alt.Chart(alt.InlineData(values=rows))
    y = alt.Y(
        "metric:N",
        sort=list(dict.fromkeys(row["metric"] for row in rows)),
        axis=alt.Axis(title=None, ticks=False, domain=False, labelColor=palette.INK),
    )
    beside = alt.YOffset("what:N", sort=[_WITHOUT, _WITH])
    colors = {_WITHOUT: palette.UNCORRECTED, _WITH: palette.CORRECTED}
    color = alt.Color("what:N", scale=_colors(colors))
    scale = alt.Scale(domain=[0, 1], nice=False)
    interval = base.mark_rule(strokeWidth=2.5, opacity=0.55).encode(
        x=alt.X("low:Q", scale=scale, axis=alt.Axis(title=None, tickCount=5)),
        x2=alt.X2("high:Q"),
        y=y,
        yOffset=beside,
        color=color,
    )
    value = base.mark_point(filled=True, size=62, opacity=1).encode(
        x=alt.X("value:Q", scale=scale), y=y, yOffset=beside, color=color
    )
    text = base.mark_text(align="left", baseline="middle").encode(
        x=alt.value(_WIDTH + 14), y=y, yOffset=beside, text=alt.Text("text:N")
    )
    return layered(interval, value, text).properties(width=_WIDTH, height=alt.Step(18))


def audit_width_chart(rows: Sequence[Mapping[str, Any]], *, cases: int) -> altair.ConcatChart:
    """Width of the interval against the number of cases, a panel a metric.

    Parameters
    ----------
    rows : sequence of mapping
        As `AuditPlan.widths_by_cases` gives them.
    cases : int
        Those of the plan, marked by an upright line.
    """
    import altair as alt

    names = dict.fromkeys(str(row["metric"]) for row in rows)
    panels = [
        _widths(name, [row for row in rows if row["metric"] == name], cases) for name in names
    ]
    return alt.concat(*panels, columns=3, spacing=18)


def _widths(name: str, rows: Sequence[Mapping[str, Any]], cases: int) -> altair.LayerChart:
    import altair as alt

    colors = {"This audit": palette.CORRECTED, "A simple audit": palette.UNCORRECTED}
    points = [
        {"cases": row["cases"], "width": row[key], "what": what}
        for row in rows
        for what, key in zip(colors, ("width", "simple"), strict=True)
    ]
    x = alt.X(
        "cases:Q",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(
            title="Cases reviewed", values=sorted({row["cases"] for row in rows}), grid=False
        ),
    )
    lines = (
        alt.Chart(alt.InlineData(values=points))
        .mark_line(point={"size": 45, "filled": True}, strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y(
                "width:Q",
                scale=alt.Scale(domainMin=0),
                axis=alt.Axis(title="Width of the 95% interval", tickCount=5),
            ),
            color=alt.Color("what:N", scale=_colors(colors)),
        )
    )
    chosen = alt.Chart(alt.InlineData(values=[{"cases": cases}]))
    rule = chosen.mark_rule(color=palette.INK, strokeDash=[3, 3], strokeWidth=1.25).encode(x=x)
    heading = alt.TitleParams(TITLES[name])
    return layered(rule, lines).properties(width=_WIDTH, height=_HEIGHT, title=heading)


def _by_bin(evaluation: Evaluation) -> EstimatesByBin:
    """What was told by score bin."""
    told = evaluation.reviews if evaluation.audit is None else evaluation.audit
    if told is None:
        msg = (
            "this evaluation has no audit and no reviews: give audit= or reviews= to "
            "pumonitor.evaluate"
        )
        raise ValueError(msg)
    return told


def _bins(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Score bins, each with its label."""
    bins = _by_bin(evaluation).by_bin()
    for one in bins:
        one["score"] = "lowest" if one["from"] is None else f"from {given_text(one['from'])}"
    return bins


def _by_score(bins: list[dict[str, Any]]) -> altair.X:
    """The axis of score bins, from the lowest."""
    import altair as alt

    return alt.X(
        "score:N",
        sort=[one["score"] for one in bins],
        axis=alt.Axis(title="Score", labelAngle=-45, grid=False, ticks=False),
    )


def _threshold(bins: list[dict[str, Any]]) -> list[altair.Chart]:
    """An upright line left of the first bin that is predicted positive; none without one."""
    import altair as alt

    first = next((one for one in bins if one["above"]), None)
    if first is None:
        return []
    here = alt.Chart(alt.InlineData(values=[{"score": first["score"]}]))
    rule = here.mark_rule(color=palette.INK, strokeDash=[3, 3], strokeWidth=1.25)
    sort = [one["score"] for one in bins]
    return [rule.encode(x=alt.X("score:N", sort=sort, bandPosition=0))]


def _colors(of: Mapping[str, str]) -> altair.Scale:
    import altair as alt

    return alt.Scale(domain=list(of), range=list(of.values()))
