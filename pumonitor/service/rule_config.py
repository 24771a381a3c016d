"""A rule of a monitor: which metric, what counts as bad, and for how long."""

from __future__ import annotations

import re
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
from pumonitor.names import TITLES
from pumonitor.service.config_values import Number, Part, Text, is_number

__all__ = ["COUNTS", "Change", "Rule"]

COUNTS: Final = ("labeled_positives", "predictions")
"""Metrics that are numbers of rows, beside the estimates."""

_METRICS: Final = (*TITLES, *COUNTS)
_NOT_SHARES: Final = (*COUNTS, "lift_at_k", "ll_score")
_CONDITIONS: Final = ("below", "above", "drop", "rise", "shift")
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
    if given not in _METRICS:
        hint = did_you_mean(given, _METRICS) or f" (there are {', '.join(_METRICS)})"
        msg = f"is no metric: {given!r}{hint}"
        raise ValueError(msg)
    return given


def _change(given: Any) -> Change:
    percent = _PERCENT.fullmatch(given.strip()) if isinstance(given, str) else None
    amount = float(percent[1]) / 100 if percent else given
    if not is_number(amount) or amount <= 0:
        msg = "must be a number above 0, such as 0.05, or a share of the reference, such as 10%"
        raise ValueError(msg)
    if percent and amount >= 1:
        msg = f"must be below 100%, got {given}"
        raise ValueError(msg)
    return Change(amount=float(amount), relative=percent is not None)


Metric = Annotated[str, AfterValidator(_metric), WithJsonSchema({"enum": list(_METRICS)})]
ChangeGiven = Annotated[
    Change,
    BeforeValidator(_change),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "examples": ["10%"]}]}),
]


class Rule(Part):
    """When an alert is due: one of below, above, drop, rise and shift.

    Attributes
    ----------
    metric : str
        An estimate or a number of rows.
    below, above : float or None
        The whole interval is beyond it.
    drop, rise : Change or None
        Against the reference, in the metric's unit or in percent of the reference.
    compared_with : "reference"
        `from` in the file.
    shift : "down", "up", "any" or None
        A lasting change, seen by a sequential detector.
    false_alarms_per_year : float
        Of the detector, when nothing changes.
    windows : int
        `for` in the file: so many windows in a row have to be bad.
    keep : int
        So many windows have to be good, after the first, until the alert is over.
    severity : "info", "warning" or "critical"
    resolve_on : "interval" or "estimate"
        What has to be on the good side for a window to be good.
    provisional : bool
        Windows whose labels are not all in yet count too.
    segment : mapping of str to str, or None
        Only rows of this segment, {country: DE}; the whole otherwise.
    """

    metric: Metric
    below: Number | None = None
    above: Number | None = None
    drop: ChangeGiven | None = None
    rise: ChangeGiven | None = None
    compared_with: Literal["reference"] = Field("reference", alias="from")
    shift: Literal["down", "up", "any"] | None = None
    false_alarms_per_year: Annotated[Number, Field(gt=0)] = 1.0
    windows: Annotated[int, Field(ge=1)] = Field(1, alias="for")
    keep: Annotated[int, Field(ge=0)] = 0
    severity: Literal["info", "warning", "critical"] = "critical"
    resolve_on: Literal["interval", "estimate"] = "interval"
    provisional: bool = False
    segment: dict[Text, Text] | None = None

    @model_validator(mode="after")
    def _one_condition(self) -> Rule:
        given = [name for name in _CONDITIONS if getattr(self, name) is not None]
        if len(given) != 1:
            got = f"has {' and '.join(given)}" if given else "has none of them"
            msg = f"must have one of {', '.join(_CONDITIONS)}: it {got}"
            raise ValueError(msg)
        (condition,) = given
        self._refuse_idle("compared_with", "from", needs=("drop", "rise"), condition=condition)
        self._refuse_idle(
            "false_alarms_per_year", "false_alarms_per_year", needs=("shift",), condition=condition
        )
        limit = self.below if condition == "below" else self.above
        if (
            limit is not None
            and self.metric not in _NOT_SHARES
            and limit > 1
            and not self.metric.endswith("_threshold")
        ):
            msg = f"{condition} is {limit:g}, and {self.metric} is never above 1{if_percent(limit)}"
            raise ValueError(msg)
        return self

    def _refuse_idle(
        self, field: str, name: str, *, needs: tuple[str, ...], condition: str
    ) -> None:
        if field in self.model_fields_set and condition not in needs:
            msg = f"has {name}, which goes with {' or '.join(needs)} and not with {condition}"
            raise ValueError(msg)
