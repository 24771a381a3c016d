"""Types of values in a configuration, each with its reader, error message and JSON Schema."""

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

from pumonitor.errors import if_percent, nearest, shortened
from pumonitor.monitor.config.values.cron import Cron, read_cron
from pumonitor.monitor.config.values.durations import read_duration
from pumonitor.monitor.rules.windows.windows import WindowGrid

_LONGEST_YEARS: Final = 100
_LONGEST: Final = timedelta(days=365.25 * _LONGEST_YEARS)
_DAYS: Final = {"h": 1 / 24, "d": 1, "w": 7, "mo": 31}
_YEARS: Final = (1970, 2200)
# Zone names without a fixed meaning: the machine's own clock, and a placeholder.
_NO_PLACE: Final = ("localtime", "posixrules", "Factory")
_MODEL_LINK = re.compile(r"models:/[^/@]+((/|@)[^/@]+)?")
Text = Annotated[str, Field(min_length=1)]
Column = Annotated[str, Field(min_length=1)]
Number = Annotated[float, Field(allow_inf_nan=False)]

_LETTERS: Final = "kmgtp"
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgtp])(i?))?(?:b|bytes)?", re.IGNORECASE)


def read_size(given: object) -> int:
    """Read a number of bytes: a whole number, or one with kB, MB, GB, TB, PB or KiB, MiB and so on.

    Raises
    ------
    ValueError
        If it cannot be read, or is 0.

    Examples
    --------
    >>> read_size("10 GB"), read_size("1.5 MiB"), read_size(4096)
    (10000000000, 1572864, 4096)
    """
    size = given if isinstance(given, int) and not isinstance(given, bool) else 0
    found = _SIZE.fullmatch(given.strip()) if isinstance(given, str) else None
    if found is not None:
        base = 1024 if found[3] else 1000
        size = round(float(found[1]) * base ** (_LETTERS.find((found[2] or " ").lower()) + 1))
    if size <= 0:
        shown: Any = shortened(given) if isinstance(given, str) else given
        msg = f"must be a number of bytes above 0, such as 10 GB, 500 MB or 5000000, got {shown!r}"
        raise ValueError(msg)
    return size


class Part(BaseModel):
    """A mapping in the file: unknown keys and values of another type are refused.

    Errors never show the given value, which may be a secret in the wrong place.
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
        """The schema with the description of each key from the docstring."""
        from pumonitor.monitor.config.text.described_keys import with_descriptions

        keys = {name: field.alias or name for name, field in cls.model_fields.items()}
        described = handler.resolve_ref_schema(handler(schema))
        # Inherited keys are described in the docstring of their own class.
        for model in reversed([one for one in cls.__mro__ if issubclass(one, Part)]):
            described = with_descriptions(described, model.__doc__, keys)
        return described


def _kind(read: Callable[[Any], Any], schema: dict[str, Any]) -> tuple[Any, Any]:
    """Annotations of a type whose values are read by `read`, with its JSON Schema."""
    return BeforeValidator(read), WithJsonSchema(schema)


def _text_schema(*examples: str) -> dict[str, Any]:
    return {"type": "string", "examples": list(examples)}


def as_tuple(given: Any) -> Any:
    """Convert a list to a tuple; anything else is returned and fails validation."""
    return tuple(given) if isinstance(given, list) else given


def _words(given: Any) -> Any:
    """Words as text: YAML reads some as numbers, and yes and no as true and false."""
    given = as_tuple(given)
    if not isinstance(given, tuple) or not all(isinstance(word, str | int) for word in given):
        msg = "must be a list of words or whole numbers, such as [confirmed]"
        raise ValueError(msg)
    return tuple(str(word).lower() if isinstance(word, bool) else str(word) for word in given)


def read_zone(given: Any) -> str:
    """Read the name of a time zone.

    Raises
    ------
    ValueError
        If it is unknown, with the most similar name; a city is enough for that.
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
    # Users may know the city and not the region.
    near = nearest(given, known) or [
        name for name in known if nearest(given, [name.rpartition("/")[2]], likeness=0.8)
    ]
    hint = f"; did you mean {near[0]!r}?" if near else " (names are like Europe/Berlin)"
    msg = f"is not a time zone: {given!r}{hint}"
    raise ValueError(msg)


def read_window_length(given: Any) -> str:
    """Read the length of windows; it stays text.

    Raises
    ------
    ValueError
        If it cannot be read or is longer than 100 years.
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
    """Read a length of time of at most 100 years, with `read_duration`.

    Raises
    ------
    ValueError
        If it cannot be read, is negative or is longer than 100 years.
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
        msg = f"must be {first} or later and before {end}, got {found}: check the year"
        raise ValueError(msg)
    return found


def is_number(given: Any) -> bool:
    """Whether a value is a finite number; booleans are not."""
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)


def _label_purity(given: Any) -> float | Literal["auto"]:
    if given == "auto":
        return "auto"
    if not is_number(given) or not 0 < given <= 1:
        hint = if_percent(float(given)) if is_number(given) else ""
        msg = f"must be auto, or a share above 0 and at most 1{hint}"
        raise ValueError(msg)
    return float(given)


Bytes = Annotated[
    int,
    *_kind(
        read_size,
        {
            "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}],
            "examples": ["10 GB", "500 MB"],
        },
    ),
]
Columns = Annotated[tuple[Column, ...], BeforeValidator(as_tuple)]
Words = Annotated[
    tuple[str, ...],
    *_kind(_words, {"type": "array", "items": {"type": ["string", "integer", "boolean"]}}),
]
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
