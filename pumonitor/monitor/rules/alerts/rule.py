"""Alert rules and their conditions, and the windows that they are tested on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pumonitor.monitor.rules.alerts.states import Evidence
from pumonitor.monitor.rules.reference.one_prior import AUDITED_SHARE
from pumonitor.names import title
from pumonitor.ports import Window

if TYPE_CHECKING:
    from pumonitor.monitor.rules.alerts.fold import RuleFold
    from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows

Series = tuple[str, str]
"""Model version ("" without versions) and segment ("" for all rows)."""

WHOLE: Final = ("", "")
"""All rows of all model versions together, which rules on the health of the data are about."""


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

Tests = Callable[[Sequence[WindowView], int], Mapping[Series, Evidence]]
"""Evidence of the window at an index of all windows; windows before it were tested before."""


class Condition(ABC):
    """What a kind of rule tests: one class answers everything that is asked about the kind.

    A new kind is a frozen dataclass in a file of its own. `SeriesCondition` is for those that test
    each series, `HealthCondition` for those that test all rows of a window, `ClockCondition` for
    those that test no window.
    """

    __slots__ = ()

    goes_by_the_clock: ClassVar[bool] = False
    """Whether it is evaluated by the clock and not by window."""
    is_of_all_rows: ClassVar[bool] = False
    """Whether it reads the results of all series, whatever the rule's segment."""
    key_version: ClassVar[int] = 1
    """Part of the keys of its rules: a kind that tests otherwise than before has new alerts."""
    reads_scores: ClassVar[bool] = False
    """Whether it reads the range of scores of a window."""

    @property
    @abstractmethod
    def fires(self) -> str:
        """When the rule fires, in words: a clause without a full stop."""

    @property
    def needs_reference(self) -> bool:
        """Whether it compares with the monitor's reference."""
        return False

    @property
    def chosen_rate(self) -> float | None:
        """False alarms per year that were chosen for it; None where they follow from the limit."""
        return None

    def metrics(self, metric: str) -> tuple[str, ...]:
        """Names of the results that it reads for a rule on this metric."""
        return (metric,)

    def reads(self, view: WindowView, known_reference: KnownReference | None) -> Hashable:
        """Everything that it reads of a window besides results."""
        del view, known_reference
        return None

    def tests(self, fold: RuleFold) -> Tests:
        """What tests the windows of a fold one after the other; detectors keep their state in it.

        Raises
        ------
        ValueError
            For a condition that is not evaluated by window.
        """
        msg = f"{type(self).__name__} is not evaluated by window"
        raise ValueError(msg)

    def first_window(
        self, first: datetime, *, reference_end: datetime | None
    ) -> tuple[datetime, int]:
        """When the first window that can be tested begins, and how many are skipped from there.

        Parameters
        ----------
        first : datetime
            The first prediction.
        reference_end : datetime or None
        """
        del reference_end
        return first, 0

    def sentence(self, rule: AlertRule, evidence: Evidence) -> str:
        """What a message says of a window, as a clause."""
        return evidence.reason or f"{title(rule.metric)} is {evidence.kind}"


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
    condition : Condition
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
        names = self.condition.metrics(self.metric)
        return (*names, AUDITED_SHARE) if self.audited else names

    @property
    def goes_by_the_clock(self) -> bool:
        """Whether the rule is evaluated by the clock and not by window."""
        return self.condition.goes_by_the_clock

    def covers(self, series: Series) -> bool:
        """Whether the rule has an alert for this series."""
        segment = series[1]
        return segment.startswith(f"{self.per}=") if self.per else segment == self.segment


def earlier_windows(
    views: Sequence[WindowView], index: int, over: timedelta | None
) -> Sequence[WindowView]:
    """Windows before this one that begin at most `over` before it; none if that is None."""
    if over is None:
        return ()
    earliest = views[index].window.start - over
    first = index
    while first > 0 and views[first - 1].window.start >= earliest:
        first -= 1
    return views[first:index]
