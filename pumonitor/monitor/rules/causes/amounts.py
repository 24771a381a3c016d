"""Sizes of changes as text: ratios, differences and the mix of the traffic."""

from __future__ import annotations

from pumonitor.monitor.rules.causes.named import Size
from pumonitor.monitor.rules.causes.period import Period
from pumonitor.text import percent_text, signed_text, with_interval


def ratio(size: Size) -> str:
    """A ratio with its interval."""
    return with_interval(size.change, size.low, size.high)


def change(size: Size) -> str:
    """A difference with its interval, both with their signs."""
    return with_interval(size.change, size.low, size.high, as_text=signed_text)


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
    return f"{name} went from {percent_text(then)} to {percent_text(today)} of all rows"
