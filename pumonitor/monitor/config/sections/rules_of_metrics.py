"""Rules on a metric: a limit, a comparison with a reference, a lasting shift."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, Tag, model_validator

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
from pumonitor.names import AMOUNTS, COUNTS

if TYPE_CHECKING:
    from pumonitor.monitor.rules.alerts.rule import Condition

_NOT_SHARES: Final = (*COUNTS, *AMOUNTS, "lift_at_k", "ll_score")
_CORRELATIONS: Final = ("mcc", "mcc_max", "mcc_pu")
_YEAR: Final = timedelta(days=365.25)
LEAST_TO_LEARN: Final = 5
"""Fewest windows that a detector learns from."""

_BET_ON: Final = ("aul", "auc", "recall")
DETECTORS: Final = ("shiryaev-roberts", "cusum", "betting")
"""Names from `pumonitor.monitor.rules.detectors`, which would load scipy. The default is first."""

Severity = Literal["info", "warning", "critical"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBasis:
    """What the condition of a rule is made of besides the rule.

    Attributes
    ----------
    window, maturity : timedelta
        Length of a window, and time until its labels are mature.
    begins, ends : datetime or None
        Of the windows of the reference; None without one.
    windows : int
        Their number, or that of the first ones, which count as without a change.
    is_prior_followed : bool
        Whether the class prior is followed over windows.
    audits_every : timedelta or None
        How often there is to be an audit.
    """

    window: timedelta
    maturity: timedelta
    begins: datetime | None
    ends: datetime | None
    windows: int
    is_prior_followed: bool = False
    audits_every: timedelta | None = None

    @property
    def windows_per_year(self) -> float:
        """Windows in a year of 365.25 days."""
        return _YEAR / self.window


class AnyRule(Part):
    """Keys of every rule.

    Attributes
    ----------
    severity : "info", "warning" or "critical"
        Severity of the alert, included in messages. ``run --fail-on-alert`` exits with 1 for
        critical alerts only.
    to : tuple of str or None
        Names of the destinations to notify; by default all.
    repeat : timedelta or None
        Time after the last message until a reminder of an alert that still fires is sent;
        ``never`` for no reminders.
    runbook : str or None
        Address of a page with instructions; messages link to it.
    name : str or None
        Name of the rule in messages; by default its condition in words.
    """

    severity: Severity = "critical"
    to: Destinations | None = None
    repeat: Repeat = timedelta(days=7)
    runbook: Runbook | None = None
    name: Text | None = None

    @abstractmethod
    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """What the rule tests, or with `warning` its milder limit."""

    def in_words(self, warning: Change | None) -> list[str]:
        """What follows the subject in the name of a rule that has none."""
        del warning
        return []

    @property
    def subject(self) -> tuple[str, str]:
        """The key that says what the rule tests, and its value."""
        keys = (key for key in ("metric", "health", "audit") if key in type(self).model_fields)
        return next((key, str(getattr(self, key))) for key in keys)

    @property
    def tested_metric(self) -> str:
        """A metric, or ``health:`` and what of the data or the audits is tested."""
        return f"health:{self.subject[1]}"

    @property
    def empty_windows(self) -> int:
        """Number of windows after the last prediction that it is to be tested on."""
        return 0

    def settings(self) -> dict[str, Any]:
        """Attributes of the alert rule that are the same for all of its parts."""
        return {"severity": self.severity, "repeat": self.repeat, "to": self.to} | {
            "runbook": self.runbook or ""
        }


class WindowRule(AnyRule):
    """Keys of every rule that is evaluated by window.

    Attributes
    ----------
    windows : int
        Number of bad windows in a row after which the alert fires. A window that is neither good
        nor bad does not interrupt the row.
    keep : int
        Number of further good windows, after the first good one, until the alert is resolved.
    provisional : bool
        Whether the rule is also evaluated on windows whose labels are not mature yet.
    """

    is_seen_at_once: ClassVar[bool] = False
    """Whether it depends on no label, so that it is tested as soon as a window ends."""

    windows: Annotated[int, Field(ge=1)] = Field(1, alias="for")
    keep: Annotated[int, Field(ge=0)] = 0
    provisional: bool = False

    def settings(self) -> dict[str, Any]:
        """With the windows that count."""
        provisional = self.provisional or self.is_seen_at_once
        return super().settings() | {
            "windows": self.windows,
            "keep": self.keep,
            "provisional": provisional,
        }


class SegmentRule(WindowRule):
    """Keys of rules that can be restricted to segments.

    Attributes
    ----------
    segment : mapping of str to str, or None
        Evaluate the rule on the rows of one segment, such as ``{country: DE}``, instead of all
        rows.
    per : str or None
        Evaluate the rule on every segment of this column, with one alert per segment.
    false_discovery_rate : float
        With ``per``: share of the segments reported as bad that may be false alarms, on average.
    """

    segment: dict[Text, Text] | None = None
    per: Text | None = None
    false_discovery_rate: Rate = 0.05

    @model_validator(mode="after")
    def _of_segments(self) -> SegmentRule:
        if self.per is not None and self.segment is not None:
            msg = (
                "has both per (one alert for each segment) and segment (an alert for one): "
                "leave one out"
            )
            raise ValueError(msg)
        if self.segment is not None and len(self.segment) != 1:
            msg = (
                f"has a segment with {len(self.segment)} columns: give one, such as {{country: DE}}"
            )
            raise ValueError(msg)
        if "false_discovery_rate" in self.model_fields_set and self.per is None:
            msg = "has false_discovery_rate without per: add per, or leave it out"
            raise ValueError(msg)
        return self

    @property
    def segments_in_words(self) -> list[str]:
        """The segment, or the column of segments, in the name of a rule that has none."""
        words = [f"{column}={value}" for column, value in (self.segment or {}).items()]
        return words + ([f"per {self.per}"] if self.per else [])

    def settings(self) -> dict[str, Any]:
        """With the segments."""
        return super().settings() | {
            "segment": "".join(f"{key}={value}" for key, value in (self.segment or {}).items()),
            "per": self.per or "",
            "false_discovery_rate": self.false_discovery_rate,
        }


class MetricRule(SegmentRule):
    """Keys of every rule on a metric.

    Attributes
    ----------
    metric : str
        Metric that the rule tests: an estimate, or a number of rows (``labeled_positives``,
        ``predictions``).
    resolve_on : "interval" or "estimate"
        What must be back on the good side of the limit to resolve an alert: the whole interval, or
        the estimate alone, which resolves earlier and with less certainty.
    stale_for : int or None
        Number of windows in a row without a usable value of the metric after which a separate
        alert fires.
    evidence : "all" or "audited"
        With ``audited`` a window is good or bad only where an audit was drawn from it, alone or
        with other windows, of which a quarter has been read; all others say nothing.
    """

    made_by: ClassVar[tuple[str, ...]] = ()
    """The keys of which such a rule has exactly one; no other kind of rule on a metric has them."""

    metric: Metric
    resolve_on: Literal["interval", "estimate"] = "interval"
    stale_for: Annotated[int, Field(ge=1)] | None = None
    evidence: Literal["all", "audited"] = "all"

    @model_validator(mode="after")
    def _audits_are_of_all_rows(self) -> MetricRule:
        if self.evidence == "audited" and (self.per is not None or self.segment is not None):
            msg = "has evidence: audited with a segment: audits are of all rows, leave one out"
            raise ValueError(msg)
        return self

    @property
    def tested_metric(self) -> str:
        """The metric."""
        return self.metric

    @property
    def empty_windows(self) -> int:
        """So many windows without a value fire an alert."""
        return self.stale_for or 0

    def settings(self) -> dict[str, Any]:
        """With what counts as evidence."""
        return super().settings() | {
            "resolve_on": self.resolve_on,
            "audited": self.evidence == "audited",
        }


class WithWarning(MetricRule):
    """Keys of rules with a limit.

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
            msg = (
                f"has a warning, so its own limit has severity critical, not {self.severity}: "
                "leave severity out"
            )
            raise ValueError(msg)


class LimitRule(WithWarning):
    """A limit on a metric: the alert fires when the whole interval of the metric is beyond it.

    Attributes
    ----------
    below : float or None
        A window is bad when the whole interval of the metric lies below this limit.
    above : float or None
        A window is bad when the whole interval of the metric lies above this limit.
    """

    made_by = ("below", "above")

    below: Level | None = None
    above: Level | None = None

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """A limit on one side."""
        from pumonitor.monitor.rules.alerts.limit import Limit

        limit = self.limit if warning is None else warning.amount
        return Limit(side=self.condition, limit=limit)

    def in_words(self, warning: Change | None) -> list[str]:
        """The side and the limit."""
        return [self.condition, f"{self.limit if warning is None else warning.amount:g}"]

    @property
    def condition(self) -> Literal["below", "above"]:
        """The key with which the condition is given."""
        return "below" if self.below is not None else "above"

    @property
    def limit(self) -> float:
        """The value of that key."""
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


class ChangeRule(WithWarning):
    """A comparison: the alert fires when the whole interval of a metric's change is too large.

    Attributes
    ----------
    drop : Change or None
        A window is bad when the whole interval of the metric's fall is beyond this: in the metric's
        unit (0.05), or in percent of the value it is compared with (10%). At least three windows
        are needed to compare with.
    rise : Change or None
        As ``drop``, for a rise of the metric.
    change : Change or None
        As ``drop``, in either direction.
    compared_with : "reference" or timedelta
        What ``drop``, ``rise`` and ``change`` compare with: the windows of the monitor's
        ``reference``, or the windows of a length of time before, such as 28d.
    """

    made_by = ("drop", "rise", "change")

    drop: ChangeGiven | None = None
    rise: ChangeGiven | None = None
    change: ChangeGiven | None = None
    compared_with: ComparedWith = Field("reference", alias="from")

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """A change from the reference, or from the windows before."""
        from pumonitor.monitor.rules.alerts import change

        given, over = warning or self.amount, self.compared_with
        return change.Change(
            direction=self.condition,
            amount=given.amount,
            relative=given.relative,
            over=over if isinstance(over, timedelta) else None,
        )

    def in_words(self, warning: Change | None) -> list[str]:
        """The direction and the amount."""
        return [self.condition, (warning or self.amount).in_words]

    @property
    def condition(self) -> Literal["drop", "rise", "change"]:
        """The key with which the condition is given."""
        return "drop" if self.drop else "rise" if self.rise else "change"

    @property
    def amount(self) -> Change:
        """The value of that key."""
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
            msg = f"must have warning and {key} either both in percent or both not"
            raise ValueError(msg)
        if not milder.amount < own.amount:
            raise ValueError(_not_milder(milder.amount, key, own.amount, side="below"))
        return self


class ShiftRule(MetricRule):
    """A lasting shift of a metric: the alert fires when a sequential detector has detected one.

    Attributes
    ----------
    shift : "down", "up" or "any"
        Direction of the lasting changes to detect, also small ones. For a class prior that is
        followed, the alert fires when it has probably moved by a quarter or more. The detector
        learns how much windows differ from those of the reference, from the first 5 at least, and
        judges the windows after them: with few windows it sees large changes alone, and ``check``
        says since when it judges.
    detector : str
        Sequential detector of a ``shift`` rule. Not used for a class prior that is followed.
    false_alarms_per_year : float
        Accepted number of false alarms per year of a ``shift`` rule while nothing changes.
    """

    made_by = ("shift",)

    shift: Direction
    detector: Literal[*DETECTORS] = DETECTORS[0]  # type: ignore[valid-type]
    false_alarms_per_year: Annotated[Number, Field(gt=0)] = 1.0

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """By a sequential detector, or by the posterior of a class prior that is followed."""
        from pumonitor.monitor.rules.alerts import prior_shift, shift

        if self.metric == "class_prior" and basis.is_prior_followed:
            return prior_shift.PriorShift(
                direction=self.shift,
                false_alarms_per_year=self.false_alarms_per_year,
                windows_per_year=basis.windows_per_year,
                reference_windows=basis.windows,
                begins=basis.ends,
            )
        return shift.Shift(
            direction=self.shift,
            false_alarms_per_year=self.false_alarms_per_year,
            windows_per_year=basis.windows_per_year,
            detector=self.detector,
            reference_windows=max(basis.windows, LEAST_TO_LEARN),
            begins=basis.begins,
        )

    def in_words(self, warning: Change | None) -> list[str]:
        """The direction."""
        return ["shift", self.shift]

    @model_validator(mode="after")
    def _that_can_bet(self) -> ShiftRule:
        if self.detector == "betting" and self.metric not in _BET_ON:
            msg = (
                f"uses the betting detector for {self.metric}, but that detector is only for "
                f"{', '.join(_BET_ON)}"
            )
            raise ValueError(msg)
        return self


RuleOfMetric = (
    Annotated[LimitRule, Tag("limit rule")]
    | Annotated[ChangeRule, Tag("change rule")]
    | Annotated[ShiftRule, Tag("shift rule")]
)
"""Each kind of rule on a metric, with its discriminator tag; a new kind has a line here."""


def _not_milder(warning: float, key: str, own: float, *, side: str) -> str:
    return f"has a warning of {warning:g}, which must be {side} the {key} of {own:g}"
