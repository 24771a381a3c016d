"""Values of requests, and what their models have in common."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

_EARLIEST: Final = datetime(1901, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(8999, 1, 1, tzinfo=UTC)
_LONGEST: Final = 400
_TIME: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}"


def _as_time(value: Any) -> Any:
    """Refuse numbers, which would count as seconds since 1970, and dates without a time."""
    if not (isinstance(value, str) and re.match(_TIME, value)):
        msg = "must be a time with its offset, such as 2026-03-01T06:00:00Z"
        raise ValueError(msg)
    return value


def _in_range(value: datetime) -> datetime:
    """In UTC; what no window can reach is as good as the end of time."""
    if value.year < _EARLIEST.year:
        return _EARLIEST
    return _LATEST if value.year >= _LATEST.year else value.astimezone(UTC)


def _as_switch(value: Any) -> Any:
    known = {"true": True, "false": False}
    if value not in known:
        msg = "must be true or false"
        raise ValueError(msg)
    return known[value]


_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def _as_number(value: Any) -> Any:
    """A number as JSON writes it: no plus sign, no space, no infinity."""
    if not (isinstance(value, str) and _NUMBER.fullmatch(value)):
        msg = "must be a number"
        raise ValueError(msg)
    return float(value)


Amount = Annotated[float, Field(ge=0, lt=1e15), BeforeValidator(_as_number)]
"""A number of a request that is none below 0."""

Score = Annotated[float, Field(gt=-1e15, lt=1e15), BeforeValidator(_as_number)]
"""A score of a request."""

Time = Annotated[
    AwareDatetime,
    BeforeValidator(_as_time),
    Field(description="A time with its offset, such as 2026-03-01T06:00:00Z."),
]
"""A time of a request."""

_TIME_READER: Final = TypeAdapter[datetime](Time)

Switch = Annotated[bool, BeforeValidator(_as_switch)]
"""``true`` or ``false`` in a query."""

Text = Annotated[str, Field(max_length=_LONGEST)]
"""A name or value of a request."""


class Asked(BaseModel):
    """What is asked: names that are not known are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def moment(self, name: str) -> datetime | None:
        """A time that was given, in UTC and within what windows can have."""
        value = getattr(self, name)
        return None if value is None else _in_range(value)


def read_time(given: str) -> datetime | None:
    """A time in a path; None if it is none.

    Examples
    --------
    >>> read_time("2026-03-01T00:00:00Z").isoformat(), read_time("yesterday")
    ('2026-03-01T00:00:00+00:00', None)
    """
    try:
        return _in_range(_TIME_READER.validate_python(given))
    except ValidationError:
        return None
