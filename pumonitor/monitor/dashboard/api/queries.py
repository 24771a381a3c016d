"""What may be asked: the query of each read."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from pumonitor.decisions import MOST_CASES
from pumonitor.monitor.dashboard.api.values import Amount, Asked, Score, Switch, Text, Time
from pumonitor.ports import State

_MOST: Final = 1000
_WHOLE: Final = re.compile(r"[0-9]{1,9}")


def _whole(value: Any) -> Any:
    """Digits and nothing else: no sign, space, underscore or fraction."""
    if not (isinstance(value, str) and _WHOLE.fullmatch(value)):
        msg = "must be a whole number"
        raise ValueError(msg)
    return int(value)


# Bounds stand before the check, or the document would not have them.
Many = Annotated[int, Field(ge=1, le=_MOST), BeforeValidator(_whole)]
Revision = Annotated[int, Field(ge=0, le=99_999_999), BeforeValidator(_whole)]
Limit = Annotated[Many, Field(description="Most entries that are answered.")]
Cursor = Annotated[
    Text | None, Field(description="`next` of the answer before, with the same filters.")
]
Version = Annotated[
    Text | None,
    Field(
        description="One model version; for one without a name, or of hyphens alone, add a hyphen."
    ),
]
Segment = Annotated[
    Text | None, Field(description="One segment, such as country=DE; empty for all rows.")
]
Since = Annotated[Time | None, Field(description="Only what starts then or later.")]
Until = Annotated[Time | None, Field(description="Only what starts before.")]
Monitors = Annotated[
    list[Text] | None, Field(description="Only these monitors; may be repeated.", max_length=100)
]


class NoQuery(Asked):
    """Nothing may be asked."""


class ListQuery(Asked):
    """A list in stretches."""

    limit: Limit = 100
    cursor: Cursor = None


class OneMonitorQuery(ListQuery):
    """Of one monitor, or of all that may be seen."""

    monitor: Annotated[Text | None, Field(description="Only this monitor.")] = None


class NotesQuery(OneMonitorQuery):
    """Notes, the newest first."""


class SeriesQuery(Asked):
    """One metric over windows; as the address of a monitor's page has it."""

    metric: Annotated[
        Text | None, Field(description="Without it the one that the first rule tests.")
    ] = None
    version: Version = None
    segment: Segment = None
    windows: Annotated[Many, Field(description="How many windows, the newest ones.")] = 90
    until: Until = None
    as_of: Annotated[
        Time | None, Field(description="What was known at that moment, in place of now.")
    ] = None


class WindowsQuery(ListQuery):
    """Windows of a monitor, the newest first."""

    since: Since = None
    until: Until = None


class WindowQuery(Asked):
    """One series of a window, in one revision."""

    version: Version = None
    segment: Segment = None
    revision: Annotated[Revision | None, Field(description="An earlier revision.")] = None


class DecideQuery(Asked):
    """Evidence, a threshold and what is at stake; as the address of the decide page has it."""

    version: Version = None
    segment: Segment = None
    until: Annotated[
        Time | None, Field(description="The newest mature window that starts before is taken.")
    ] = None
    threshold: Annotated[Score | None, Field(description="Another threshold to look at.")] = None
    capacity: Annotated[
        Amount | None, Field(description="In place of a threshold: how much can be reviewed.")
    ] = None
    per: Annotated[
        Literal["window", "day", "share"],
        Field(description="What the capacity is: cases a window, cases a day, or % of the cases."),
    ] = "window"
    value: Annotated[
        Amount | None, Field(description="Value of a caught positive; only with the cost.")
    ] = None
    cost: Annotated[Amount | None, Field(description="Cost of a review; only with the value.")] = (
        None
    )
    cases: Annotated[
        int,
        Field(ge=1, le=MOST_CASES, description="Cases of the random reviews that are compared."),
        BeforeValidator(_whole),
    ] = 300


class ResultsQuery(ListQuery):
    """Results of all monitors, in the order of monitor and window."""

    monitor: Monitors = None
    metric: Annotated[
        list[Text] | None, Field(description="Only these metrics; may be repeated.", max_length=100)
    ] = None
    version: Version = None
    segment: Segment = None
    state: Annotated[
        list[State] | None,
        Field(
            description="Only windows in these states; may be repeated. mature includes final.",
            max_length=3,
        ),
    ] = None
    since: Since = None
    until: Until = None
    revisions: Annotated[
        Literal["latest", "all"],
        Field(description="The newest results of each window, or earlier ones too."),
    ] = "latest"


class AlertsQuery(OneMonitorQuery):
    """Alerts in their present state."""

    firing: Annotated[
        Switch | None, Field(description="Only those that fire, or only those that do not.")
    ] = None


class HistoryQuery(OneMonitorQuery):
    """What happened, the newest first."""

    since: Annotated[Time | None, Field(description="Only what became known then or later.")] = None
    until: Annotated[Time | None, Field(description="Only what became known before.")] = None
    rule: Annotated[Text | None, Field(description="Name or key of a rule.")] = None
    kind: Annotated[
        Literal["fired", "resolved", "reminder"] | None, Field(description="Only this kind.")
    ] = None
