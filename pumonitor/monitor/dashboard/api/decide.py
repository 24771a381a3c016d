"""The decide page for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pumonitor.errors import InputError
from pumonitor.monitor.dashboard.api.decide_answers import (
    CurveOfThresholds,
    Decided,
    DecidedEstimate,
    Interval,
    Review,
    Reviews,
    Threshold,
)
from pumonitor.monitor.dashboard.api.problems import ProblemError
from pumonitor.monitor.dashboard.api.queries import DecideQuery
from pumonitor.monitor.dashboard.api.reading import Reading
from pumonitor.monitor.dashboard.pages.decide_address import DecideAddress
from pumonitor.monitor.dashboard.pages.decide_found import Found, StandsOn, stands_on
from pumonitor.results import Curve, Estimate


def decide_answer(
    reading: Reading, path: Mapping[str, str], query: DecideQuery
) -> Callable[[], Decided]:
    """What computes the answer, to be called after the snapshot.

    Raises
    ------
    ProblemError
        If two things that are asked exclude each other.
    """
    name, site = reading.seen(path["monitor"]), reading.site
    asked = {
        key: str(value)
        for key, value in query.model_dump(exclude_none=True, exclude={"until"}).items()
    }
    until = query.moment("until")
    if until is not None:
        asked["until"] = until.isoformat()
    try:
        at = DecideAddress.read(asked, zone=site.zone(name))
    except InputError as error:
        raise ProblemError(HTTPStatus.CONFLICT, str(error)) from None
    window, passed = stands_on(site, reading.ledger, name, at)
    common = {
        "monitor": name,
        "segment": at.segment,
        "passed": [one.window.start for one in passed],
        **_window(window),
    }

    def computed() -> Decided:
        found = None if window is None else window.found(site, at)
        return Decided(**common, **_numbers(found))

    return computed


def _window(on: StandsOn | None) -> dict[str, Any]:
    if on is None:
        names = ("model_version", "window_start", "window_end", "state", "revision")
        return dict.fromkeys(names)
    of = on.evaluation
    return {
        "model_version": of.model_version,
        "window_start": of.window.start,
        "window_end": of.window.end,
        "state": of.state,
        "revision": of.revision,
    }


def _numbers(found: Found | None) -> dict[str, Any]:
    if found is None:
        empty: dict[str, Any] = {"thresholds": [], "criterion": None, "curves": {}, "reviews": None}
        empty |= {"audit_method": None}
        return empty | dict.fromkeys(("best_said", "chosen_said", "reviews_refused", "audit"), "")
    return {
        "thresholds": [
            Threshold(
                kind=kind,
                threshold=one.threshold,
                estimates={
                    name: _estimate(of, one.reasons.get(name)) for name, of in one.estimates.items()
                },
                relied_on=_interval(found.relied_on[kind]),
            )
            for kind, one in found.outcomes.items()
        ],
        "criterion": found.criterion,
        "best_said": found.best_said,
        "chosen_said": found.chosen_said,
        "curves": {name: _curve(one) for name, one in found.curves.items()},
        "reviews": _reviews(found),
        "reviews_refused": found.reviews_refused,
        "audit": found.audit,
        "audit_method": found.audit_method,
    }


def _interval(ends: Sequence[float]) -> Interval:
    low, high = ends
    return Interval(low=low, high=high)


def _estimate(of: Estimate, why: str | None) -> DecidedEstimate:
    value, low, high = of.displayed
    return DecidedEstimate(
        value=value,
        low=low,
        high=high,
        undefined_reason=of.undefined_reason,
        infeasible_reason=why,
    )


def _curve(of: Curve) -> CurveOfThresholds:
    return CurveOfThresholds(
        threshold=of.x.tolist(), value=of.y.tolist(), low=of.low.tolist(), high=of.high.tolist()
    )


def _reviews(found: Found) -> Reviews | None:
    if found.reviews is None:
        return None
    return Reviews(
        now=dict(found.reviews.now),
        options=[
            Review(
                where=one.where,
                cases=one.cases,
                positives=one.positives,
                widths=dict(one.widths),
            )
            for one in found.reviews.options
        ],
    )
