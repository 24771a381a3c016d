"""Decide: what thresholds bring, which is best, and which review would tell more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from pumonitor.decisions import Outcome, ReviewOptions
from pumonitor.monitor.charts.curves import Dot, Line, Place, draw_curves
from pumonitor.monitor.dashboard.address import with_known_names
from pumonitor.monitor.dashboard.pages.decide_address import PER, DecideAddress
from pumonitor.monitor.dashboard.pages.decide_found import Found, Kind, stands_on
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.in_words import interval_shown
from pumonitor.report.decision_words import MEANING, WHERE, amount, outcome_title
from pumonitor.report.numbers import number, rows
from pumonitor.results import Curve, Estimate

__all__ = ["decide_page"]

_SHARES: Final = ("precision", "recall", "f1")
_DRAWN: Final = (
    "f1",
    "precision",
    "recall",
    "reviews",
    "positives_caught",
    "positives_missed",
)
_MOST_LINES: Final = 21
_Line = tuple[str, str, Sequence[tuple[str, str]]]


def decide_page(site: Site, name: str, query: Mapping[str, str]) -> dict[str, Any]:
    """What the decide page of a monitor shows.

    Parameters
    ----------
    site : Site
    name : str
    query : mapping of str to str
        As `DecideAddress.read` takes it.

    Raises
    ------
    InputError
        If the query cannot be read.
    """
    zone = site.zone(name)
    with site.at_once() as ledger:
        series = ledger.newest_results(monitors=[name], metrics=["predictions"])
        versions = sorted(set(series.model_version))
        segments = sorted({one for one in series.segment if one})
        query = with_known_names(query, versions=versions, segments=segments)
        at = DecideAddress.read(query, zone=zone)
        window, passed = stands_on(site, ledger, name, at)
    found = None if window is None else window.found(site, at)
    return {
        "monitor": name,
        "zone": zone,
        "at": at,
        "per": PER,
        "versions": versions,
        "segments": segments,
        "window": None if window is None else window.evaluation,
        "passed": passed,
        "shown": None if found is None else _shown(found, at),
    }


def _shown(found: Found, at: DecideAddress) -> dict[str, Any]:
    """Words and drawings of what was found."""
    outcomes = found.outcomes
    return {
        "columns": [(kind, f"{kind}: {one.threshold:.6g}") for kind, one in outcomes.items()],
        "lines": [
            *(_line(metric, outcomes, at) for metric in outcomes["now"].estimates),
            _relied_on_line(found),
        ],
        "charts": [
            drawn
            for metric in (*(("money",) if at.value is not None else ()), *_DRAWN)
            if (drawn := _chart(metric, found, at))["chart"]
        ],
        "best_said": found.best_said,
        "snapped_said": found.chosen_said,
        "reviews": [] if found.reviews is None else _review_lines(found.reviews),
        "reviews_said": found.reviews_said,
        "reviews_refused": found.reviews_refused,
        "weighted": found.weighted,
    }


def _line(metric: str, outcomes: Mapping[Kind, Outcome], at: DecideAddress) -> _Line:
    """A line of the table: title, meaning, value and interval of each threshold."""
    cells = []
    for one in outcomes.values():
        value, low, high = one[metric].displayed
        if one[metric].undefined_reason is not None:
            cells.append(("–", one[metric].undefined_reason or ""))
        else:
            cells.append((amount(metric, value, currency=at.currency), interval_shown(low, high)))
    return (outcome_title(metric), MEANING.get(metric, ""), cells)


def _relied_on_line(found: Found) -> _Line:
    """What can be relied on of the criterion wherever the threshold is put."""
    cells = [("", interval_shown(low, high)) for low, high in found.relied_on.values()]
    heading = f"{outcome_title(found.criterion)}, whichever threshold is chosen"
    return (heading, "an interval that holds at all thresholds at once", cells)


def _chart(metric: str, found: Found, at: DecideAddress) -> dict[str, Any]:
    curve = found.curves[metric]
    heading = f"{outcome_title(metric)} by threshold"
    at_most = float(np.nextafter(curve.x[-1], np.inf))
    return {
        "heading": heading,
        "chart": _drawn(curve, metric, found.outcomes, title=heading, last=at_most),
        "columns": ["Threshold", outcome_title(metric), "95% interval"],
        "lines": [
            (
                number(float(curve.x[place])),
                amount(metric, float(curve.y[place]), currency=at.currency),
                interval_shown(float(curve.low[place]), float(curve.high[place])),
            )
            for place in _places(len(curve.x))
        ],
    }


def _drawn(
    curve: Curve, metric: str, outcomes: Mapping[Kind, Outcome], *, title: str, last: float
) -> Markup:
    return draw_curves(
        [Line(x=curve.x, y=curve.y, low=curve.low, high=curve.high)],
        title=title,
        identifier=f"{metric}-by-threshold".replace("_", "-"),
        x_title="Decision threshold",
        across=(float(curve.x[0]), last),
        upward=(0.0, 1.0) if metric in _SHARES else _reach(curve, outcomes, metric),
        places=[
            Place(one.threshold, f"{kind} {one.threshold:.6g}", kind)
            for kind, one in outcomes.items()
        ],
        dots=[_dot(one.threshold, one[metric]) for one in outcomes.values()],
    )


def _reach(curve: Curve, outcomes: Mapping[Kind, Outcome], metric: str) -> tuple[float, float]:
    """An axis for what can be read: where all cases are reviewed numbers are far from the rest."""
    top = 1.05 * float(np.max(curve.high))
    marked = [end for one in outcomes.values() for end in one[metric].displayed]
    if metric == "reviews":
        top = min(top, 2.5 * max(marked)) if max(marked) > 0 else top
    low = float(np.min(curve.low))
    if low >= 0:
        return 0.0, top if top > 0 else 1.0
    furthest = max(top, 1e-9, *(abs(one) for one in marked))
    return max(1.05 * low, -furthest), max(top, 0.1 * furthest)


def _dot(threshold: float, estimate: Estimate) -> Dot:
    value, low, high = estimate.displayed
    said = interval_shown(low, high)
    return Dot(x=threshold, y=value, low=low, high=high, text=f"{_text(value)} ({said})")


def _review_lines(found: ReviewOptions) -> list[dict[str, Any]]:
    best = {metric: found.best(metric).where for metric in found.now}
    return [
        {
            "where": WHERE[one.where],
            "cases": rows(one.cases),
            "positives": number(round(one.positives, 1)),
            "widths": [
                (_text(one.widths[metric]), best[metric] == one.where) for metric in _SHARES
            ],
        }
        for one in found.options
    ]


def _text(value: float) -> str:
    return number(value) if np.isfinite(value) else "–"


def _places(many: int) -> list[int]:
    even = np.linspace(0, many - 1, min(many, _MOST_LINES))
    return [int(one) for one in np.unique(even.round())]
