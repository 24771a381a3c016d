"""Fold a rule over its windows: evidence and states of each of its alerts, kept in memory."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    KnownReference,
    Reading,
    Series,
    WindowView,
)
from pumonitor.monitor.rules.alerts.states import UNKNOWN, AlertState, Evidence, step
from pumonitor.monitor.rules.reference.one_prior import AUDITED_SHARE
from pumonitor.text import percent_text

_LEAST_READ: Final = 0.25
FOUR_LOOKS: Final = 1.3
"""How many times as wide intervals are that hold at four looks together.

For exact intervals it would be 2.361 / 1.960 (Pocock 1977, table 1). Those of a part of an audit
miss in up to 8% where they should in 5: with 1.20 something was wrong at one of four looks in 6 to
8% of audits, with 1.3 in 4 to 6% (``python -m benchmarks.audits --only looks``).
"""


class RuleFold:
    """Evidence and states of a rule's alerts after each window, in order of time.

    Both are functions of the windows alone. They are kept, so that a new or revised window requires
    a fold of the windows from it on, not of the earlier ones.

    Parameters
    ----------
    rule : AlertRule
    known_reference : KnownReference or None
        The monitor's reference.

    Attributes
    ----------
    evidence : list of mapping of series to Evidence
        One entry per window.
    states : list of mapping of series to AlertState
        One entry per window. A series is included from the first window that has it.
    """

    def __init__(self, rule: AlertRule, *, known_reference: KnownReference | None = None) -> None:
        self.rule = rule
        self.known_reference = known_reference
        self.evidence: list[Mapping[Series, Evidence]] = []
        self.states: list[Mapping[Series, AlertState]] = []
        self._tests = rule.condition.tests(self)

    def refold(self, views: Sequence[WindowView], start: int) -> None:
        """Fold the windows from `start` on again. Earlier windows must be unchanged."""
        if self.rule.audited:
            views = [audited_view(one, self.rule.metric) for one in views]
        del self.evidence[start:], self.states[start:]
        for index in range(start, len(views)):
            before = self.states[-1] if self.states else {}
            found = self._tests(views, index)
            self.evidence.append(found)
            self.states.append(
                {
                    series: step(
                        before.get(series, UNKNOWN),
                        one,
                        windows=self.rule.windows,
                        keep=self.rule.keep,
                    )
                    for series, one in found.items()
                }
            )

    def reads(self, view: WindowView) -> Hashable:
        """Return everything that the rule reads of a window; if it is equal, no fold is needed."""
        condition = self.rule.condition
        return (
            view.failed,
            condition.reads(view, self.known_reference),
            frozenset(
                (series, tuple(readings.get(metric) for metric in self.rule.metrics))
                for series, readings in view.readings.items()
                if condition.is_of_all_rows or self.rule.covers(series)
            ),
        )


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
        decided = percent_text(read.value)
        why = f"{decided} of the cases of its audit have a verdict, and a quarter must"
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
