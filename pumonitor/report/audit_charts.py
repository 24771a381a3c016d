"""What an audit or reviews say by score bin, and what an audit changes: charts of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pumonitor.audit.estimates import EstimatesByBin
from pumonitor.names import TITLES, title
from pumonitor.report import palette
from pumonitor.report.chart_parts import MARKED, Spec, field, layer, layered, second
from pumonitor.results import Evaluation
from pumonitor.text import given_text, with_interval

_STEP: Final = 22
_HEIGHT: Final = 200
_WIDTH: Final = 230
_COMPARED: Final = ("class_prior", "precision", "recall", "f1", "auc")
_WITHOUT, _WITH = "Without the audit", "With it"
_HIDDEN: Final = "Hidden, estimated"
_OF_PARTS: Final = (palette.CORRECTED, palette.UNCORRECTED, palette.AXIS)
_INTERVAL: Final = {"strokeWidth": 2.5, "opacity": 0.55}
_VALUE: Final = {"filled": True, "size": 62, "opacity": 1}
_SHARE: Final = {"domain": [0, 1], "nice": False}


def audit_frequency_chart(evaluation: Evaluation) -> Spec:
    """Share of the positives confirmed, by score bin, beside the same share at every score.

    Raises
    ------
    ValueError
        If the evaluation has no audit.
    """
    bins = _bins(evaluation)
    overall = evaluation["label_frequency"]
    even = [{"low": overall.low, "value": overall.value, "high": overall.high}]
    axis = {"title": "Share of the positives confirmed", "format": ".0%", "tickCount": 5}
    how: Spec = {"scale": _SHARE, "axis": axis}
    dashed = {"color": palette.MUTED, "strokeWidth": 1.5, "strokeDash": [4, 3]}
    y = _by_score(bins)
    return layered(
        layer(
            even,
            "rect",
            look={"color": palette.AXIS, "opacity": 0.25},
            x=field("low", **how),
            x2=second("high"),
        ),
        layer(even, "rule", look=dashed, x=field("value", **how)),
        *_threshold(bins),
        layer(
            bins,
            "rule",
            look={**_INTERVAL, "color": palette.CORRECTED},
            x=field("frequency_low", **how),
            x2=second("frequency_high"),
            y=y,
        ),
        layer(
            bins,
            "point",
            look={**_VALUE, "color": palette.CORRECTED},
            x=field("frequency", **how),
            y=y,
        ),
        width=_WIDTH,
        height={"step": _STEP},
    )


def audit_positives_chart(evaluation: Evaluation) -> Spec:
    """Positives by score bin: those known, by how they came to be, and hidden ones as estimated.

    Raises
    ------
    ValueError
        If the evaluation has no audit and no reviews.
    """
    bins, known = _bins(evaluation), _by_bin(evaluation).known_parts
    parts = []
    for row in bins:
        counts = {heading: row[key] for heading, key in known.items()}
        counts[_HIDDEN] = max(row["positives"] - sum(counts.values()), 0.0)
        begin = 0.0
        for part, count in counts.items():
            ends = {"begin": begin, "end": begin + count}
            parts.append({"score": row["score"], "part": part, "positives": count, **ends})
            begin += count
    x: Spec = {"axis": {"title": "Positives", "tickCount": 5}}
    y = _by_score(bins)
    colors = dict(zip((*known, _HIDDEN), _OF_PARTS, strict=True))
    bars = layer(
        parts,
        "rect",
        look={"height": {"band": 0.7}},
        x=field("begin", **x),
        x2=second("end"),
        y=y,
        color=_color("part", colors, symbolType="square"),
    )
    interval = layer(
        bins,
        "rule",
        look={"strokeWidth": 1.5, "color": palette.INK},
        x=field("positives_low", **x),
        x2=second("positives_high"),
        y=y,
    )
    return layered(bars, *_threshold(bins), interval, width=_WIDTH, height={"step": _STEP})


def with_and_without_chart(evaluation: Evaluation, without: Evaluation) -> Spec:
    """Estimates with the audit below those without it, each with its interval.

    Parameters
    ----------
    evaluation, without : Evaluation
        Of the same rows.
    """
    rows: list[dict[str, Any]] = []
    for name in _COMPARED:
        for what, of in ((_WITHOUT, without), (_WITH, evaluation)):
            estimate = of[name]
            if estimate.undefined_reason is None:
                value, low, high = estimate.displayed
                metric = title(name, of.settings)
                line = metric if what == _WITHOUT else f"{metric}, with the audit"
                rows.append({"line": line, "what": what})
                rows[-1]["text"] = with_interval(value, low, high)
                rows[-1] |= {"value": value, "low": low, "high": high}
    axis = {"title": None, "ticks": False, "domain": False, "labelColor": palette.INK}
    y = field("line", "nominal", sort=[row["line"] for row in rows], axis=axis)
    color = _color("what", {_WITHOUT: palette.UNCORRECTED, _WITH: palette.CORRECTED})
    how: Spec = {"scale": _SHARE, "axis": {"title": None, "tickCount": 5}}
    ends: Spec = {"x": field("low", **how), "x2": second("high")}
    beside = {"align": "left", "baseline": "middle"}
    return layered(
        layer(rows, "rule", look=_INTERVAL, **ends, y=y, color=color),
        layer(rows, "point", look=_VALUE, x=field("value", **how), y=y, color=color),
        layer(
            rows,
            "text",
            look=beside,
            x={"value": _WIDTH + 14},
            y=y,
            text=field("text", "nominal"),
        ),
        width=_WIDTH,
        height={"step": _STEP},
    )


def audit_width_chart(rows: Sequence[Mapping[str, Any]], *, cases: int) -> Spec:
    """Width of the interval against the number of cases, a panel a metric.

    Parameters
    ----------
    rows : sequence of mapping
        As `AuditPlan.widths_by_cases` gives them.
    cases : int
        Those of the plan, marked by an upright line.
    """
    names = dict.fromkeys(str(row["metric"]) for row in rows)
    panels = [
        _widths(name, [row for row in rows if row["metric"] == name], cases) for name in names
    ]
    apart = {"scale": {"y": "independent"}}
    return {"concat": panels, "columns": 3, "spacing": 18, "resolve": apart}


def _widths(name: str, rows: Sequence[Mapping[str, Any]], cases: int) -> Spec:
    colors = {"This audit": palette.CORRECTED, "A simple audit": palette.UNCORRECTED}
    points = [
        {"cases": row["cases"], "width": row[key], "what": what}
        for what, key in zip(colors, ("width", "simple"), strict=True)
        for row in rows
    ]
    sizes = sorted({row["cases"] for row in rows} | {cases})
    x = field(
        "cases",
        scale={"type": "log", "domain": [sizes[0], sizes[-1]], "nice": False},
        axis={
            "title": "Cases reviewed",
            "values": sorted({row["cases"] for row in rows}),
            "grid": False,
        },
    )
    y = field(
        "width",
        scale={"zero": True},
        axis={"title": "Width of the 95% interval", "tickCount": 5},
    )
    color = _color("what", colors)
    return layered(
        layer([{"cases": cases}], "rule", look=MARKED, x=x),
        layer(points, "line", look={"strokeWidth": 2}, x=x, y=y, color=color),
        layer(points, "point", look={**_VALUE, "size": 45}, x=x, y=y, color=color),
        width=_WIDTH,
        height=_HEIGHT,
        title=TITLES[name],
    )


def _by_bin(evaluation: Evaluation) -> EstimatesByBin:
    """What was told by score bin."""
    if evaluation.reading is None:
        msg = (
            "this evaluation has no audit and no reviews: give audit= or reviews= to "
            "pumonitor.evaluate"
        )
        raise ValueError(msg)
    return evaluation.reading


def _bins(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Score bins with their labels, from the highest."""
    bins = _by_bin(evaluation).by_bin()[::-1]
    for row in bins:
        row["score"] = "lowest" if row["from"] is None else f"from {given_text(row['from'])}"
    return bins


def _by_score(bins: list[dict[str, Any]]) -> Spec:
    """The axis of score bins."""
    axis = {"title": "Score", "grid": False, "ticks": False}
    return field("score", "nominal", sort=[row["score"] for row in bins], axis=axis)


def _threshold(bins: list[dict[str, Any]]) -> list[Spec]:
    """A level line below the last bin that is predicted positive; none without one."""
    flagged = sum(row["above"] for row in bins)
    return [layer([{}], "rule", look=MARKED, y={"value": _STEP * flagged})] if flagged else []


def _color(name: str, colors: Mapping[str, str], **legend: str) -> Spec:
    """A color for each word of a column, with a legend."""
    scale = {"domain": list(colors), "range": list(colors.values())}
    return field(name, "nominal", scale=scale, legend=legend)
