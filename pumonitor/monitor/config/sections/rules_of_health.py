"""Rules on the health of the data."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field, Tag, model_validator

from pumonitor.monitor.config.sections.rule_values import Change, ChangeGiven, Direction, Level
from pumonitor.monitor.config.sections.rules_of_metrics import (
    LEAST_TO_LEARN,
    AnyRule,
    RuleBasis,
    SegmentRule,
    WindowRule,
)
from pumonitor.monitor.config.values.kinds import Duration, Number
from pumonitor.monitor.rules.alerts import by_clock, health

if TYPE_CHECKING:
    from pumonitor.monitor.rules.alerts.rule import Condition

_DAY: Final = timedelta(days=1)
_LABELS_ARE_USUAL: Final = timedelta(days=28)
"""Without a reference, the usual label delay is learned from the windows of this time."""


class NoData(WindowRule):
    """The alert fires when a window has no predictions.

    Attributes
    ----------
    health : "no_data"
        Tests the data instead of a metric: no predictions.
    """

    is_seen_at_once = True

    health: Literal["no_data"]

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """No predictions."""
        return health.NoPredictions()

    @property
    def empty_windows(self) -> int:
        """It finds fault with them."""
        return self.windows


class Stale(AnyRule):
    """The alert fires when results are overdue.

    Attributes
    ----------
    health : "stale"
        Tests the data instead of a metric: late results.
    after : timedelta
        How long results may be overdue.
    """

    health: Literal["stale"]
    after: Duration

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """Late results."""
        return by_clock.LateResults(limit=self.after.total_seconds())


class LostRows(AnyRule):
    """The alert fires while rows or labels are gone that were counted before.

    Attributes
    ----------
    health : "lost_rows"
        Tests the data instead of a metric: whether a later look at a window has lost more of what
        was known than ``tolerated_losses`` allows.
    """

    health: Literal["lost_rows"]

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """Rows that are gone."""
        return by_clock.VanishedRows()


class FewPositives(SegmentRule):
    """The alert fires when too few positives are confirmed.

    Attributes
    ----------
    health : "few_positives"
        Tests the data instead of a metric: few confirmed positives.
    below : float
        A window is bad when fewer positives than this are confirmed.
    """

    health: Literal["few_positives"]
    below: Level

    @property
    def tested_metric(self) -> str:
        """A number of rows."""
        return "labeled_positives"

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """A limit on their number."""
        from pumonitor.monitor.rules.alerts import limit

        return limit.Limit(side="below", limit=self.below)

    def in_words(self, warning: Change | None) -> list[str]:
        """The limit."""
        return ["below", f"{self.below:g}"]


class UnmatchedLabels(WindowRule):
    """The alert fires when too many labels belong to no prediction.

    Attributes
    ----------
    health : "unmatched_labels"
        Tests the data instead of a metric: labels without a prediction.
    above : float
        A window is bad when a larger share of its labels than this belongs to no prediction.
    """

    health: Literal["unmatched_labels"]
    above: Level

    @model_validator(mode="after")
    def _a_share(self) -> UnmatchedLabels:
        if not 0 <= self.above < 1:
            msg = (
                f"has an above of {self.above:g}: it is a share of the labels and must be below "
                "100%"
            )
            raise ValueError(msg)
        return self

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """A limit on their share."""
        return health.OrphanLabels(limit=self.above)

    def in_words(self, warning: Change | None) -> list[str]:
        """The limit."""
        return ["above", f"{self.above:g}"]


class ScoreRange(WindowRule):
    """The alert fires when scores lie outside their usual range.

    Attributes
    ----------
    health : "score_range"
        Tests the data instead of a metric: scores outside their usual range.
    """

    is_seen_at_once = True

    health: Literal["score_range"]

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """Scores outside their usual range."""
        return health.UnusualScores()


class Volume(WindowRule):
    """The alert fires when there are unusually many or few predictions.

    Attributes
    ----------
    health : "volume"
        Tests the data instead of a metric: an unusual number of predictions.
    change : Change
        A window is bad when its number of predictions differs by more than this percentage from the
        mean of the 28 days before.
    """

    is_seen_at_once = True

    health: Literal["volume"]
    change: ChangeGiven

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """More or fewer predictions than usual."""
        return health.UnusualVolume(limit=self.change.amount)

    def in_words(self, warning: Change | None) -> list[str]:
        """The allowed change."""
        return ["change", self.change.in_words]

    @property
    def empty_windows(self) -> int:
        """It finds fault with them."""
        return self.windows

    @model_validator(mode="after")
    def _in_percent(self) -> Volume:
        _refuse_absolute(self.change, self.health)
        return self


class LabelDelay(WindowRule):
    """The alert fires when the label delay has changed and stays changed.

    Attributes
    ----------
    health : "label_delay"
        Tests the data instead of a metric: a lasting change of the label delay.
    change : Change or None
        Allowed change in percent of the usual delay; smaller changes do not fire the alert.
    shift : "down", "up", "any" or None
        Direction of the lasting changes to detect, of any size; up means that labels arrive later.
    false_alarms_per_year : float
        Accepted number of false alarms per year while nothing changes.
    """

    health: Literal["label_delay"]
    change: ChangeGiven | None = None
    shift: Direction | None = None
    false_alarms_per_year: Annotated[Number, Field(gt=0)] = 1.0

    def make_condition(self, basis: RuleBasis, warning: Change | None) -> Condition:
        """By a detector; without a reference it learns from the windows of four weeks."""
        from pumonitor.monitor.rules.alerts import label_delay

        windows, window = basis.windows, basis.window
        if basis.ends is None:
            windows = min(windows, -(-_LABELS_ARE_USUAL // window))
        return label_delay.LabelDelay(
            direction=self.shift or "any",
            change=0.0 if self.change is None else self.change.amount,
            maturity=basis.maturity,
            false_alarms_per_year=self.false_alarms_per_year,
            windows_per_year=basis.windows_per_year,
            reference_windows=max(windows, LEAST_TO_LEARN),
            windows_per_day=_DAY // window if _DAY % window == timedelta() else 0,
            begins=basis.begins,
        )

    def in_words(self, warning: Change | None) -> list[str]:
        """The direction, or the allowed change."""
        if self.shift is not None:
            return ["shift", self.shift]
        return [] if self.change is None else ["change", self.change.in_words]

    @model_validator(mode="after")
    def _in_percent(self) -> LabelDelay:
        _refuse_absolute(self.change, self.health)
        return self


def _refuse_absolute(change: Change | None, health: str) -> None:
    if change is not None and not change.relative:
        msg = f"needs change in percent with health: {health}, such as change: 50%"
        raise ValueError(msg)


HealthRule = (
    Annotated[NoData, Tag("health: no_data")]
    | Annotated[Stale, Tag("health: stale")]
    | Annotated[LostRows, Tag("health: lost_rows")]
    | Annotated[FewPositives, Tag("health: few_positives")]
    | Annotated[UnmatchedLabels, Tag("health: unmatched_labels")]
    | Annotated[ScoreRange, Tag("health: score_range")]
    | Annotated[Volume, Tag("health: volume")]
    | Annotated[LabelDelay, Tag("health: label_delay")]
)
"""Each kind of rule on the data, with its discriminator tag."""
