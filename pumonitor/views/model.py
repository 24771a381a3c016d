"""What all views have in common: a frozen model, and how its times and numbers are written."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Self, TextIO

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, WithJsonSchema

from pumonitor.plain_text import write_csv


def _none_unless_finite(value: Any) -> Any:
    """None in place of what JSON has no number for."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


Moment = Annotated[
    datetime,
    PlainSerializer(
        lambda moment: moment.astimezone(UTC).isoformat(), return_type=str, when_used="json"
    ),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A time: ISO 8601 in UTC."""

Number = Annotated[float | None, BeforeValidator(_none_unless_finite)]
"""A number; null where it is undefined."""


class View(BaseModel):
    """What people see of one thing: JSON, the API, CSV, messages and pages have these fields.

    Examples
    --------
    >>> class Estimate(View):
    ...     at: Moment
    ...     value: Number
    >>> Estimate(at=datetime(2026, 3, 1, tzinfo=UTC), value=float("nan")).to_dict()
    {'at': '2026-03-01T00:00:00+00:00', 'value': None}
    """

    model_config = ConfigDict(extra="forbid", frozen=True, from_attributes=True)

    @classmethod
    def from_record(cls, record: object, **others: Any) -> Self:
        """Fields that a record has by the same names, and others."""
        same = (name for name in cls.model_fields if name not in others and hasattr(record, name))
        return cls.model_validate({name: getattr(record, name) for name in same} | others)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return self.model_dump(mode="json")


def write_views_csv(views: Iterable[View], file: TextIO, *, model: type[View]) -> None:
    """Write a header and a line for each view: the fields of the model are the columns.

    Examples
    --------
    >>> import io
    >>> class Row(View):
    ...     segment: str
    ...     value: Number
    >>> file = io.StringIO()
    >>> write_views_csv([Row(segment="=1+1", value=None)], file, model=Row)
    >>> file.getvalue().splitlines()
    ['segment,value', "'=1+1,"]
    """
    rows = (list(map(_on_one_line, view.to_dict().values())) for view in views)
    write_csv(file, list(model.model_fields), rows)


def _on_one_line(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return value.replace("\r", "\\r").replace("\n", "\\n")
