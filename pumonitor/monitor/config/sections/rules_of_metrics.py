"""Rules on a metric: a limit, a comparison, a small change that lasts."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from pumonitor.errors import if_percent
from pumonitor.monitor.config.sections.rule_values import (
    Change,
    ChangeGiven,
    ComparedWith,
    Destinations,
    Direction,
    Level,
    Metric,
    Rate,
    Repeat,
    Runbook,
)
from pumonitor.monitor.config.values.kinds import Number, Part, Text
from pumonitor.names import COUNTS

__all__ = [
    "DETECTORS",
    "AnyRule",
    "ChangeRule",
    "LimitRule",
    "MetricRule",
    "SegmentRule",
    "ShiftRule",
    "WindowRule",
]

_NOT_SHARES: Final = (*COUNTS, "lift_at_k", "ll_score")
_CORRELATIONS: Final = ("mcc", "mcc_max", "mcc_pu")
_BET_ON: Final = ("aul", "auc", "recall")
DETECTORS: Final = ("shiryaev-roberts", "cusum", "betting")
"""Those of `pumonitor.monitor.rules.detectors`, the default first; scipy is loaded with them."""

Severity = Literal["info", "warning", "critical"]


class AnyRule(Part):
    """What every rule may have.

    Attributes
    ----------
    severity : "info", "warning" or "critical"
        How grave the alert is; messages carry it, and ``run --fail-on-alert`` looks at critical
        alerts.
    to : tuple of str or None
        Names of the destinations that are notified; all of them without it.
    repeat : timedelta or None
        How long after the last message a reminder of an alert that still fires is sent; ``never``
        sends none.
    runbook : str or None
        Address of a page that says what to do; messages link to it.
    name : str or None
        What messages call the rule; its meaning in words without it.
    """

    severity: Severity = "critical"
    to: Destinations | None = None
    repeat: Repeat = timedelta(days=7)
    runbook: Runbook | None = None
    name: Text | None = None


class WindowRule(AnyRule):
    """What every rule may have that looks at windows.

    Attributes
    ----------
    windows : int
        How many bad windows in a row it takes to fire. A window that says neither good nor bad does
        not interrupt the row.
    keep : int
        How many further good windows it takes, after the first good one, to resolve the alert.
    provisional : bool
        Whether windows are judged before their labels are mature.
    """

    windows: Annotated[int, Field(ge=1)] = Field(1, alias="for")
    keep: Annotated[int, Field(ge=0)] = 0
    provisional: bool = False


class SegmentRule(WindowRule):
    """What rules may have that look at segments.

    Attributes
    ----------
    segment : mapping of str to str, or None
        Judge only the rows of one segment, such as ``{country: DE}``, in place of all rows.
    per : str or None
        Judge every segment of this column, each with an alert of its own.
    false_discovery_rate : float
        With ``per``: which share of the segments that are reported as bad may be false, on average.
    """

    segment: dict[Text, Text] | None = None
    per: Text | None = None
    false_discovery_rate: Rate = 0.05

    @model_validator(mode="after")
    def _of_segments(self) -> SegmentRule:
        if self.per is not None and self.segment is not None:
            msg = "has per and segment: one alert for each segment, or for one of them"
            raise ValueError(msg)
        if self.segment is not None and len(self.segment) != 1:
            msg = f"has a segment of {len(self.segment)} columns: name one, such as {{country: DE}}"
            raise ValueError(msg)
        if "false_discovery_rate" in self.model_fields_set and self.per is None:
            msg = "has false_discovery_rate, which goes with per"
            raise ValueError(msg)
        return self


class MetricRule(SegmentRule):
    """What rules on a metric may have.

    Attributes
    ----------
    metric : str
        What the rule judges: the name of an estimate, or of a number of rows
        (``labeled_positives``, ``predictions``).
    resolve_on : "interval" or "estimate"
        What must be back on the good side of the limit to resolve an alert: the whole interval, or
        the estimate alone, which is sooner and less sure.
    stale_for : int or None
        After so many windows in a row without a usable value of the metric, an alert of its own
        fires.
    """

    metric: Metric
    resolve_on: Literal["interval", "estimate"] = "interval"
    stale_for: Annotated[int, Field(ge=1)] | None = None


class _WithWarning(MetricRule):
    """What rules with a limit may have.

    Attributes
    ----------
    warning : float, Change or None
        A second, milder limit. Beyond it an alert of severity warning fires; beyond the rule's own
        limit one of severity critical.
    """

    warning: ChangeGiven | None = None

    def _refuse_severity(self) -> None:
        set_apart = "severity" in self.model_fields_set and self.severity != "critical"
        if self.warning is not None and set_apart:
            msg = f"has a warning, so that its own limit is critical and not {self.severity}"
            raise ValueError(msg)


class LimitRule(_WithWarning):
    """A limit for a metric: an alert when the whole interval of the metric lies beyond it.

    Attributes
    ----------
    below : float or None
        A window is bad when the whole interval of the metric lies below this limit.
    above : float or None
        A window is bad when the whole interval of the metric lies above this limit.
    """

    below: Level | None = None
    above: Level | None = None

    @property
    def condition(self) -> Literal["below", "above"]:
        """Its key."""
        return "below" if self.below is not None else "above"

    @property
    def limit(self) -> float:
        """Its value."""
        return (self.below if self.below is not None else self.above) or 0.0

    @model_validator(mode="after")
    def _that_can_be(self) -> LimitRule:
        self._refuse_impossible(self.condition, self.limit)
        if self.warning is None:
            return self
        self._refuse_impossible("warning", self.warning.amount)
        self._refuse_severity()
        milder, own = self.warning.amount, self.limit
        if not (milder > own if self.condition == "below" else milder < own):
            side = "above" if self.condition == "below" else "below"
            raise ValueError(_not_milder(milder, self.condition, own, side=side))
        return self

    def _refuse_impossible(self, name: str, limit: float) -> None:
        if self.metric.endswith("_threshold"):
            # Thresholds are on the scale of the scores.
            return
        if limit > 1 and self.metric not in _NOT_SHARES:
            msg = f"{name} is {limit:g}, and {self.metric} is never above 1{if_percent(limit)}"
            raise ValueError(msg)
        least = -1 if self.metric in _CORRELATIONS else 0
        if limit < least:
            msg = f"{name} is {limit:g}, and {self.metric} is never below {least}"
            raise ValueError(msg)


class ChangeRule(_WithWarning):
    """A comparison: an alert when the metric has surely moved from what it is compared with.

    Attributes
    ----------
    drop : Change or None
        A window is bad when the metric has surely fallen by at least this much: in the metric's own
        unit (0.05), or in percent of what it is compared with (10%). At least three windows are
        needed to compare with.
    rise : Change or None
        As ``drop``, for a metric that must not rise.
    change : Change or None
        As ``drop``, in either direction.
    compared_with : "reference" or timedelta
        What ``drop``, ``rise`` and ``change`` compare with: the windows of the monitor's
        ``reference``, or the windows of a time span before, such as 28d.
    """

    drop: ChangeGiven | None = None
    rise: ChangeGiven | None = None
    change: ChangeGiven | None = None
    compared_with: ComparedWith = Field("reference", alias="from")

    @property
    def condition(self) -> Literal["drop", "rise", "change"]:
        """Its key."""
        return "drop" if self.drop else "rise" if self.rise else "change"

    @property
    def amount(self) -> Change:
        """Its value."""
        given = self.drop or self.rise or self.change
        assert given is not None  # noqa: S101 (one of them makes it a rule of this kind)
        return given

    @model_validator(mode="after")
    def _that_can_be(self) -> ChangeRule:
        if self.warning is None:
            return self
        self._refuse_severity()
        milder, own, key = self.warning, self.amount, self.condition
        if own.relative is not milder.relative:
            msg = f"must have its warning and its {key} both in percent, or neither"
            raise ValueError(msg)
        if not milder.amount < own.amount:
            raise ValueError(_not_milder(milder.amount, key, own.amount, side="below"))
        return self


class ShiftRule(MetricRule):
    """A small change that lasts: an alert when a sequential detector has found one.

    Attributes
    ----------
    shift : "down", "up" or "any"
        Fires on a small change that lasts, found by a sequential detector. For a class prior that
        is followed, it fires when the class prior has most likely moved by a quarter or more.
    detector : str
        Which sequential detector a ``shift`` rule uses. It does not apply to a class prior that is
        followed.
    false_alarms_per_year : float
        How many false alarms a year a ``shift`` rule may raise while nothing changes.
    """

    shift: Direction
    detector: Literal[*DETECTORS] = DETECTORS[0]  # type: ignore[valid-type]
    false_alarms_per_year: Annotated[Number, Field(gt=0)] = 1.0

    @model_validator(mode="after")
    def _that_can_bet(self) -> ShiftRule:
        if self.detector == "betting" and self.metric not in _BET_ON:
            msg = f"bets on {self.metric}, and betting takes {', '.join(_BET_ON)} only"
            raise ValueError(msg)
        return self


def _not_milder(warning: float, key: str, own: float, *, side: str) -> str:
    return f"has a warning of {warning:g}, which must be {side} the {key} of {own:g}"
