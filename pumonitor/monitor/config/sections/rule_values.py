"""Types of the values in rules: limits, changes, lengths of time, rates, addresses."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, WithJsonSchema

from pumonitor.errors import if_percent
from pumonitor.monitor.config.sections.metric_names import METRICS, refuse_unknown
from pumonitor.monitor.config.values.durations import read_duration
from pumonitor.monitor.config.values.kinds import Number, Text, as_tuple, is_number

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")


class Change(BaseModel, frozen=True):
    """Allowed change of a metric from its reference.

    Attributes
    ----------
    amount : float
        In the metric's unit, or as a share of the reference if relative.
    relative : bool
    """

    amount: float
    relative: bool = False

    @property
    def in_words(self) -> str:
        """As it is written in a configuration."""
        return f"{100 * self.amount:g}%" if self.relative else f"{self.amount:g}"


def _metric(given: str) -> str:
    refuse_unknown(given)
    return given


def as_change(given: Any) -> Change:
    """Read a change: a number in the metric's unit, or a percentage of the reference.

    Raises
    ------
    ValueError
        Its message continues a sentence that begins with the place of the value.
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
    """Read a level: a number, or a percentage as a share of 1."""
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
        msg = (
            "must be reference, or the length of time whose windows are compared with, such as 28d"
        )
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
Direction = Literal["down", "up", "any"]
Runbook = Annotated[Text, AfterValidator(_address)]
