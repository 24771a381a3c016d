"""What may be changed: the body of each change."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field

from pumonitor.monitor.changes import LONGEST_TEXT
from pumonitor.monitor.dashboard.api.values import Asked, Time

_PRINTABLE: Final = r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$"


def _a_number(value: Any) -> Any:
    """JSON has one kind of numbers: 3.0 is 3, and "3" and true are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        msg = "must be a whole number"
        raise ValueError(msg)
    return value


Reason = Annotated[
    str,
    Field(
        max_length=LONGEST_TEXT,
        pattern=_PRINTABLE,
        description="Why; it is stored with your name and the time.",
    ),
]
Name = Annotated[str, Field(max_length=400, pattern=_PRINTABLE)]
Rule = Annotated[Name | None, Field(description="Name or key of a rule; without it, all.")]
Version = Annotated[Name | None, Field(description="Only alerts of this model version.")]
Segment = Annotated[
    Name | None, Field(description="Only alerts of this segment; empty for all rows.")
]


class NoBody(Asked):
    """An empty object."""


class AcknowledgeBody(Asked):
    """Which alerts that fire are acknowledged, or no longer."""

    rule: Rule = None
    model_version: Version = None
    segment: Segment = None
    incident: Annotated[
        Annotated[int, Field(ge=1, le=2_000_000_000), BeforeValidator(_a_number)] | None,
        Field(description="Only this incident."),
    ] = None
    reason: Reason = ""


class SilenceBody(Asked):
    """Which alerts notify nobody, until when."""

    until: Time
    rule: Rule = None
    metric: Annotated[Name | None, Field(description="Only alerts on this metric.")] = None
    model_version: Version = None
    segment: Segment = None
    reason: Reason = ""


class NoteBody(Asked):
    """A note about a moment, or about a period."""

    text: Annotated[
        str,
        Field(
            max_length=LONGEST_TEXT,
            pattern=r"^[^\x00-\x20\x7f-\x9f][^\x00-\x08\x0b-\x1f\x7f-\x9f]*$",
        ),
    ]
    at: Annotated[
        Time | None, Field(description="The moment it is about, or the beginning; now without it.")
    ] = None
    ends: Annotated[Time | None, Field(description="End of the period.")] = None
