"""From when to when there are predictions, and times that cannot be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from pumonitor.errors import InputError
from pumonitor.sources.column_types.time_columns import (
    CLOCKS_DIFFER,
    PLAUSIBLE_FROM,
    TimeColumn,
    from_microseconds,
    microseconds,
    shown_moment,
)
from pumonitor.sources.windows.cost import Cost
from pumonitor.sources.windows.counts_engine import Engine
from pumonitor.sources.windows.counts_problems import Unusable, prediction_problems
from pumonitor.sources.windows.counts_query import CountQuery
from pumonitor.sources.windows.counts_rows import (
    PREDICTION_PROBLEMS,
    LabelTable,
    PredictionTable,
)
from pumonitor.sources.windows.described import named_columns

_DAY: Final = timedelta(days=1)
MOST_AHEAD: Final = 0.01
"""Largest part of a day's rows that may be ahead of now; a single row may in any case."""


class Extent(NamedTuple):
    """Rows, the times of the first and the last, and what is said of those that are set aside."""

    rows: int
    first: datetime | None
    last: datetime | None
    set_aside: str = ""


def extent_of(
    engine: Engine,
    query: CountQuery,
    cost: Cost,
    *,
    load: Callable[[Sequence[str]], None],
    now: datetime,
) -> Extent:
    """Rows of predictions with the first and the last time.

    Parameters
    ----------
    engine : Engine
        Within a snapshot.
    query : CountQuery
        About all rows.
    cost : Cost
        Has the limit of what may be read.
    load : callable
        Gets columns of predictions ready.
    now : datetime

    Raises
    ------
    InputError
        If a time is missing, cannot be read, or is of another age; if more than 1% of a day's rows
        are more than a day ahead, and not one alone; or if more would be read than is allowed.
    """
    table, what = query.predictions, "finding the first and the last prediction"
    names = (table.id.name, table.time.column.name)
    limit = now + CLOCKS_DIFFER
    ends = query.ends()
    if ends is not None:
        if table.time.column.name not in table.relation.ends:
            cost.check(query, lambda _: ends, what=what, names=names[1:])
        load(names[1:])
        ((rows, timed, first, last),) = engine.rows(ends, about=table.relation.name)
        is_whole = table.relation.rows in {None, int(rows)} and rows == timed
        # Otherwise all rows are looked at, to say how many are wrong.
        if is_whole and rows and _are_plausible(first, last, limit):
            return Extent(int(rows), from_microseconds(int(first)), from_microseconds(int(last)))
    cost.check(query, lambda one: one.span(limit), what=what, names=names)
    load(names)
    ((rows, first, last, unread, earlier, later, latest),) = engine.rows(
        query.span(limit), about=table.relation.name
    )
    if unread:
        load(named_columns(table))
        raise _unread(engine, query, found=int(unread), rows=int(rows))
    if earlier:
        msg = (
            f"time column '{table.time.column.name}' of {table.relation.name} has {earlier} "
            f"times before {PLAUSIBLE_FROM.year}, the first {shown_moment(int(first))}: a "
            "missing time written as 0, or another time_unit; repair or drop these rows"
        )
        raise InputError(msg)
    if first is None:
        return Extent(0, None, None)
    if last is None:
        raise ahead("time", table.time, table, int(later), latest)
    set_aside = _set_aside(engine, query, int(later), int(last), latest) if later else ""
    return Extent(
        int(rows) - int(later),
        from_microseconds(int(first)),
        from_microseconds(int(last)),
        set_aside,
    )


def _set_aside(engine: Engine, query: CountQuery, later: int, last: int, latest: Any) -> str:
    """What is said of rows ahead of now that are few beside those of the last day."""
    table = query.predictions
    day = from_microseconds(last) - _DAY
    ((rows,),) = engine.rows(query.rows_of_day(day), about=table.relation.name)
    if later > max(1, MOST_AHEAD * int(rows)):
        raise ahead("time", table.time, table, later, latest, of_day=int(rows))
    some = "1 time" if later == 1 else f"{later} times"
    return (
        f"time column '{table.time.column.name}' of {table.relation.name} has {some} more than a "
        f"day in the future, the last of them {shown_moment(int(latest))}: "
        f"{'this row is' if later == 1 else 'these rows are'} set aside, as the last day with "
        f"predictions has {int(rows):,} others; check the clock that writes it"
    )


def _are_plausible(first: Any, last: Any, limit: datetime) -> bool:
    return (
        first is not None
        and last is not None
        and int(first) >= microseconds(PLAUSIBLE_FROM)
        and int(last) <= microseconds(limit)
    )


def _unread(engine: Engine, query: CountQuery, *, found: int, rows: int) -> InputError:
    table = query.predictions
    problem = PREDICTION_PROBLEMS.index("time") + 1
    unusable = Unusable(
        problem=problem,
        found=found,
        examples=engine.rows(
            query.examples(problem, table.time.column, of_all=True), about=table.relation.name
        ),
    )
    return prediction_problems(table, [unusable], key=query.key, rows=rows, between=None)


def ahead(
    role: str,
    time: TimeColumn,
    table: PredictionTable | LabelTable,
    found: int,
    last: Any,
    *,
    of_day: int | None = None,
) -> InputError:
    """The error about times in the future."""
    beside = "" if of_day is None else f" beside {of_day:,} rows of the last day"
    return InputError(
        f"{role} column '{time.column.name}' of {table.relation.name} has {found} times more than "
        f"a day in the future{beside}, the last of them {shown_moment(int(last))}: check the clock "
        "that writes it, and its time_zone or time_unit"
    )
