"""Rules on the health of the data, whatever the model does."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pumonitor.monitor.config.sections.rule_values import Change, ChangeGiven, Direction, Level
from pumonitor.monitor.config.sections.rules_of_metrics import AnyRule, SegmentRule, WindowRule
from pumonitor.monitor.config.values.kinds import Duration, Number

__all__ = [
    "FewPositives",
    "HealthRule",
    "LabelDelay",
    "NoData",
    "ScoreRange",
    "Stale",
    "UnmatchedLabels",
    "Volume",
]


class NoData(WindowRule):
    """An alert when a window has no predictions.

    Attributes
    ----------
    health : "no_data"
        Judges the data in place of a metric: no predictions.
    """

    health: Literal["no_data"]


class Stale(AnyRule):
    """An alert when results are overdue.

    Attributes
    ----------
    health : "stale"
        Judges the data in place of a metric: late results.
    after : timedelta
        How long results may be overdue.
    """

    health: Literal["stale"]
    after: Duration


class FewPositives(SegmentRule):
    """An alert when few positives are confirmed.

    Attributes
    ----------
    health : "few_positives"
        Judges the data in place of a metric: few confirmations.
    below : float
        A window is bad when fewer positives than this are confirmed.
    """

    health: Literal["few_positives"]
    below: Level


class UnmatchedLabels(WindowRule):
    """An alert when labels belong to no prediction.

    Attributes
    ----------
    health : "unmatched_labels"
        Judges the data in place of a metric: labels without a prediction.
    above : float
        A window is bad when a larger share of the labels belongs to no prediction.
    """

    health: Literal["unmatched_labels"]
    above: Level

    @model_validator(mode="after")
    def _a_share(self) -> UnmatchedLabels:
        if not 0 <= self.above < 1:
            msg = (
                "has above, which is a share of the labels and must be below 100%, got "
                f"{self.above:g}"
            )
            raise ValueError(msg)
        return self


class ScoreRange(WindowRule):
    """An alert when scores lie outside their usual range.

    Attributes
    ----------
    health : "score_range"
        Judges the data in place of a metric: scores outside their usual range.
    """

    health: Literal["score_range"]


class Volume(WindowRule):
    """An alert when there are unusually many or few predictions.

    Attributes
    ----------
    health : "volume"
        Judges the data in place of a metric: an unusual number of predictions.
    change : Change
        A window is bad when its number of predictions differs by more than this from what is usual,
        in percent.
    """

    health: Literal["volume"]
    change: ChangeGiven

    @model_validator(mode="after")
    def _in_percent(self) -> Volume:
        _refuse_absolute(self.change, self.health)
        return self


class LabelDelay(WindowRule):
    """An alert when labels arrive later, or sooner, than usual and go on doing so.

    Attributes
    ----------
    health : "label_delay"
        Judges the data in place of a metric: labels that arrive later than usual.
    change : Change or None
        Changes of the delay that are smaller than this, in percent of what is usual, are let pass.
    shift : "down", "up", "any" or None
        Any lasting change of the delay; up means that labels come later.
    false_alarms_per_year : float
        How many false alarms a year the rule may raise while nothing changes.
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


HealthRule = NoData | Stale | FewPositives | UnmatchedLabels | ScoreRange | Volume | LabelDelay
