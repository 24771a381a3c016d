"""Decide: what thresholds bring, which is best, and which review would tell more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from pumonitor.decisions import (
    Decision,
    Outcome,
    ReviewOptions,
    decision_of,
    nearest_threshold,
    review_refusal,
    threshold_of_capacity,
)
from pumonitor.metrics.problem import Problem
from pumonitor.monitor.charts.curves import Dot, Line, Place, draw_curves
from pumonitor.monitor.dashboard.pages.decide_address import PER, DecideAddress
from pumonitor.monitor.dashboard.pages.decide_evidence import mature_evaluations
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.in_words import interval_shown
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.reports.window_problem import WindowProblem, window_problem
from pumonitor.ports import Window
from pumonitor.report.decision_words import (
    MEANING,
    WHERE,
    amount,
    best_said,
    outcome_title,
    review_said,
)
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
_DAY: Final = 86_400.0
_Line = tuple[str, str, Sequence[tuple[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What is computed once for each address and revision."""

    columns: Sequence[tuple[str, str]]
    lines: Sequence[_Line]
    charts: Sequence[dict[str, Any]]
    best_said: str
    snapped_said: str
    reviews: Sequence[dict[str, Any]]
    reviews_said: str
    reviews_refused: str
    weighted: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _StandsOn:
    """The window that the page stands on: what is kept of it, else what it is computed from."""

    evaluation: StoredEvaluation
    key: tuple[Any, ...]
    kept: _Shown | None
    restored: WindowProblem | None


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
    at = DecideAddress.read(query, zone=zone)
    with site.at_once() as ledger:
        series = ledger.newest_results(monitors=[name], metrics=["predictions"])
        window, passed = _newest_with_estimates(site, ledger, name, at)
    shown = None if window is None else window.kept
    if window is not None and window.restored is not None:
        # After the snapshot: PostgreSQL ends a transaction that waits long for its next statement.
        compute = partial(_shown, window.restored, window.evaluation.window, at)
        shown = site.kept.get(window.key, compute)
    return {
        "monitor": name,
        "zone": zone,
        "at": at,
        "per": PER,
        "versions": sorted(set(series.model_version)),
        "segments": sorted({one for one in series.segment if one}),
        "window": None if window is None else window.evaluation,
        "passed": passed,
        "shown": shown,
    }


def _newest_with_estimates(
    site: Site, ledger: Ledger, name: str, at: DecideAddress
) -> tuple[_StandsOn | None, Sequence[StoredEvaluation]]:
    """The window that the page stands on, and newer ones that have no estimates."""
    passed: list[StoredEvaluation] = []
    for one in mature_evaluations(ledger, name, at):
        of = (one.window_key, one.revision, one.model_version, one.segment)
        key = ("decide", of, at.key())
        kept: _Shown | None = site.kept.find(key)
        restored = window_problem(one, ledger) if kept is None else None
        if kept is not None or restored is not None:
            return _StandsOn(evaluation=one, key=key, kept=kept, restored=restored), passed
        passed.append(one)
    return None, passed


def _shown(restored: WindowProblem, of: Window, at: DecideAddress) -> _Shown:
    problem = restored.problem
    days = (of.end - of.start).total_seconds() / _DAY
    other, snapped = _other_threshold(problem, at, days=days)
    found = decision_of(
        problem, restored.threshold, other_threshold=other, value=at.value, cost=at.cost
    )
    marked = {"now": found.now, "chosen": found.chosen, "best": found.best}
    outcomes = {kind: one for kind, one in marked.items() if one is not None}
    refused = review_refusal(problem)
    reviews = None if refused else found.reviews(at.cases)
    return _Shown(
        columns=[(kind, f"{kind}: {one.threshold:.6g}") for kind, one in outcomes.items()],
        lines=[
            *(_line(metric, outcomes, at) for metric in found.now.estimates),
            _band_line(outcomes, found),
        ],
        charts=[
            drawn
            for metric in (*(("money",) if at.value is not None else ()), *_DRAWN)
            if (drawn := _chart(metric, found, outcomes, at))["chart"]
        ],
        best_said=best_said(found, currency=at.currency),
        snapped_said=snapped,
        reviews=[] if reviews is None else _review_lines(reviews),
        reviews_said="" if reviews is None else review_said(reviews),
        reviews_refused=refused,
        weighted=problem.table.weights is not None,
    )


def _other_threshold(
    problem: Problem, at: DecideAddress, *, days: float
) -> tuple[float | None, str]:
    """The threshold asked for or that the capacity allows, and what was done to it in words."""
    if at.threshold is not None:
        found = nearest_threshold(problem.table, at.threshold)
        if found == at.threshold:
            return found, ""
        return found, (
            f"Rows are counted by score, and {at.threshold:g} lies between two counts: "
            f"{found:.6g} is shown."
        )
    if at.capacity is None:
        return None, ""
    rows_held = float(problem.population.sum())
    cases = at.capacity * (days if at.per == "day" else 1.0)
    share = at.capacity / 100 if at.per == "share" else cases / rows_held
    if share >= 1:
        return float(problem.table.lower[0]), "Every case can be reviewed."
    found = threshold_of_capacity(problem, share)
    return found, (
        f"{number(share * rows_held)} cases a window can be reviewed: from a score of "
        f"{found:.6g} on there are no more."
    )


def _line(metric: str, outcomes: Mapping[str, Outcome], at: DecideAddress) -> _Line:
    """A line of the table: title, meaning, value and interval of each threshold."""
    cells = []
    for one in outcomes.values():
        value, low, high = one[metric].displayed
        if one[metric].undefined_reason is not None:
            cells.append(("–", one[metric].undefined_reason or ""))
        else:
            cells.append((amount(metric, value, currency=at.currency), interval_shown(low, high)))
    return (outcome_title(metric), MEANING.get(metric, ""), cells)


def _band_line(outcomes: Mapping[str, Outcome], found: Decision) -> _Line:
    """What can be relied on of the criterion wherever the threshold is put."""
    choice = found.choice
    cells = []
    for kind, one in outcomes.items():
        low, high = choice.band(one[choice.criterion])
        if kind == "best":
            low, high = choice.low, choice.high
        cells.append(("", interval_shown(low, high)))
    heading = f"{outcome_title(choice.criterion)}, whichever threshold is chosen"
    return (heading, "an interval that holds at all thresholds at once", cells)


def _chart(
    metric: str, found: Decision, outcomes: Mapping[str, Outcome], at: DecideAddress
) -> dict[str, Any]:
    curve = found.curves[f"{metric}_by_threshold"]
    heading = f"{outcome_title(metric)} by threshold"
    at_most = float(np.nextafter(curve.x[-1], np.inf))
    return {
        "heading": heading,
        "chart": _drawn(curve, metric, outcomes, title=heading, last=at_most),
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
    curve: Curve, metric: str, outcomes: Mapping[str, Outcome], *, title: str, last: float
) -> Markup:
    return draw_curves(
        [Line(x=curve.x, y=curve.y, low=curve.low, high=curve.high)],
        title=title,
        identifier=f"{metric}-by-threshold".replace("_", "-"),
        x_title="Decision threshold",
        across=(float(curve.x[0]), last),
        upward=(0.0, 1.0) if metric in _SHARES else _reach(curve, outcomes, metric),
        places=[
            Place(one.threshold, f"{kind} {one.threshold:.6g}", kind)  # type: ignore[arg-type]
            for kind, one in outcomes.items()
        ],
        dots=[_dot(one.threshold, one[metric]) for one in outcomes.values()],
    )


def _reach(curve: Curve, outcomes: Mapping[str, Outcome], metric: str) -> tuple[float, float]:
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
