"""Rules on the health of the data."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Tag, model_validator

from pumonitor.monitor.config.sections.rule_values import Change, ChangeGiven, Direction, Level
from pumonitor.monitor.config.sections.rules_of_metrics import AnyRule, SegmentRule, WindowRule
from pumonitor.monitor.config.values.kinds import Duration, Number


class NoData(WindowRule):
    """The alert fires when a window has no predictions.

    Attributes
    ----------
    health : "no_data"
        Tests the data instead of a metric: no predictions.
    """

    health: Literal["no_data"]


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


class LostRows(AnyRule):
    """The alert fires while rows or labels are gone that were counted before.

    Attributes
    ----------
    health : "lost_rows"
        Tests the data instead of a metric: whether a later look at a window has lost more of what
        was known than ``tolerated_losses`` allows.
    """

    health: Literal["lost_rows"]


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


class ScoreRange(WindowRule):
    """The alert fires when scores lie outside their usual range.

    Attributes
    ----------
    health : "score_range"
        Tests the data instead of a metric: scores outside their usual range.
    """

    health: Literal["score_range"]


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

    health: Literal["volume"]
    change: ChangeGiven

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
