"""Sizes of changes as text: ratios, differences, spans of time, and the mix of the traffic."""

from __future__ import annotations

from typing import Final

from pumonitor.monitor.rules.causes.named import Size
from pumonitor.monitor.rules.causes.period import Period

_DAY: Final = 86_400.0
_HOUR: Final = 3_600.0


def ratio(size: Size) -> str:
    """A ratio with its interval."""
    return f"{size.change:.2f} ({size.low:.2f} to {size.high:.2f})"


def change(size: Size) -> str:
    """A difference with its interval, both with their signs."""
    return f"{size.change:+.3f} ({size.low:+.3f} to {size.high:+.3f})"


def span(seconds: float) -> str:
    """Days, or hours of less than one day."""
    return f"{seconds / _DAY:.1f} days" if seconds >= _DAY else f"{seconds / _HOUR:.1f} hours"


def traffic(before: Period, now: Period) -> str:
    """The segment whose share of the rows changed most, with both shares."""
    totals = [
        sum(float(part[1].sum()) for part in period.traffic.values()) for period in (before, now)
    ]

    def shares(name: str) -> list[float]:
        return [
            float(period.traffic[name][1].sum()) / total if name in period.traffic else 0.0
            for period, total in zip((before, now), totals, strict=True)
        ]

    name = max(
        sorted({*before.traffic, *now.traffic}),
        key=lambda one: abs(shares(one)[1] - shares(one)[0]),
    )
    then, today = shares(name)
    return f"{name} went from {then:.0%} to {today:.0%} of all rows"
