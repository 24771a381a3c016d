"""Whether a window has a number that a rule can go by, and why not."""

from __future__ import annotations

from pumonitor.monitor.rules.alerts.rule import Reading, Series, WindowView, metric_title, shown
from pumonitor.monitor.rules.alerts.states import Evidence

__all__ = ["unfit_to_judge", "unusable"]


def unusable(view: WindowView, series: Series, metric: str) -> Evidence | None:
    """Why a window has no usable value of the metric; None where it has one."""
    if view.failed:
        reason = "the window could not be evaluated"
        return Evidence(window=view.window, kind="error", reason=reason)
    readings = view.readings.get(series)
    if readings is None:
        return Evidence(window=view.window, kind="no_data", reason="there are no predictions")
    reading = readings.get(metric)
    if reading is None or reading.value is None:
        why = "it was not evaluated" if reading is None else reading.reason
        reason = f"{metric_title(metric)} is undefined: {why}"
        return Evidence(window=view.window, kind="insufficient", reason=reason)
    if reading.assumed:
        reason = f"{metric_title(metric)} is assumed to be {shown(reading.value)} and not measured"
        return Evidence(window=view.window, kind="insufficient", reason=reason)
    return _no_evidence(view, reading) if reading.impossible else None


def _no_evidence(view: WindowView, reading: Reading) -> Evidence:
    """Of a number that cannot be right: it neither fires nor resolves."""
    return Evidence(
        window=view.window,
        kind="insufficient",
        value=reading.value,
        low=reading.low,
        high=reading.high,
        reason=reading.reason,
    )


def unfit_to_judge(view: WindowView, series: Series, metric: str) -> Evidence | None:
    """As `unusable`; here numbers just outside what is possible say nothing either.

    A detector and a mean over windows take these as they were estimated, since leaving them out
    would leave only the lower ones. A single window is shown its number held to the end of the
    range, and what that is compared with is no estimate any more.
    """
    missing = unusable(view, series, metric)
    if missing is None and view.readings[series][metric].reason:
        return _no_evidence(view, view.readings[series][metric])
    return missing
