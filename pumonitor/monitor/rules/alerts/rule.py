"""Alert rules and their conditions, and the windows that they are tested on."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from pumonitor.monitor.rules.alerts.health_kinds import BY_THE_CLOCK, OF_AUDITS, HealthKind
from pumonitor.monitor.rules.reference.one_prior import (
    AUDITED_SHARE,
    LEVEL_FACTOR,
    PRIOR_FACTOR,
    PRIOR_TO_COMPARE,
    stands_on,
)
from pumonitor.ports import Window

if TYPE_CHECKING:
    from pumonitor.monitor.rules.alerts.states import SeriesEvidence
    from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows

__all__ = [
    "AUDITED_SHARE",
    "OF_AUDITS",
    "PRIOR_MOVED",
    "AlertRule",
    "Change",
    "Condition",
    "Health",
    "HealthKind",
    "KnownReference",
    "LabelDelay",
    "Missing",
    "PriorShift",
    "Reading",
    "Series",
    "Shift",
    "WindowCondition",
    "WindowView",
    "moment_text",
    "shown",
    "shown_with_ends",
]

Series = tuple[str, str]
"""Model version ("" without versions) and segment ("" for all rows)."""

PRIOR_MOVED: Final = "class_prior_moved"
"""Name of a result: P(class prior is a quarter above the reference's, or a fifth below it)."""

_LEAST_SHOWN: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One result of a series in a window.

    Attributes
    ----------
    value, low, high : float or None
        The displayed value and interval, clipped to the metric's range; None if undefined.
    se : float or None
        Standard error.
    n_labeled : int or None
    reason : str
        Why the value is undefined or infeasible; else "".
    impossible : bool
        Whether the value is infeasible beyond chance, so that rules must not use it.
    unclipped : float or None
        The estimate before clipping; None if it equals `value`.
    assumed : bool
        Whether the value was given in the configuration and not estimated.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    n_labeled: int | None = None
    reason: str = ""
    impossible: bool = False
    unclipped: float | None = None
    assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowView:
    """A window with the results of its newest pane at some moment.

    Attributes
    ----------
    window : Window
    pane : int
        Number of that pane.
    as_of : datetime
        Moment of that pane: labels known by then were used.
    readings : mapping
        Series to metric to `Reading`. A window without rows has no series.
    failed : bool
        Whether evaluation was given up after repeated errors; there are no readings then.
    health : mapping
        Counts for health rules in JSON types: "orphans", "arrivals", "scores".
    """

    window: Window
    pane: int
    as_of: datetime
    readings: Mapping[Series, Mapping[str, Reading]] = field(default_factory=dict)
    failed: bool = False
    health: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownReference:
    """The monitor's reference as rules see it: the results of its windows, read when needed.

    Attributes
    ----------
    as_of : datetime
        When the reference became mature; earlier panes are not compared with it.
    end : datetime
        End of the reference period; windows that begin earlier are not compared with it.
    windows : callable
        Returns the reference's results for a series; no windows if it has no such series.
    """

    as_of: datetime
    end: datetime
    windows: Callable[[Series], ReferenceWindows]


# -- conditions -------------------------------------------------------------------------------


class WindowCondition(ABC):
    """A condition on one window of a series: other windows and the reference do not matter.

    A new condition of this kind is a frozen dataclass in a file of its own, such as `limit`.
    """

    __slots__ = ()

    @abstractmethod
    def evidence(self, view: WindowView, series: Series, rule: AlertRule) -> SeriesEvidence:
        """Test the window of a series; the series may be missing from it."""

    @property
    @abstractmethod
    def fires(self) -> str:
        """When the rule fires, in words: a clause without a full stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Breach: the whole interval of the change from a reference exceeds the allowed amount.

    Attributes
    ----------
    direction : {"drop", "rise", "change"}
        "change" means a drop or a rise.
    amount : float
        Allowed change: in the metric's unit, or as a share of the reference if relative.
    relative : bool
    over : timedelta or None
        Compare with the windows of this time before; None: with the monitor's reference.
    """

    direction: Literal["drop", "rise", "change"]
    amount: float
    relative: bool
    over: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """Breach: a sequential detector has detected a lasting change.

    Attributes
    ----------
    direction : {"down", "up", "any"}
    false_alarms_per_year, windows_per_year : float
    detector : str
        Name in `pumonitor.monitor.rules.detectors.DETECTORS`.
    reference_windows : int
        Number of windows from which the detector learns the usual level and variation.
    begins : datetime or None
        Windows that start earlier are ignored.
    """

    direction: Literal["down", "up", "any"]
    false_alarms_per_year: float
    windows_per_year: float
    detector: str
    reference_windows: int
    begins: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorShift:
    """Breach: by its posterior, a followed class prior has moved by a quarter or more.

    Attributes
    ----------
    direction : {"down", "up", "any"}
    false_alarms_per_year : float
        Upper bound of the rate.
    windows_per_year : float
    reference_windows : int
        Number of windows that the filter starts from; these have no posterior.
    begins : datetime or None
        End of the reference, if one is configured.
    """

    direction: Literal["down", "up", "any"]
    false_alarms_per_year: float
    windows_per_year: float
    reference_windows: int
    begins: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Breach: the data of a window are unhealthy.

    Attributes
    ----------
    kind : str
        "stale" and those on audits are evaluated by the clock, the others by window.
    limit : float
        Limit of the kind: seconds for "stale", "audit_overdue" and "audit_unread", a share for
        "volume" and "unmatched_labels", a number of cases for "audit_conflicts", of rows for
        "few_positives"; 0 for kinds without a limit.
    """

    kind: HealthKind
    limit: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDelay:
    """Breach: the label delay has changed for good, as a sequential detector finds.

    Attributes
    ----------
    direction : {"down", "up", "any"}
        "up" means later labels.
    change : float
        Allowed relative change: 0.5 allows delays between 0.5 and 1.5 times the usual ones.
    maturity : timedelta
        Labels with a longer delay are not counted.
    false_alarms_per_year, windows_per_year : float
    reference_windows : int
        Number of windows from which the usual delays are learned.
    windows_per_day : int
        0 if windows are longer than a day.
    begins : datetime or None
        Windows that start earlier are ignored.
    """

    direction: Literal["down", "up", "any"]
    change: float
    maturity: timedelta
    false_alarms_per_year: float
    windows_per_year: float
    reference_windows: int
    windows_per_day: int = 0
    begins: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Breach: the window has no usable value of the metric."""


Condition = WindowCondition | Change | Shift | PriorShift | Health | LabelDelay | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRule:
    """A rule: which metric it tests, when a window is a breach, and when breaches fire an alert.

    Attributes
    ----------
    key : str
        Hash of the rule's meaning. Editing the meaning gives a new key, so a new rule.
    name : str
        Display name.
    metric : str
        An estimate, a number of rows, or ``health:`` and its kind.
    condition : WindowCondition, Change, Shift, PriorShift, Health, LabelDelay or Missing
    windows, keep : int
        Parameters of `pumonitor.monitor.rules.alerts.states.step`.
    severity : {"info", "warning", "critical"}
    resolve_on : {"interval", "estimate"}
        What must be on the good side for a window to be good.
    provisional : bool
        Whether provisional panes count too.
    audited : bool
        Whether only windows that an audit was drawn from are evidence.
    segment : str
        ``column=value``, or "" for all rows.
    per : str
        Segment column with one alert per value; "" for none.
    false_discovery_rate : float
        Used with `per`.
    repeat : timedelta or None
        Time from the last notification to a reminder; None for no reminders.
    to : tuple of str or None
        Destinations; None for all.
    runbook : str
        URL or text for messages.
    """

    key: str
    name: str
    metric: str
    condition: Condition
    windows: int = 1
    keep: int = 0
    severity: Literal["info", "warning", "critical"] = "critical"
    resolve_on: Literal["interval", "estimate"] = "interval"
    provisional: bool = False
    audited: bool = False
    segment: str = ""
    per: str = ""
    false_discovery_rate: float = 0.05
    repeat: timedelta | None = None
    to: tuple[str, ...] | None = None
    runbook: str = ""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the results that the rule reads."""
        return (*self._metrics, AUDITED_SHARE) if self.audited else self._metrics

    @property
    def _metrics(self) -> tuple[str, ...]:
        if isinstance(self.condition, Health | LabelDelay):
            return ("predictions",)
        if isinstance(self.condition, Shift) and self.condition.detector == "betting":
            return (self.metric, "aul", "class_prior")
        if isinstance(self.condition, PriorShift):
            return (self.metric, PRIOR_MOVED, PRIOR_FACTOR, LEVEL_FACTOR)
        if isinstance(self.condition, Change):
            names = stands_on(self.metric)
            factors = (PRIOR_FACTOR, PRIOR_TO_COMPARE) if names else ()
            return tuple(dict.fromkeys((self.metric, *names, *factors)))
        return (self.metric,)

    @property
    def goes_by_the_clock(self) -> bool:
        """Whether the rule is evaluated by the clock and not by window."""
        return isinstance(self.condition, Health) and self.condition.kind in BY_THE_CLOCK

    def covers(self, series: Series) -> bool:
        """Whether the rule has an alert for this series."""
        segment = series[1]
        return segment.startswith(f"{self.per}=") if self.per else segment == self.segment


# -- words ------------------------------------------------------------------------------------


def shown(number: float | None) -> str:
    """Format a number with three significant digits; whole numbers in full, None as "-".

    Examples
    --------
    >>> shown(0.61234), shown(12345.0), shown(0.00000664), shown(1e-9), shown(None)
    ('0.612', '12,345', '0.00000664', 'below 0.000001', '-')
    """
    if number is None:
        return "-"
    if abs(number) >= 100 or number == round(number):
        return f"{number:,.0f}"
    text = f"{number:.3g}"
    if "e" not in text:
        return text
    if abs(number) < _LEAST_SHOWN:
        return f"{'above -' if number < 0 else 'below '}{_LEAST_SHOWN:f}"
    # Decimal notation instead of powers of ten, still three significant digits.
    return f"{number:.{2 - math.floor(math.log10(abs(number)))}f}".rstrip("0")


def shown_with_ends(value: float, low: float | None, high: float | None, *, unit: str = "") -> str:
    """Format a number with the ends of its interval, if it has both; negative ones have their sign.

    Examples
    --------
    >>> shown_with_ends(0.00187, -0.0223, 0.0178), shown_with_ends(2.0, None, None, unit=" times")
    ('0.00187 (-0.0223 to 0.0178)', '2 times')
    """
    ends = "" if low is None or high is None else f" ({shown(low)} to {shown(high)})"
    return f"{shown(value)}{unit}{ends}"


def moment_text(moment: datetime) -> str:
    """Format a UTC time; midnight as the date alone.

    Examples
    --------
    >>> from datetime import UTC
    >>> moment_text(datetime(2026, 3, 1, tzinfo=UTC))
    '2026-03-01'
    """
    return (
        f"{moment:%Y-%m-%d}"
        if (moment.hour, moment.minute) == (0, 0)
        else f"{moment:%Y-%m-%d %H:%M}"
    )
