"""Kinds of values in a configuration: each reads one value, and says what it must be."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    WithJsonSchema,
)
from pydantic_core import CoreSchema

from pumonitor.errors import if_percent, nearest
from pumonitor.monitor.config.values.cron import Cron, read_cron
from pumonitor.monitor.config.values.durations import read_duration
from pumonitor.monitor.rules.windows.windows import WindowGrid

__all__ = [
    "Column",
    "Columns",
    "Duration",
    "Durations",
    "LabelPurity",
    "ModelLink",
    "Moment",
    "Number",
    "Part",
    "Schedule",
    "Text",
    "WindowLength",
    "Zone",
    "as_tuple",
    "is_number",
    "read_length",
    "read_window_length",
    "read_zone",
]

_LONGEST_YEARS: Final = 100
_LONGEST: Final = timedelta(days=365.25 * _LONGEST_YEARS)
_DAYS: Final = {"h": 1 / 24, "d": 1, "w": 7, "mo": 31}
_YEARS: Final = (1970, 2200)
# Zones by name, yet none: the clock of whatever machine this is, and a placeholder.
_NO_PLACE: Final = ("localtime", "posixrules", "Factory")
_MODEL_LINK = re.compile(r"models:/[^/@]+((/|@)[^/@]+)?")


class Part(BaseModel):
    """A mapping of the file: no key but those named, no value but of its type, nothing repeated.

    Errors never show what was given, which may be a secret in the wrong place.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        hide_input_in_errors=True,
        arbitrary_types_allowed=True,
        protected_namespaces=(),
        validate_default=False,
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """With what its docstring says of each key."""
        from pumonitor.monitor.config.text.described_keys import with_descriptions

        keys = {name: field.alias or name for name, field in cls.model_fields.items()}
        described = handler.resolve_ref_schema(handler(schema))
        # What is inherited is described where it is inherited from.
        for model in reversed([one for one in cls.__mro__ if issubclass(one, Part)]):
            described = with_descriptions(described, model.__doc__, keys)
        return described


def _kind(read: Callable[[Any], Any], schema: dict[str, Any]) -> tuple[Any, Any]:
    """What turns a type into one that `read` makes, described by a JSON Schema for editors."""
    return BeforeValidator(read), WithJsonSchema(schema)


def _text_schema(*examples: str) -> dict[str, Any]:
    return {"type": "string", "examples": list(examples)}


def as_tuple(given: Any) -> Any:
    """Lists become tuples; one value alone stays and is refused by its type."""
    return tuple(given) if isinstance(given, list) else given


def read_zone(given: Any) -> str:
    """The name of a time zone.

    Raises
    ------
    ValueError
        If it is none, with the nearest one; a city is enough to find it.
    """
    if not isinstance(given, str):
        msg = "must be the name of a time zone, such as Europe/Berlin"
        raise ValueError(msg)
    try:
        ZoneInfo(given)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    else:
        if given not in _NO_PLACE:
            return given
    known = sorted(available_timezones() - {*_NO_PLACE})
    # People know the city more often than the region.
    near = nearest(given, known) or [
        name for name in known if nearest(given, [name.rpartition("/")[2]], likeness=0.8)
    ]
    hint = f"; did you mean {near[0]!r}?" if near else " (names are like Europe/Berlin)"
    msg = f"is no time zone: {given!r}{hint}"
    raise ValueError(msg)


def read_window_length(given: Any) -> str:
    """The length of windows, as text.

    Raises
    ------
    ValueError
        If it is none, or longer than anybody lives.
    """
    if not isinstance(given, str):
        msg = "must be text such as 1d, 1h, 1w or 1mo"
        raise ValueError(msg)
    found = WindowGrid(every=given).every.strip()
    count, unit = re.fullmatch(r"(\d+)(\w+)", found).groups()  # type: ignore[union-attr]
    if int(count) * _DAYS[unit] > _LONGEST.days:
        msg = f"is longer than {_LONGEST_YEARS} years, got {given!r}"
        raise ValueError(msg)
    return found


def read_length(given: Any) -> timedelta:
    """A stretch of time, as `read_duration`, that a calendar has room for.

    Raises
    ------
    ValueError
        If it is none, or longer than anybody lives.
    """
    found = read_duration(given)
    if found > _LONGEST:
        msg = f"is longer than {_LONGEST_YEARS} years, got {given!r}"
        raise ValueError(msg)
    return found


def _model_link(given: Any) -> str:
    if not isinstance(given, str) or not _MODEL_LINK.fullmatch(given):
        msg = "must be models:/NAME, models:/NAME/VERSION or models:/NAME@ALIAS"
        raise ValueError(msg)
    return given


def _moment(given: Any) -> date | datetime:
    found: date | datetime
    try:
        found = given if isinstance(given, date) else datetime.fromisoformat(given)
    except (TypeError, ValueError):
        msg = "must be a date such as 2026-01-01, or a time such as 2026-01-01T06:00"
        raise ValueError(msg) from None
    if isinstance(given, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", given):
        found = date.fromisoformat(given)
    if not _YEARS[0] <= found.year < _YEARS[1]:
        first, end = _YEARS
        msg = f"must be from {first} to before {end}, got {found}: check the year"
        raise ValueError(msg)
    return found


def is_number(given: Any) -> bool:
    """Whether it is a finite number (true and false are none)."""
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)


def _label_purity(given: Any) -> float | Literal["auto"]:
    if given == "auto":
        return "auto"
    if not is_number(given) or not 0 < given <= 1:
        hint = if_percent(float(given)) if is_number(given) else ""
        msg = f"must be auto, or a share above 0 and at most 1{hint}"
        raise ValueError(msg)
    return float(given)


Text = Annotated[str, Field(min_length=1)]
Column = Annotated[str, Field(min_length=1)]
Columns = Annotated[tuple[Column, ...], BeforeValidator(as_tuple)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Duration = Annotated[timedelta, *_kind(read_length, _text_schema("30d", "12h"))]
Durations = Annotated[tuple[Duration, ...], BeforeValidator(as_tuple)]
WindowLength = Annotated[str, *_kind(read_window_length, _text_schema("1d", "1h", "1w", "1mo"))]
Schedule = Annotated[Cron, *_kind(read_cron, _text_schema("0 6 * * *"))]
Zone = Annotated[str, *_kind(read_zone, _text_schema("UTC", "Europe/Berlin"))]
ModelLink = Annotated[str, *_kind(_model_link, _text_schema("models:/card-fraud@champion"))]
Moment = Annotated[date | datetime, *_kind(_moment, {"type": "string", "format": "date"})]
LabelPurity = Annotated[
    float | Literal["auto"],
    *_kind(
        _label_purity,
        {"anyOf": [{"const": "auto"}, {"type": "number", "exclusiveMinimum": 0, "maximum": 1}]},
    ),
]
