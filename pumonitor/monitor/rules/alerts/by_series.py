"""Conditions that test each series of a window, and segments tested together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from pumonitor.monitor.rules.alerts.false_discovery import rejected
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    Condition,
    KnownReference,
    Series,
    Tests,
    WindowView,
    earlier_windows,
)
from pumonitor.monitor.rules.alerts.states import Evidence
from pumonitor.monitor.rules.alerts.usable import unusable
from pumonitor.names import title

if TYPE_CHECKING:
    from pumonitor.monitor.rules.alerts.fold import RuleFold


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleContext:
    """What a series is tested with besides its window.

    Attributes
    ----------
    rule : AlertRule
    before : sequence of WindowView
        Earlier windows, of the time that the condition asks for.
    known_reference : KnownReference or None
        The monitor's reference.
    """

    rule: AlertRule
    before: Sequence[WindowView] = ()
    known_reference: KnownReference | None = None


class SeriesCondition(Condition):
    """A condition that each series of a window is tested for."""

    __slots__ = ()

    over: timedelta | None = None
    """Windows of this time before are read as well."""

    @abstractmethod
    def evidence(self, view: WindowView, series: Series, context: RuleContext) -> Evidence:
        """Test the window of a series; the series may be missing from it."""

    def tests(self, fold: RuleFold) -> Tests:
        """Test every series seen so far; of segments that are bad, only few may be so by chance."""
        rule = fold.rule

        def evidence(views: Sequence[WindowView], index: int) -> Mapping[Series, Evidence]:
            view, seen = views[index], fold.states[-1] if fold.states else {}
            context = RuleContext(
                rule=rule,
                before=earlier_windows(views, index, self.over),
                known_reference=fold.known_reference,
            )
            found = {
                series: self.evidence(view, series, context)
                # Sorted, so that the result does not depend on the order of the series.
                for series in sorted({*seen, *filter(rule.covers, view.readings)})
            }
            return _few_false_discoveries(found, rule.false_discovery_rate) if rule.per else found

        return evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing(SeriesCondition):
    """Breach: the window has no usable value of the metric."""

    is_of_all_rows = True
    fires = "there is no usable value"

    def evidence(self, view: WindowView, series: Series, context: RuleContext) -> Evidence:
        """A breach if there is no usable value, unless another model version has taken over."""
        metric = context.rule.metric
        found = unusable(view, series, metric)
        reading = view.readings.get(series, {}).get(metric)
        if found is None or (reading is not None and reading.assumed):
            value = None if reading is None else reading.value
            return Evidence(
                window=view.window, kind="good", value=value, reason="the metric has a value"
            )
        if found.kind == "no_data" and any(
            other != series and other[1] == series[1] for other in view.readings
        ):
            reason = "another model version has replaced this one"
            return Evidence(window=view.window, kind="no_data", reason=reason)
        return Evidence(window=view.window, kind="breach", reason=found.reason)

    def sentence(self, rule: AlertRule, evidence: Evidence) -> str:
        """With the number of windows that have none."""
        reason = super(Missing, self).sentence(rule, evidence)
        if evidence.kind != "breach":
            return reason
        return f"no usable {title(rule.metric)} in {rule.windows} windows: {reason}"


def _few_false_discoveries(
    segments: Mapping[Series, Evidence], rate: float
) -> dict[Series, Evidence]:
    """Turn breaches that Benjamini-Hochberg does not reject into "insufficient" evidence.

    A segment stays a breach only if its interval is beyond the limit and its hypothesis is
    rejected. Other segments enter the procedure with a p-value of 1, which keeps it valid. A breach
    without a value is no test.
    """
    asked = {
        series: tested.p_value
        for series, tested in segments.items()
        if tested.kind in ("breach", "good", "insufficient") and tested.value is not None
    }
    stand_up: set[Series] = set()
    for version in {series[0] for series in asked}:
        own = {series: p for series, p in asked.items() if series[0] == version}
        stand_up |= rejected(own, rate=rate)
    by_chance = f", which may be chance as there are {len(segments)} segments"
    return {
        series: replace(
            tested, kind="insufficient", reason=f"{tested.reason}{by_chance}", since=None, p_value=1
        )
        if tested.kind == "breach" and tested.value is not None and series not in stand_up
        else tested
        for series, tested in segments.items()
    }
