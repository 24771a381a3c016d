"""Windows as rules with `evidence: audited` see them: those an audit was drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pumonitor.monitor.rules.alerts.rule import AUDITED_SHARE, Reading, WindowView

_LEAST_READ: Final = 0.25

FOUR_LOOKS: Final = 1.3
"""How many times as wide intervals are that hold at four looks together.

For exact intervals it would be 2.361 / 1.960 (Pocock 1977, table 1). Those of a part of an audit
miss in up to 8% where they should in 5: with 1.20 something was wrong at one of four looks in 6 to
8% of audits, with 1.3 in 4 to 6% (``python -m benchmarks.audits --only looks``).
"""


def audited_view(view: WindowView, metric: str) -> WindowView:
    """The window without a value of the metric, unless a quarter of its audit has been read.

    Verdicts come in one after the other, and each can be a look at the same window. So intervals
    are as wide as they must be for four looks, at a quarter, half, three quarters and all of the
    verdicts.
    """
    return replace(
        view,
        readings={series: _audited(own, metric) for series, own in view.readings.items()},
    )


def _audited(readings: Mapping[str, Reading], metric: str) -> Mapping[str, Reading]:
    read = readings.get(AUDITED_SHARE)
    if read is None or read.value is None:
        why = "no audit was drawn from the window"
    elif read.value < _LEAST_READ:
        why = f"{read.value:.0%} of the cases of its audit have a verdict, and a quarter must"
    else:
        return {name: _for_looks(one) for name, one in readings.items()}
    return {**readings, metric: Reading(value=None, reason=why)}


def _for_looks(one: Reading) -> Reading:
    if one.value is None or one.low is None or one.high is None:
        return one
    return replace(
        one,
        low=one.value - FOUR_LOOKS * (one.value - one.low),
        high=one.value + FOUR_LOOKS * (one.high - one.value),
        se=None if one.se is None else FOUR_LOOKS * one.se,
    )
