"""Curves of a window and its estimates at other class priors, each with a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from markupsafe import Markup

from pumonitor.monitor.charts.curves import (
    Dot,
    Line,
    Place,
    Range,
    draw_curves,
    over_thresholds,
    steps,
)
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.monitor.reports.window_curves import OVER_PRIORS, WindowCurves
from pumonitor.names import estimate_text, title
from pumonitor.report.sensitivity_chart import sensitivity_reading
from pumonitor.results import Curve
from pumonitor.text import interval_shown, marked, number_text, percent_text

Rows = Mapping[str, PublishedResult]

_MOST_LINES: Final = 21
_WHOLE: Final = (0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A chart and its table.

    Attributes
    ----------
    heading : str
    chart : Markup
    columns : sequence of str
    lines : sequence of tuple of str
        Of the table: about twenty places of the curve, evenly spread.
    note : str
        What else is to be known to read the chart.
    """

    heading: str
    chart: Markup
    columns: Sequence[str]
    lines: Sequence[tuple[str, ...]]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowDrawings:
    """What is drawn of a window.

    Attributes
    ----------
    curves, over_priors : sequence of Drawing
    bounded : bool
        Whether curves have bounds.
    reading : str
        What to read from the second kind.
    """

    curves: Sequence[Drawing]
    over_priors: Sequence[Drawing]
    bounded: bool
    reading: str


def window_drawings(found: WindowCurves, rows: Rows) -> WindowDrawings:
    """Draw them; numbers at the threshold are the stored ones.

    Parameters
    ----------
    found : WindowCurves
    rows : mapping of str to PublishedResult
        Stored results of the same revision, by metric.
    """
    drawings = [
        _curve(
            found,
            "precision_recall",
            "Precision and recall",
            _at(rows, "recall", "precision"),
            upward="precision",
        ),
        _curve(found, "roc", "ROC", [], upward="recall"),
        *(_by_threshold(found, metric, rows) for metric in ("precision", "recall", "f1")),
        _scores(found),
    ]
    swept = found.sensitivities
    over_priors = [_over_prior(found, metric, rows) for metric in OVER_PRIORS if metric in swept]
    return WindowDrawings(
        curves=[one for one in drawings if one.chart],
        over_priors=[one for one in over_priors if one.chart],
        bounded="roc_bounds" in found.curves,
        reading=sensitivity_reading(next(iter(swept.values()))) if swept else "",
    )


def _curve(
    found: WindowCurves, name: str, heading: str, dots: list[Dot], *, upward: str
) -> Drawing:
    curve, bounds = found.curves[name], found.curves.get(f"{name}_bounds")
    return Drawing(
        heading=heading,
        chart=draw_curves(
            [*_lines(curve, bounds), *_uncorrected(curve)],
            title=f"{curve.y_title} against {curve.x_title.lower()}",
            identifier=name.replace("_", "-"),
            x_title=f"{curve.x_title} (upward: {upward})",
            across=_WHOLE,
            dots=dots,
        ),
        columns=[
            *(curve.x_title, curve.y_title, "95% band"),
            *([] if bounds is None else ["Bounds"]),
            "Uncorrected",
        ],
        lines=[
            (
                number_text(float(curve.x[place])),
                *_said(curve, place),
                *([] if bounds is None else [_between(bounds, place)]),
                _uncorrected_said(curve, place),
            )
            for place in _places(len(curve.x))
        ],
    )


def _by_threshold(found: WindowCurves, metric: str, rows: Rows) -> Drawing:
    curve = found.curves[f"{metric}_by_threshold"]
    heading, threshold, tops = title(metric), found.threshold, found.cells.tops
    doubtful = found.cells.impossible & (metric != "recall")
    row = rows.get(metric)
    x, low = over_thresholds(curve.x, tops, curve.low)
    y, high = (over_thresholds(curve.x, tops, of)[1] for of in (curve.y, curve.high))
    lines = [Line(x=x, y=y, low=low, high=high)]
    if curve.uncorrected is not None:
        outline = over_thresholds(curve.x, tops, curve.uncorrected)
        lines.append(Line(x=x, y=outline[1], kind="uncorrected"))
    return Drawing(
        heading=f"{heading} by threshold",
        chart=draw_curves(
            lines,
            title=f"{heading} against the decision threshold",
            identifier=f"{metric}-by-threshold".replace("_", "-"),
            x_title="Decision threshold",
            across=(min(float(curve.x[0]), threshold), max(float(tops[-1]), threshold)),
            places=[Place(threshold, f"now {threshold:g}")],
            dots=_stored(threshold, row),
        ),
        columns=["Threshold", heading, "95% band", "Uncorrected"],
        note="!: impossible, or made of a number that is." if doubtful.any() else "",
        lines=[
            (
                number_text(float(curve.x[place])),
                *_said(curve, place, mark="!" if doubtful[place] else ""),
                _uncorrected_said(curve, place),
            )
            for place in _places(len(curve.x))
        ],
    )


def _scores(found: WindowCurves) -> Drawing:
    """Where scores of confirmed cases and of all others lie."""
    edges, labeled, others = (found.scores[one] for one in ("edges", "labeled", "unlabeled"))
    highest = float(max(labeled.max(), others.max()))
    return Drawing(
        heading="Scores",
        chart=draw_curves(
            [
                Line(**dict(zip("xy", steps(edges, labeled), strict=True)), kind="confirmed"),
                Line(**dict(zip("xy", steps(edges, others), strict=True)), kind="others"),
            ],
            title="Share of confirmed and of other cases by score",
            identifier="scores",
            x_title="Score (upward: share of the cases)",
            across=(float(edges[0]), float(edges[-1])),
            upward=(0.0, 1.05 * highest),
            places=[Place(found.threshold, f"now {found.threshold:g}")],
        ),
        columns=["Scores", "Confirmed positives", "Other cases"],
        lines=[
            (
                f"{number_text(float(edges[place]))} to {number_text(float(edges[place + 2]))}",
                percent_text(round(float(labeled[place : place + 2].sum()), 4)),
                percent_text(round(float(others[place : place + 2].sum()), 4)),
            )
            for place in range(0, len(labeled), 2)
        ],
        note="Blue line: confirmed positives; grey line: other cases.",
    )


def _over_prior(found: WindowCurves, metric: str, rows: Rows) -> Drawing:
    swept = found.sensitivities[metric]
    prior, possible = swept.class_prior, swept.identified_set
    value, low, high = (np.where(np.isfinite(swept.value), one, np.nan) for one in swept.displayed)
    heading = title(metric)
    ranges = [Range(*possible, kind="possible")]
    if not prior.is_known:
        ranges.append(Range(prior.low, prior.high))
    return Drawing(
        heading=heading,
        chart=draw_curves(
            [Line(x=swept.priors, y=value, low=low, high=high)],
            title=f"{heading} against the class prior",
            identifier=f"{metric}-over-prior".replace("_", "-"),
            x_title="Class prior",
            across=(float(swept.priors[0]), float(swept.priors[-1])),
            ranges=ranges,
            places=[Place(prior.value, number_text(prior.value))],
            dots=_stored(prior.value, rows.get(metric)),
        ),
        columns=["Class prior", heading, "95% interval at that class prior"],
        lines=[
            (
                number_text(float(swept.priors[place])),
                estimate_text(metric, float(value[place])),
                interval_shown(float(low[place]), float(high[place])),
            )
            for place in _places(len(swept.priors))
        ],
    )


def _lines(curve: Curve, bounds: Curve | None = None) -> list[Line]:
    return [
        Line(
            x=curve.x,
            y=curve.y,
            low=curve.low,
            high=curve.high,
            lowest=None if bounds is None else bounds.low,
            highest=None if bounds is None else bounds.high,
        )
    ]


def _uncorrected(curve: Curve) -> list[Line]:
    if curve.uncorrected is None:
        return []
    return [Line(x=curve.x, y=curve.uncorrected, kind="uncorrected")]


def _at(rows: Rows, across: str, upward: str) -> list[Dot]:
    """A dot where two stored estimates meet."""
    x = rows.get(across)
    return [] if x is None or x.value is None else _stored(x.value, rows.get(upward))


def _stored(x: float, row: PublishedResult | None) -> list[Dot]:
    if row is None or row.value is None:
        return []
    shown = marked(estimate_text(row.metric, row.value), row.infeasible_reason)
    said = f"{title(row.metric)} {shown}"
    interval = interval_shown(row.low, row.high)
    said += f" ({interval})" if interval else ""
    return [Dot(x=x, y=row.value, low=row.low, high=row.high, text=said)]


def _said(curve: Curve, place: int, *, mark: str = "") -> tuple[str, str]:
    return (
        estimate_text(curve.name, float(curve.y[place])) + mark,
        interval_shown(float(curve.low[place]), float(curve.high[place])),
    )


def _between(bounds: Curve, place: int) -> str:
    return interval_shown(float(bounds.low[place]), float(bounds.high[place]))


def _uncorrected_said(curve: Curve, place: int) -> str:
    if curve.uncorrected is None:
        return ""
    return estimate_text(curve.name, float(curve.uncorrected[place]))


def _places(many: int) -> list[int]:
    even = np.linspace(0, many - 1, min(many, _MOST_LINES))
    return [int(one) for one in np.unique(even.round())]
