"""Decide: what thresholds bring, which is best, and which review would tell more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from pumonitor.decisions import Outcome, ReviewOptions
from pumonitor.monitor.charts.curves import Dot, Line, Place, draw_curves, over_thresholds
from pumonitor.monitor.dashboard.address import with_known_names
from pumonitor.monitor.dashboard.pages.decide_address import PER, DecideAddress
from pumonitor.monitor.dashboard.pages.decide_found import Found, Kind, stands_on
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.windows.evaluation.audited_windows import which_windows
from pumonitor.report.decision_words import (
    MEANING,
    WHERE,
    amount,
    impossible_said,
    outcome_texts,
    outcome_title,
)
from pumonitor.results import Curve
from pumonitor.text import count_text, given_text, interval_shown, marked, number_text

_SHARES: Final = ("precision", "recall", "f1")
_DRAWN: Final = (
    "f1",
    "precision",
    "recall",
    "reviews",
    "positives_caught",
    "positives_missed",
)
_SURE: Final = ("recall", "reviews")
"""Numbers that no class prior makes impossible."""
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
        "audit_windows": "" if window is None else _audit_windows(window.evaluation.evaluation),
        "passed": passed,
        "shown": None if found is None else _shown(found, at),
    }


def _audit_windows(evaluation: Mapping[str, Any]) -> str:
    """Which windows the audit was drawn from that the numbers are by; empty without one."""
    audit = evaluation.get("made_with", {}).get("audit")
    return "" if audit is None else which_windows(audit)


def _shown(found: Found, at: DecideAddress) -> dict[str, Any]:
    """Words and drawings of what was found."""
    outcomes = found.outcomes
    return {
        "columns": [(kind, f"{kind}: {_where(kind, one)}") for kind, one in outcomes.items()],
        "lines": [
            *(_line(metric, outcomes, at) for metric in outcomes["now"].estimates),
            _relied_on_line(found),
        ],
        "charts": [
            drawn
            for metric in (*(("money",) if at.value is not None else ()), *_DRAWN)
            if (drawn := _chart(metric, found, at))["chart"]
        ],
        "impossible_said": impossible_said({str(kind): one for kind, one in outcomes.items()}),
        "best_said": found.best_said,
        "snapped_said": found.chosen_said,
        "reviews": [] if found.reviews is None else _review_lines(found.reviews),
        "reviews_said": found.reviews_said,
        "reviews_refused": found.reviews_refused,
        "weighted": found.weighted,
        "audit": found.audit,
        "audit_method": found.audit_method,
    }


def _where(kind: Kind, outcome: Outcome) -> str:
    """The threshold; of the choice to review nobody, that it is."""
    if kind == "best" and outcome["reviews"].value == 0:
        return "review none"
    return given_text(outcome.threshold)


def _line(metric: str, outcomes: Mapping[Kind, Outcome], at: DecideAddress) -> _Line:
    """A line of the table: title, meaning, value and interval of each threshold."""
    cells = [outcome_texts(one, metric, currency=at.currency) for one in outcomes.values()]
    return (outcome_title(metric), MEANING.get(metric, ""), cells)


def _relied_on_line(found: Found) -> _Line:
    """What can be relied on of the criterion wherever the threshold is put."""
    cells = [
        ("", marked(interval_shown(*found.relied_on[kind]), one.reasons.get(found.criterion)))
        for kind, one in found.outcomes.items()
    ]
    heading = f"{outcome_title(found.criterion)}, whichever threshold is chosen"
    return (heading, "an interval that holds at all thresholds at once", cells)


def _chart(metric: str, found: Found, at: DecideAddress) -> dict[str, Any]:
    curve = found.curves[metric]
    heading = f"{outcome_title(metric)} by threshold"
    upward = (0.0, 1.0) if metric in _SHARES else _reach(curve, found.outcomes, metric)
    return {
        "heading": heading,
        "chart": _drawn(found, metric, title=heading, upward=upward),
        "note": " ".join(
            filter(None, [_beyond_said(curve, metric, upward, at), _marks_said(found, metric)])
        ),
        "columns": ["Threshold", outcome_title(metric), "95% interval"],
        "lines": [
            (
                number_text(float(curve.x[place])),
                amount(metric, float(curve.y[place]), currency=at.currency)
                + ("!" if _is_marked(found, metric, place) else ""),
                interval_shown(float(curve.low[place]), float(curve.high[place])),
            )
            for place in _places(len(curve.x))
        ],
    }


def _drawn(found: Found, metric: str, *, title: str, upward: tuple[float, float]) -> Markup:
    curve, outcomes, tops = found.curves[metric], found.outcomes, found.cells.tops
    x, y = over_thresholds(curve.x, tops, curve.y)
    low, high = (over_thresholds(curve.x, tops, of)[1] for of in (curve.low, curve.high))
    marked = [one.threshold for one in outcomes.values()]
    return draw_curves(
        [Line(x=x, y=y, low=low, high=high)],
        title=title,
        identifier=f"{metric}-by-threshold".replace("_", "-"),
        x_title="Decision threshold",
        across=(
            min(float(curve.x[0]), *marked),
            # The choice to review nobody lies beyond the highest score.
            max(float(np.nextafter(tops[-1], np.inf)), *marked),
        ),
        upward=upward,
        places=[
            Place(one.threshold, f"{kind} {_where(kind, one)}", kind)
            for kind, one in outcomes.items()
        ],
        dots=[_dot(one, metric) for one in outcomes.values()],
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


def _is_marked(found: Found, metric: str, place: int) -> bool:
    return metric not in _SURE and bool(found.cells.impossible[place])


def _marks_said(found: Found, metric: str) -> str:
    places = _places(len(found.cells.impossible))
    has_marks = any(_is_marked(found, metric, place) for place in places)
    return "!: impossible, or made of a number that is." if has_marks else ""


def _beyond_said(curve: Curve, metric: str, upward: tuple[float, float], at: DecideAddress) -> str:
    """That the line goes on where the drawing ends; "" where it does not."""
    ends = (float(np.nanmin(curve.y)), float(np.nanmax(curve.y)))
    said = [
        f"{direction} the drawing the line goes on to {amount(metric, end, currency=at.currency)}."
        for direction, end, is_beyond in (
            ("Below", ends[0], ends[0] < upward[0]),
            ("Above", ends[1], ends[1] > upward[1]),
        )
        if is_beyond
    ]
    return " ".join(said)


def _dot(outcome: Outcome, metric: str) -> Dot:
    value, low, high = outcome[metric].displayed
    shown, interval = outcome_texts(outcome, metric)
    return Dot(x=outcome.threshold, y=value, low=low, high=high, text=f"{shown} ({interval})")


def _review_lines(found: ReviewOptions) -> list[dict[str, Any]]:
    best = {metric: found.best(metric).where for metric in found.now}
    return [
        {
            "where": WHERE[one.where],
            "cases": count_text(one.cases),
            "positives": number_text(round(one.positives, 1)),
            "widths": [
                (number_text(one.widths[metric]), best[metric] == one.where) for metric in _SHARES
            ],
        }
        for one in found.options
    ]


def _places(many: int) -> list[int]:
    even = np.linspace(0, many - 1, min(many, _MOST_LINES))
    return [int(one) for one in np.unique(even.round())]
