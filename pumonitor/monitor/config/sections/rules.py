"""A rule of a monitor: which metric, what counts as bad, and for how long."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    WithJsonSchema,
    model_validator,
)

from pumonitor.errors import did_you_mean, if_percent
from pumonitor.monitor.config.sections.metric_names import COUNTS, METRICS, refuse_unknown
from pumonitor.monitor.config.text.problems import WithinError
from pumonitor.monitor.config.values.durations import read_duration, shown_duration
from pumonitor.monitor.config.values.kinds import Duration, Number, Part, Text, as_tuple, is_number

__all__ = ["DETECTORS", "Change", "Rule", "as_change", "check_destinations", "check_rules"]

_NOT_SHARES: Final = (*COUNTS, "lift_at_k", "ll_score")
_CORRELATIONS: Final = ("mcc", "mcc_max", "mcc_pu")
_CONDITIONS: Final = ("below", "above", "drop", "rise", "change", "shift")
_CHANGES: Final = ("drop", "rise", "change")
DETECTORS: Final = ("shiryaev-roberts", "cusum", "betting")
"""Those of `pumonitor.monitor.rules.detectors`, the default first; scipy is loaded with them."""

_BET_ON: Final = ("aul", "auc", "recall")
_HEALTH: Final[Mapping[str, tuple[str, ...]]] = {
    "no_data": (),
    "stale": ("after",),
    "few_positives": ("below",),
    "unmatched_labels": ("above",),
    "score_range": (),
    "volume": ("change",),
    "label_delay": ("change", "shift"),
}
"""One of which goes with each kind of health."""

_EXAMPLES: Final = {"after": "3d", "below": "30", "above": "5%", "change": "50%", "shift": "up"}
_OF_METRICS: Final = (
    ("metric", "metric"),
    ("warning", "warning"),
    ("compared_with", "from"),
    ("detector", "detector"),
    ("false_alarms_per_year", "false_alarms_per_year"),
    ("resolve_on", "resolve_on"),
    ("stale_for", "stale_for"),
)
_OF_WINDOWS: Final = (("windows", "for"), ("keep", "keep"), ("provisional", "provisional"))
_LEAST_WINDOWS: Final = 3
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")


class Change(BaseModel, frozen=True):
    """How far a metric may move from its reference.

    Attributes
    ----------
    amount : float
        0.05: by so much, or to 95% of the reference when relative.
    relative : bool
    """

    amount: float
    relative: bool = False


def _metric(given: str) -> str:
    refuse_unknown(given)
    return given


def as_change(given: Any) -> Change:
    """A number in the metric's unit, or percent of the reference.

    Raises
    ------
    ValueError
        The end of a sentence that begins with what it is of.
    """
    percent = _PERCENT.fullmatch(given.strip()) if isinstance(given, str) else None
    amount = float(percent[1]) / 100 if percent else given
    if not is_number(amount) or amount <= 0:
        msg = "must be a number above 0, such as 0.05, or a share of the reference, such as 10%"
        raise ValueError(msg)
    if percent and amount >= 1:
        msg = f"must be below 100%, got {given}"
        raise ValueError(msg)
    return Change(amount=float(amount), relative=percent is not None)


def _level(given: Any) -> Any:
    """A number, or percent of 1."""
    percent = _PERCENT.fullmatch(given.strip()) if isinstance(given, str) else None
    return float(percent[1]) / 100 if percent else given


def _compared_with(given: Any) -> Any:
    if given == "reference":
        return given
    try:
        over = read_duration(given)
    except ValueError:
        over = timedelta()
    if over <= timedelta():
        msg = "must be reference, or how far the windows before go back, such as 28d"
        raise ValueError(msg)
    return over


def _repeat(given: Any) -> timedelta | None:
    if given == "never":
        return None
    length = read_duration(given)
    if length <= timedelta():
        msg = "must be above 0, such as 7d, or never"
        raise ValueError(msg)
    return length


def _address(given: str) -> str:
    if not given.startswith(("https://", "http://")):
        msg = "must be an address that begins with https:// or http://"
        raise ValueError(msg)
    return given


def _destinations(given: tuple[str, ...]) -> tuple[str, ...]:
    if not given or len(set(given)) != len(given):
        msg = "must name one destination or more, each once"
        raise ValueError(msg)
    return given


def _rate(given: float) -> float:
    if not 0 < given < 1:
        msg = f"must be above 0 and below 1, got {given:g}{if_percent(given)}"
        raise ValueError(msg)
    return given


_NUMBER_OR_TEXT = {"anyOf": [{"type": "number"}, {"type": "string", "examples": ["10%"]}]}
_LENGTH = {"type": "string", "examples": ["28d"]}

Level = Annotated[Number, BeforeValidator(_level), WithJsonSchema(_NUMBER_OR_TEXT)]
ComparedWith = Annotated[
    Literal["reference"] | timedelta,
    BeforeValidator(_compared_with),
    WithJsonSchema({"anyOf": [{"const": "reference"}, _LENGTH]}),
]
Rate = Annotated[Number, AfterValidator(_rate)]
Repeat = Annotated[timedelta | None, BeforeValidator(_repeat), WithJsonSchema(_LENGTH)]
Destinations = Annotated[tuple[Text, ...], BeforeValidator(as_tuple), AfterValidator(_destinations)]
Metric = Annotated[str, AfterValidator(_metric), WithJsonSchema({"enum": list(METRICS)})]
ChangeGiven = Annotated[
    Change,
    BeforeValidator(as_change),
    WithJsonSchema(_NUMBER_OR_TEXT),
]


class Rule(Part):
    """One rule of a monitor: a metric with one condition, or the health of the data.

    Attributes
    ----------
    metric : str or None
        What the rule judges: the name of an estimate, or of a number of rows
        (``labeled_positives``, ``predictions``).
    below : float or None
        A window is bad when the whole interval of the metric lies below this limit. With
        ``health: few_positives``, when fewer positives than this are confirmed.
    above : float or None
        A window is bad when the whole interval of the metric lies above this limit. With
        ``health: unmatched_labels``, when a larger share of the labels belongs to no prediction.
    drop : Change or None
        A window is bad when the metric has surely fallen by at least this much: in the metric's own
        unit (0.05), or in percent of what it is compared with (10%). At least three windows are
        needed to compare with.
    rise : Change or None
        As ``drop``, for a metric that must not rise.
    change : Change or None
        As ``drop``, in either direction. With ``health: volume`` and ``health: label_delay`` in
        percent of what is usual.
    compared_with : "reference" or timedelta
        What ``drop``, ``rise`` and ``change`` compare with: the windows of the monitor's
        ``reference``, or the windows of a time span before, such as 28d.
    shift : "down", "up", "any" or None
        Fires on a small change that lasts, found by a sequential detector. With
        ``health: label_delay``, up means that labels come later. For a class prior that is
        followed, it fires when the class prior has most likely moved by a quarter or more.
    detector : str
        Which sequential detector a ``shift`` rule uses. It does not apply to a class prior that is
        followed.
    false_alarms_per_year : float
        How many false alarms a year a ``shift`` rule may raise while nothing changes.
    health : str or None
        Judges the data in place of a metric: no predictions, late results, few confirmations, an
        unusual number of predictions, labels without a prediction, scores outside their usual
        range, labels that arrive later than usual.
    after : timedelta or None
        With ``health: stale``: how long results may be overdue.
    warning : float, Change or None
        A second, milder limit. Beyond it an alert of severity warning fires; beyond the rule's own
        limit one of severity critical.
    windows : int
        How many bad windows in a row it takes to fire. A window that says neither good nor bad does
        not interrupt the row.
    keep : int
        How many further good windows it takes, after the first good one, to resolve the alert.
    severity : "info", "warning" or "critical"
        How grave the alert is; messages carry it, and ``run --fail-on-alert`` looks at critical
        alerts.
    resolve_on : "interval" or "estimate"
        What must be back on the good side of the limit to resolve an alert: the whole interval, or
        the estimate alone, which is sooner and less sure.
    provisional : bool
        Whether windows are judged before their labels are mature.
    segment : mapping of str to str, or None
        Judge only the rows of one segment, such as ``{country: DE}``, in place of all rows.
    per : str or None
        Judge every segment of this column, each with an alert of its own.
    false_discovery_rate : float
        With ``per``: which share of the segments that are reported as bad may be false, on average.
    stale_for : int or None
        After so many windows in a row without a usable value of the metric, an alert of its own
        fires.
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

    metric: Metric | None = None
    below: Level | None = None
    above: Level | None = None
    drop: ChangeGiven | None = None
    rise: ChangeGiven | None = None
    change: ChangeGiven | None = None
    compared_with: ComparedWith = Field("reference", alias="from")
    shift: Literal["down", "up", "any"] | None = None
    detector: Literal[*DETECTORS] = DETECTORS[0]  # type: ignore[valid-type]
    false_alarms_per_year: Annotated[Number, Field(gt=0)] = 1.0
    health: Literal[*_HEALTH] | None = None  # type: ignore[valid-type]
    after: Duration | None = None
    warning: ChangeGiven | None = None
    windows: Annotated[int, Field(ge=1)] = Field(1, alias="for")
    keep: Annotated[int, Field(ge=0)] = 0
    severity: Literal["info", "warning", "critical"] = "critical"
    resolve_on: Literal["interval", "estimate"] = "interval"
    provisional: bool = False
    segment: dict[Text, Text] | None = None
    per: Text | None = None
    false_discovery_rate: Rate = 0.05
    stale_for: Annotated[int, Field(ge=1)] | None = None
    to: Destinations | None = None
    repeat: Repeat = timedelta(days=7)
    runbook: Annotated[Text, AfterValidator(_address)] | None = None
    name: Text | None = None

    @property
    def condition(self) -> str:
        """Which one it has; "" for health that takes none."""
        names = (*_CONDITIONS, "after")
        return next((name for name in names if getattr(self, name) is not None), "")

    @model_validator(mode="after")
    def _that_makes_sense(self) -> Rule:
        if self.health is None:
            self._one_condition()
            self._of_the_metric()
        else:
            self._of_health(self.health)
        self._of_segments()
        return self

    def _one_condition(self) -> None:
        if self.metric is None:
            msg = "must have a metric, or health"
            raise ValueError(msg)
        given = [name for name in _CONDITIONS if getattr(self, name) is not None]
        if len(given) != 1:
            got = f"has {' and '.join(given)}" if given else "has none of them"
            msg = f"must have one of {', '.join(_CONDITIONS)}: it {got}"
            raise ValueError(msg)
        (condition,) = given
        self._refuse_idle("compared_with", "from", needs=_CHANGES, condition=condition)
        for name in ("detector", "false_alarms_per_year"):
            self._refuse_idle(name, name, needs=("shift",), condition=condition)
        self._refuse_idle("warning", "warning", needs=_CONDITIONS[:-1], condition=condition)
        if self.after is not None:
            msg = "has after, which goes with health: stale"
            raise ValueError(msg)

    def _of_the_metric(self) -> None:
        condition, metric = self.condition, self.metric or ""
        for name in (condition, "warning"):
            limit = getattr(self, name) if condition in ("below", "above") else None
            limit = limit.amount if isinstance(limit, Change) else limit
            if limit is None or metric.endswith("_threshold"):
                # Thresholds are on the scale of the scores.
                continue
            if limit > 1 and metric not in _NOT_SHARES:
                msg = f"{name} is {limit:g}, and {metric} is never above 1{if_percent(limit)}"
                raise ValueError(msg)
            least = -1 if metric in _CORRELATIONS else 0
            if limit < least:
                msg = f"{name} is {limit:g}, and {metric} is never below {least}"
                raise ValueError(msg)
        if self.warning is not None:
            self._milder(self.warning)
        if self.detector == "betting" and metric not in _BET_ON:
            msg = f"bets on {metric}, and betting takes {', '.join(_BET_ON)} only"
            raise ValueError(msg)

    def _milder(self, warning: Change) -> None:
        if "severity" in self.model_fields_set and self.severity != "critical":
            msg = f"has a warning, so that its own limit is critical and not {self.severity}"
            raise ValueError(msg)
        own = getattr(self, self.condition)
        if isinstance(own, Change):
            if own.relative is not warning.relative:
                msg = f"must have its warning and its {self.condition} both in percent, or neither"
                raise ValueError(msg)
            milder, limit = warning.amount < own.amount, own.amount
        else:
            milder = warning.amount > own if self.condition == "below" else warning.amount < own
            limit = own
        if not milder:
            where = "above" if self.condition == "below" else "below"
            msg = (
                f"has a warning of {warning.amount:g}, which must be {where} the "
                f"{self.condition} of {limit:g}"
            )
            raise ValueError(msg)

    def _of_health(self, health: str) -> None:
        self._one_of_health(health)
        if self.change is not None and not self.change.relative:
            msg = f"needs change in percent with health: {health}, such as change: 50%"
            raise ValueError(msg)
        if health == "unmatched_labels" and not 0 <= (self.above or 0.0) < 1:
            msg = f"has above, which is a share of the labels: below 100%, got {self.above:g}"
            raise ValueError(msg)
        idle = [*_OF_METRICS, *(_OF_WINDOWS if health == "stale" else ())]
        if health == "label_delay":
            idle.remove(("false_alarms_per_year", "false_alarms_per_year"))
        if health != "few_positives":
            idle += [("segment", "segment"), ("per", "per")]
        for field, name in idle:
            if field in self.model_fields_set and getattr(self, field) is not None:
                msg = f"has {name}, which does not go with health: {health}"
                raise ValueError(msg)

    def _one_of_health(self, health: str) -> None:
        needed = _HEALTH[health]
        given = [name for name in (*_CONDITIONS, "after") if getattr(self, name) is not None]
        for name in given:
            if name not in needed:
                takes = f"takes {' or '.join(needed)}" if needed else "takes no limit"
                msg = f"has {name}, and health: {health} {takes}"
                raise ValueError(msg)
        if len(given) > 1:
            msg = f"has {' and '.join(given)}, and health: {health} takes one of them"
            raise ValueError(msg)
        if needed and not given:
            examples = " or ".join(f"{name}: {_EXAMPLES[name]}" for name in needed)
            msg = f"needs {' or '.join(needed)} with health: {health}, such as {examples}"
            raise ValueError(msg)

    def _of_segments(self) -> None:
        if self.per is not None and self.segment is not None:
            msg = "has per and segment: one alert for each segment, or for one of them"
            raise ValueError(msg)
        if self.segment is not None and len(self.segment) != 1:
            msg = f"has a segment of {len(self.segment)} columns: name one, such as {{country: DE}}"
            raise ValueError(msg)
        if "false_discovery_rate" in self.model_fields_set and self.per is None:
            msg = "has false_discovery_rate, which goes with per"
            raise ValueError(msg)

    def _refuse_idle(
        self, field: str, name: str, *, needs: tuple[str, ...], condition: str
    ) -> None:
        if field in self.model_fields_set and condition not in needs:
            *others, last = needs
            either = f"{', '.join(others)} or {last}" if others else last
            msg = f"has {name}, which goes with {either} and not with {condition}"
            raise ValueError(msg)


def check_rules(
    rules: Sequence[Rule],
    *,
    has_reference: bool,
    segments: Collection[str] | None,
    window: timedelta | None,
    is_prior_followed: bool = False,
) -> None:
    """What a rule needs of its monitor, and rules of each other.

    Parameters
    ----------
    rules : sequence of Rule
    has_reference : bool
    segments : collection of str or None
        Columns; None where they cannot be told.
    window : timedelta or None
        Length of a window; None where it cannot be told.
    is_prior_followed : bool
        Whether a lasting change of the class prior needs no detector.

    Raises
    ------
    ValueError
        With the number of the rule.
    """
    seen: dict[str, int] = {}
    names: dict[str, int] = {}
    for number, rule in enumerate(rules):
        changes = rule.health is None and rule.condition in _CHANGES
        if changes and rule.compared_with == "reference" and not has_reference:
            msg = f"rules[{number}] compares with the reference, and the monitor has none"
            raise WithinError(msg, number)
        of_prior = rule.metric == "class_prior" and rule.shift is not None
        if of_prior and is_prior_followed and "detector" in rule.model_fields_set:
            msg = (
                f"rules[{number}] names a detector, and a class prior that is followed over "
                "windows is judged by its own posterior: leave detector out"
            )
            raise WithinError(msg, number)
        over = rule.compared_with
        if isinstance(over, timedelta) and window is not None and over < _LEAST_WINDOWS * window:
            msg = (
                f"rules[{number}] compares with the windows of the {shown_duration(over)} before, "
                f"and {_LEAST_WINDOWS} windows are needed, which last "
                f"{shown_duration(_LEAST_WINDOWS * window)}"
            )
            raise WithinError(msg, number)
        for column in (*(rule.segment or {}), *([] if rule.per is None else [rule.per])):
            if segments is not None and column not in segments:
                hint = did_you_mean(column, segments)
                msg = f"rules[{number}] names no segment of predictions: {column!r}{hint}"
                raise WithinError(msg, number)
        meaning = rule.model_dump_json(exclude={"to", "runbook", "name", "repeat"})
        if meaning in seen:
            msg = f"rules[{number}] says the same as rules[{seen[meaning]}]: leave one out"
            raise WithinError(msg, number)
        seen[meaning] = number
        if rule.name is not None and rule.name in names:
            msg = f"rules[{number}] has the name of rules[{names[rule.name]}]: {rule.name!r}"
            raise WithinError(msg, number)
        if rule.name is not None:
            names[rule.name] = number


def check_destinations(
    rules: Sequence[Rule], destinations: Collection[str], *, monitor: str
) -> None:
    """Every destination that a rule names is there.

    Raises
    ------
    ValueError
        With the number of the rule.
    """
    for number, rule in enumerate(rules):
        for name in rule.to or ():
            if name not in destinations:
                hint = did_you_mean(name, destinations)
                there = f" (there are {', '.join(destinations) or 'none'})"
                msg = f"{monitor}.rules[{number}] names no destination: {name!r}{hint or there}"
                raise WithinError(msg, monitor, "rules", number)
