"""Rules with a limit: the condition, and the evidence of one window for it."""

from __future__ import annotations

from dataclasses import dataclass

from pumonitor.monitor.rules.alerts.by_series import RuleContext, SeriesCondition
from pumonitor.monitor.rules.alerts.false_discovery import one_sided_p_value
from pumonitor.monitor.rules.alerts.rule import Series, WindowView
from pumonitor.monitor.rules.alerts.states import Evidence
from pumonitor.monitor.rules.alerts.usable import (
    REACH,
    Side,
    interval_of,
    side_of,
    stated,
    unusable_in_one_window,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(SeriesCondition):
    """Breach: the whole interval is below, or above, the limit."""

    side: Side
    limit: float

    def evidence(self, view: WindowView, series: Series, context: RuleContext) -> Evidence:
        """Test whether the whole interval of a metric is beyond the limit."""
        rule = context.rule
        missing = unusable_in_one_window(view, series, rule.metric)
        if missing is not None:
            return missing
        now = interval_of(view.readings[series][rule.metric])
        kind = side_of(now, self.side, self.limit, rule.resolve_on)
        whole = "" if now.low == now.high else "all of it "
        words = {"breach": whole, "good": "not ", "insufficient": "which may be "}[kind]
        p_value = 1.0
        if kind == "breach":
            near_end = now.high if self.side == "below" else now.low
            p_value = one_sided_p_value(now.value, near_end=near_end, limit=self.limit, reach=REACH)
        return Evidence(
            window=view.window,
            kind=kind,
            value=now.value,
            low=now.low,
            high=now.high,
            limit=self.limit,
            reason=f"{stated(rule.metric, now)}, {words}{self.side} {self.limit:g}",
            p_value=p_value,
        )

    @property
    def fires(self) -> str:
        """When the rule fires."""
        return f"the interval is {self.side} {self.limit:g}"
