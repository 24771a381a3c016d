"""What a rule of a monitor means, and what of its windows is known at a moment."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from pumonitor.monitor.rules.reference.one_prior import PRIOR_FACTOR, stands_on
from pumonitor.names import COUNTS, TITLES
from pumonitor.ports import Window

if TYPE_CHECKING:
    from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows

__all__ = [
    "PRIOR_MOVED",
    "AlertRule",
    "Baseline",
    "Change",
    "Condition",
    "Health",
    "HealthKind",
    "LabelDelay",
    "Limit",
    "Missing",
    "PriorShift",
    "Reading",
    "Series",
    "Shift",
    "WindowView",
    "metric_title",
    "moment_text",
    "shown",
]

Series = tuple[str, str]
"""Model version and segment; "" and "" where there are none, and for all rows."""

HealthKind = Literal[
    "no_data", "stale", "few_positives", "unmatched_labels", "score_range", "volume"
]

PRIOR_MOVED: Final = "class_prior_moved"
"""Result: chance that the class prior is a quarter above the reference's, or a fifth below it."""

_LEAST_SHOWN: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A number of one series of a window; None where it is undefined, for a reason.

    Attributes
    ----------
    value, low, high : float or None
        As people are shown them: held to what the metric can be.
    se : float or None
    n_labeled : int or None
    reason : str
        Why there is no value, or why it cannot be right; "" where nothing is to be said.
    impossible : bool
        Whether it is evidence of nothing: more than chance is wrong with it.
    unclipped : float or None
        As estimated; None where that is `value`.
    assumed : bool
        Whether it was given and not measured.
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
    """A window as it is known at a moment.

    Attributes
    ----------
    window : Window
    pane : int
        Number of the pane that says so.
    as_of : datetime
        Its moment.
    readings : mapping
        By series, then by metric. A window without rows has no series.
    failed : bool
        The window was given up: nothing is known of it.
    health : mapping
        What was found beside the results, plain values: "orphans", "arrivals", "scores".
    """

    window: Window
    pane: int
    as_of: datetime
    readings: Mapping[Series, Mapping[str, Reading]] = field(default_factory=dict)
    failed: bool = False
    health: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The windows of the reference period, by series.

    Attributes
    ----------
    as_of : datetime
        Panes of an earlier moment have no reference.
    end : datetime
        Windows that begin earlier have none: they are part of it, or lie before it.
    windows : callable
        The results of a series in the windows of the reference; none where it has no such series.
    """

    as_of: datetime
    end: datetime
    windows: Callable[[Series], ReferenceWindows]


# -- conditions -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The whole interval is below, or above, a number."""

    side: Literal["below", "above"]
    limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The whole interval of the change against a reference is beyond a number.

    Attributes
    ----------
    direction : {"drop", "rise", "change"}
        "change" is either of them.
    amount : float
        In the metric's unit, or of the reference when relative.
    relative : bool
    over : timedelta or None
        Compared with the windows of so long before; with the monitor's reference when None.
    """

    direction: Literal["drop", "rise", "change"]
    amount: float
    relative: bool
    over: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A lasting change, seen by a sequential detector.

    Attributes
    ----------
    direction : {"down", "up", "any"}
    false_alarms_per_year, windows_per_year : float
    detector : str
    reference_windows : int
        So many windows teach it.
    begins : datetime or None
        Earlier windows do not count.
    """

    direction: Literal["down", "up", "any"]
    false_alarms_per_year: float
    windows_per_year: float
    detector: str
    reference_windows: int
    begins: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorShift:
    """A class prior that is followed has moved by a quarter or more, by its posterior.

    Attributes
    ----------
    direction : {"down", "up", "any"}
    false_alarms_per_year : float
        At most.
    windows_per_year : float
    reference_windows : int
        So many windows have no posterior: what they say is what it starts from.
    begins : datetime or None
        End of the reference, where one is given.
    """

    direction: Literal["down", "up", "any"]
    false_alarms_per_year: float
    windows_per_year: float
    reference_windows: int
    begins: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Something is wrong with the data, whatever the model does.

    Attributes
    ----------
    kind : str
        "stale" goes by the clock and not by windows.
    limit : float
        Of its own kind of number; 0 where it takes none. Seconds of "stale".
    """

    kind: HealthKind
    limit: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDelay:
    """Labels come later, or sooner, than usual and go on doing so.

    Attributes
    ----------
    direction : {"down", "up", "any"}
        "up" is later.
    change : float
        Changes that are smaller are let pass: 0.5 for delays less than 1.5 times and more than half
        as long. 0 for none.
    maturity : timedelta
        Labels that take longer are not seen.
    false_alarms_per_year, windows_per_year : float
    reference_windows : int
        So many windows tell what is usual.
    windows_per_day : int
        0 where windows are longer than a day.
    begins : datetime or None
        Earlier windows do not count.
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
    """A window has no usable value of the metric."""


Condition = Limit | Change | Shift | PriorShift | Health | LabelDelay | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRule:
    """One rule: what it looks at, when a window is bad, and how many make an alert.

    Attributes
    ----------
    key : str
        Hash of what it means: a rule of another meaning is another rule.
    name : str
        For people.
    metric : str
        An estimate, a number of rows, or ``health:`` and its kind.
    condition : Limit, Change, Shift, PriorShift, Health, LabelDelay or Missing
    windows, keep : int
        As in `pumonitor.monitor.rules.alerts.states.step`.
    severity : {"info", "warning", "critical"}
    resolve_on : {"interval", "estimate"}
        What has to be on the good side for a window to be good.
    provisional : bool
        Windows whose labels are not all in yet count too.
    segment : str
        ``column=value``, "" for all rows.
    per : str
        A column: one alert for each segment of it; "" for none.
    false_discovery_rate : float
        Read with `per`.
    repeat : timedelta or None
        A reminder is due so long after the last message; None: never.
    to : tuple of str or None
        Destinations; None: all.
    runbook : str
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
    segment: str = ""
    per: str = ""
    false_discovery_rate: float = 0.05
    repeat: timedelta | None = None
    to: tuple[str, ...] | None = None
    runbook: str = ""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics whose results it reads."""
        if isinstance(self.condition, Health | LabelDelay):
            return ("predictions",)
        if isinstance(self.condition, Shift) and self.condition.detector == "betting":
            return (self.metric, "aul", "class_prior")
        if isinstance(self.condition, PriorShift):
            return (self.metric, PRIOR_MOVED, PRIOR_FACTOR)
        if isinstance(self.condition, Change):
            names = stands_on(self.metric)
            return tuple(dict.fromkeys((self.metric, *names, *([PRIOR_FACTOR] if names else []))))
        return (self.metric,)

    @property
    def goes_by_the_clock(self) -> bool:
        """Whether no window is evidence for or against it."""
        return isinstance(self.condition, Health) and self.condition.kind == "stale"

    def covers(self, series: Series) -> bool:
        """Whether an alert of its own is about the series."""
        segment = series[1]
        return segment.startswith(f"{self.per}=") if self.per else segment == self.segment


# -- words ------------------------------------------------------------------------------------


def metric_title(metric: str) -> str:
    """A short name of a metric, for people.

    Examples
    --------
    >>> metric_title("f1"), metric_title("predictions")
    ('F1', 'Predictions')
    """
    return TITLES.get(metric) or COUNTS.get(metric) or metric.replace("_", " ")


def shown(number: float | None) -> str:
    """A number for people: three digits that count, whole numbers whole.

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
    # No powers of ten: three digits that count, as many zeros before them as it takes.
    return f"{number:.{2 - math.floor(math.log10(abs(number)))}f}".rstrip("0")


def moment_text(moment: datetime) -> str:
    """A time for people, in UTC; midnight goes without saying.

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
