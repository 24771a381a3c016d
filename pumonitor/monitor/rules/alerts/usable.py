"""Whether a window has a usable value of a metric, and why not."""

from __future__ import annotations

from pumonitor.monitor.rules.alerts.rule import Reading, Series, WindowView, shown
from pumonitor.monitor.rules.alerts.states import Evidence
from pumonitor.names import title


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
        reason = f"{title(metric)} is assumed to be {shown(reading.value)} and is not estimated"
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
