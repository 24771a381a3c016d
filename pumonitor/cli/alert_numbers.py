"""Format the numbers of an alert: value, interval, limit and reference, with units."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

_SHARES: Final = ("health:unmatched_labels",)
_OF_MATURITY: Final = ("health:label_delay",)
_ROWS: Final = ("health:no_data", "health:volume")
_TIMES: Final = ("health:stale",)


def alert_numbers(
    metric: str,
    *,
    value: float | None,
    low: float | None,
    high: float | None,
    limit: float | None,
    reference: float | None,
) -> str:
    """Format the value with its interval, then the limit, then the reference.

    Examples
    --------
    >>> alert_numbers("auc", value=0.71, low=0.68, high=0.75, limit=0.78, reference=0.83)
    '0.71 (0.68 to 0.75), limit 0.78, reference 0.83'
    >>> alert_numbers("health:label_delay", value=0.3, low=0.2, high=0.4, limit=0.15, reference=0.1)
    '30% of the maturity (20% to 40%), limit 15%, reference 10%'
    """
    if value is None:
        return ""
    parts = [interval(value, low, high, metric=metric)]
    parts += [
        f"{name} {number(one, metric=metric)}"
        for name, one in (("limit", limit), ("reference", reference))
        if one is not None
    ]
    return ", ".join(parts)


def interval(value: float, low: float | None, high: float | None, *, metric: str = "") -> str:
    """Format a value with its unit and, if it has one, its interval."""
    unit = " of the maturity" if metric in _OF_MATURITY else ""
    unit = " predictions" if metric in _ROWS else unit
    text = f"{number(value, metric=metric)}{unit}"
    if low is None or high is None or low == high:
        return text
    return f"{text} ({number(low, metric=metric)} to {number(high, metric=metric)})"


def number(value: float, *, metric: str = "") -> str:
    """Format a number: shares of labels and of the maturity in percent, waits as durations."""
    if metric in _TIMES:
        from pumonitor.monitor.config.values.durations import shown_duration

        return shown_duration(timedelta(minutes=round(value / 60)))
    if metric in (*_SHARES, *_OF_MATURITY):
        return f"{100 * value:.3g}%"
    from pumonitor.monitor.rules.alerts.rule import shown

    return shown(value)
