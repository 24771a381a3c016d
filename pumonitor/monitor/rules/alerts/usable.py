"""Whether a window has a usable value of a metric, on which side of a limit it is, and in words."""

from __future__ import annotations

import math
from typing import Final, Literal

from scipy import special

from pumonitor.monitor.rules.alerts.rule import Reading, Series, WindowView
from pumonitor.monitor.rules.alerts.states import Evidence, EvidenceKind
from pumonitor.monitor.rules.reference.uncertain import Uncertain
from pumonitor.names import COUNTS, title
from pumonitor.text import count_text, given_text, with_interval

REACH: Final = float(special.ndtri(0.975))

Side = Literal["below", "above"]


def unusable(view: WindowView, series: Series, metric: str) -> Evidence | None:
    """Evidence with the reason why a window has no usable value of the metric; None if it has."""
    if view.failed:
        reason = "the window could not be evaluated"
        return Evidence(window=view.window, kind="error", reason=reason)
    readings = view.readings.get(series)
    if readings is None:
        return Evidence(window=view.window, kind="no_data", reason="there are no predictions")
    reading = readings.get(metric)
    if reading is None or reading.value is None:
        why = "the metric was not evaluated" if reading is None else reading.reason
        reason = f"{title(metric)} is undefined: {why}"
        return Evidence(window=view.window, kind="insufficient", reason=reason)
    if reading.assumed:
        reason = (
            f"{title(metric)} is assumed to be {given_text(reading.value)} and is not estimated"
        )
        return Evidence(window=view.window, kind="insufficient", reason=reason)
    return _no_evidence(view, reading) if reading.impossible else None


def _no_evidence(view: WindowView, reading: Reading) -> Evidence:
    """Evidence of an infeasible value, which neither fires nor resolves an alert."""
    return Evidence(
        window=view.window,
        kind="insufficient",
        value=reading.value,
        low=reading.low,
        high=reading.high,
        reason=reading.reason,
    )


def unusable_in_one_window(view: WindowView, series: Series, metric: str) -> Evidence | None:
    """Like `unusable`, but values infeasible by chance are unusable too.

    Detectors and means over windows use such a value unclipped; without it their values would be
    biased downwards. A rule that tests one window would use the clipped value, which is no
    estimate.
    """
    missing = unusable(view, series, metric)
    if missing is None and view.readings[series][metric].reason:
        return _no_evidence(view, view.readings[series][metric])
    return missing


def interval_of(reading: Reading) -> Uncertain:
    """The value of a reading with its interval; without an interval it counts as exact."""
    value = math.nan if reading.value is None else reading.value
    low = value if reading.low is None else reading.low
    high = value if reading.high is None else reading.high
    se = (high - low) / (2 * REACH) if reading.se is None else reading.se
    return Uncertain(value=value, low=low, high=high, se=se)


def side_of(number: Uncertain, side: Side, limit: float, resolve_on: str) -> EvidenceKind:
    """On which side of a limit a metric is, with its whole interval or as `resolve_on` says."""
    if side == "below":
        bad = number.high < limit
        good = (number.value if resolve_on == "estimate" else number.low) >= limit
    else:
        bad = number.low > limit
        good = (number.value if resolve_on == "estimate" else number.high) <= limit
    return "breach" if bad else "good" if good else "insufficient"


def stated(metric: str, now: Uncertain) -> str:
    """The metric with its value and interval, as a clause."""
    if metric in COUNTS:
        return f"there are {count_text(now.value)} {title(metric).lower()}"
    return f"{title(metric)} is {with_interval(now.value, now.low, now.high)}"
