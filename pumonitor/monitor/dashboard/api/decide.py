"""The decide page for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from pumonitor.decisions import Outcome
from pumonitor.errors import InputError
from pumonitor.monitor.dashboard.api.decide_answers import (
    CurveOfThresholds,
    Decided,
    DecidedEstimate,
    Interval,
    Threshold,
)
from pumonitor.monitor.dashboard.api.problems import ProblemError
from pumonitor.monitor.dashboard.api.queries import DecideQuery
from pumonitor.monitor.dashboard.api.reading import Reading
from pumonitor.monitor.dashboard.pages.decide_address import DecideAddress
from pumonitor.monitor.dashboard.pages.decide_found import Found, Kind, stands_on
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
    common: dict[str, Any] = {
        "monitor": name,
        "segment": at.segment,
        "passed": [one.window.start for one in passed],
    }
    if window is not None:
        of = window.evaluation
        common |= {"window_start": of.window.start, "window_end": of.window.end}
        common |= {"model_version": of.model_version, "state": of.state, "revision": of.revision}

    def computed() -> Decided:
        found = None if window is None else window.found(site, at)
        if found is None:
            return Decided(**common)
        thresholds = [_threshold(kind, one, found) for kind, one in found.outcomes.items()]
        curves = {name: _curve(curve) for name, curve in found.curves.items()}
        return Decided.from_record(found, **common, thresholds=thresholds, curves=curves)

    return computed


def _threshold(kind: Kind, outcome: Outcome, found: Found) -> Threshold:
    low, high = found.relied_on[kind]
    return Threshold(
        kind=kind,
        threshold=outcome.threshold,
        estimates={
            name: _estimate(of, outcome.reasons.get(name)) for name, of in outcome.estimates.items()
        },
        relied_on=Interval(low=low, high=high),
    )


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
