"""Followed class priors: the windows to follow, stored filter states, and class priors by window.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Connection, Integer, Select, bindparam, delete, func, or_, select

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.queries import (
    WINDOW_COLUMNS,
    is_superseded,
    of_monitor,
    same_pane,
    select_evaluations,
    select_series,
    starting_between,
)
from pumonitor.monitor.ledger.database.schema import (
    evaluations,
    panes,
    prior_states,
    series,
    windows,
)
from pumonitor.monitor.ledger.records.collected import PriorState, StoredSeries
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.ledger.records.rows import record_of, window_of
from pumonitor.ports import Window

_KEPT: Final = 3
"""States kept per series, as several workers may evaluate windows out of order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesAsked:
    """Selection of a segment's windows, each with its newest pane up to the mature one.

    Final panes are left out: they have later labels than the mature panes of other windows, and
    confirmed shares are comparable only at one age.

    Attributes
    ----------
    monitor, configuration : str
    segment : str
    mature : int
        Number of the mature pane.
    as_of : datetime
        Only panes of this moment or earlier.
    """

    monitor: str
    configuration: str
    segment: str
    mature: int
    as_of: datetime


def followed_series(
    connection: Connection,
    asked: SeriesAsked,
    *,
    model_version: str,
    since: datetime | None = None,
    until: datetime | None = None,
    most: int | None = None,
    newest: bool = False,
) -> tuple[StoredSeries, ...]:
    """The selected windows of a model version that start in [since, until), in order of time.

    Parameters
    ----------
    connection : Connection
    asked : SeriesAsked
    model_version : str
    since, until : datetime, optional
    most : int, optional
        Most windows to return.
    newest : bool
        Whether to return the last ones, if there are more, instead of the first.
    """
    asked_of = {
        "asked_monitor": asked.monitor,
        "asked_configuration": asked.configuration,
        "asked_segment": asked.segment,
        "asked_version": model_version,
        "mature": asked.mature,
        "moment": asked.as_of,
        "since": since,
        "until": until,
        "most": most,
    }
    # Put together once: that takes as long as the answer.
    query = _followed(
        frozenset(name for name, value in asked_of.items() if value is not None), newest=newest
    )
    given = {name: value for name, value in asked_of.items() if value is not None}
    found = [record_of(StoredSeries, row) for row in connection.execute(query, given)]
    return tuple(reversed(found) if newest else found)


@lru_cache(maxsize=16)
def _followed(given: frozenset[str], *, newest: bool) -> Select[Any]:
    start, moment = windows.c.window_start, bindparam("moment", type_=panes.c.as_of.type)
    query = (
        select_series()
        .where(
            windows.c.monitor == bindparam("asked_monitor"),
            windows.c.configuration == bindparam("asked_configuration"),
            *starting_between(
                bindparam("since") if "since" in given else None,
                bindparam("until") if "until" in given else None,
            ),
            series.c.segment == bindparam("asked_segment"),
            series.c.model_version == bindparam("asked_version"),
            panes.c.number <= bindparam("mature"),
            panes.c.as_of <= moment,
            ~is_superseded(moment, until=bindparam("mature")),
        )
        .order_by(start.desc() if newest else start)
    )
    return query.limit(bindparam("most", type_=Integer)) if "most" in given else query


def first_seen(connection: Connection, asked: SeriesAsked) -> dict[str, dict[str, datetime]]:
    """Segment to model version to the start of its first selected window, for all segments."""
    query = _versions(
        asked, series.c.segment, series.c.model_version, func.min(windows.c.window_start)
    ).group_by(series.c.segment, series.c.model_version)
    found: dict[str, dict[str, datetime]] = {}
    for segment, version, first in connection.execute(query):
        found.setdefault(segment, {})[version] = first
    return found


def versions_before(
    connection: Connection, asked: SeriesAsked, *, until: datetime
) -> dict[str, int]:
    """Model version to its number of predictions in selected windows that start before `until`."""
    parts = [series.c.delays[name].as_integer() for name in ("labeled", "unlabeled", "negative")]
    query = (
        _versions(asked, series.c.model_version, func.sum(parts[0] + parts[1] + parts[2]))
        .where(
            series.c.segment == asked.segment,
            windows.c.window_start < until,
            ~is_superseded(asked.as_of, until=asked.mature),
        )
        .group_by(series.c.model_version)
    )
    return {version: int(number) for version, number in connection.execute(query)}


def _versions(asked: SeriesAsked, *columns: Any) -> Select[Any]:
    return (
        select(*columns)
        .join_from(series, panes, same_pane(series))
        .join(windows, windows.c.window_key == panes.c.window_key)
        .where(
            *of_monitor(asked.monitor, asked.configuration),
            panes.c.number <= asked.mature,
            panes.c.as_of <= asked.as_of,
        )
    )


def windows_known(
    connection: Connection, monitor: str, configuration: str, *, mature: int, until: datetime
) -> list[tuple[datetime, datetime]]:
    """Start of each window before `until` with a mature pane, and when that was collected."""
    rows = connection.execute(
        select(windows.c.window_start, panes.c.collected_at)
        .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
        .where(
            *of_monitor(monitor, configuration),
            windows.c.window_start < until,
            panes.c.number == mature,
            panes.c.collected_at.is_not(None),
        )
        .order_by(windows.c.window_start)
    )
    return [(row.window_start, row.collected_at) for row in rows]


def stored_class_priors(
    connection: Connection, monitor: str, configuration: str, *, start: datetime, number: int
) -> dict[tuple[str, str], Mapping[str, Any] | None]:
    """Class priors of the newest results of a pane, by model version and segment."""
    rows = connection.execute(
        select_evaluations().where(
            *of_monitor(monitor, configuration),
            windows.c.window_start == start,
            panes.c.number == number,
            panes.c.status == "evaluated",
            evaluations.c.revision == panes.c.revision,
        )
    )
    return {
        (row.model_version, row.segment): row.evaluation["made_with"]["class_prior"] for row in rows
    }


def newest_class_prior(
    connection: Connection,
    monitor: str,
    configuration: str,
    *,
    start: datetime,
    model_version: str,
    segment: str,
    as_of: datetime,
) -> Mapping[str, Any] | None:
    """Class prior of the newest results of a window and series, as of a moment."""
    row = connection.execute(
        select_evaluations()
        .where(
            *of_monitor(monitor, configuration),
            windows.c.window_start == start,
            panes.c.as_of <= as_of,
            evaluations.c.revision == panes.c.revision,
            evaluations.c.model_version == model_version,
            evaluations.c.segment == segment,
        )
        .order_by(panes.c.number.desc())
        .limit(1)
    ).first()
    return None if row is None else row.evaluation["made_with"]["class_prior"]


def newest_prior_state(
    connection: Connection, asked: SeriesAsked, *, model_version: str, before: datetime
) -> PriorState | None:
    """The last stored state of a window that starts before `before`; None if there is none."""
    row = connection.execute(
        select(prior_states)
        .where(
            prior_states.c.monitor == asked.monitor,
            prior_states.c.configuration == asked.configuration,
            prior_states.c.segment == asked.segment,
            prior_states.c.model_version == model_version,
            prior_states.c.window_start < before,
        )
        .order_by(prior_states.c.window_start.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else record_of(PriorState, row)


def series_with_states(
    connection: Connection, monitor: str, configuration: str
) -> set[tuple[str, str]]:
    """Segment and model version of each series that has stored states."""
    rows = connection.execute(
        select(prior_states.c.segment, prior_states.c.model_version)
        .distinct()
        .where(
            prior_states.c.monitor == monitor,
            prior_states.c.configuration == configuration,
        )
    )
    return {(row.segment, row.model_version) for row in rows}


def prior_states_at(
    connection: Connection, monitor: str, configuration: str, window_start: datetime
) -> list[PriorState]:
    """The stored states of all series after the window that starts then."""
    rows = connection.execute(
        select(prior_states).where(
            prior_states.c.monitor == monitor,
            prior_states.c.configuration == configuration,
            prior_states.c.window_start == window_start,
        )
    )
    return [record_of(PriorState, row) for row in rows]


def store_prior_states(
    connection: Connection,
    database: Database,
    monitor: str,
    configuration: str,
    states: Sequence[PriorState],
) -> None:
    """Store states, and delete all but the newest of each series."""
    for one in states:
        of_series = {
            "monitor": monitor,
            "configuration": configuration,
            "segment": one.segment,
            "model_version": one.model_version,
        }
        same = [prior_states.c[name] == value for name, value in of_series.items()]
        at = prior_states.c.window_start
        connection.execute(delete(prior_states).where(*same, at == one.window_start))
        connection.execute(
            database.insert_if_absent(prior_states).values(
                **of_series,
                window_start=one.window_start,
                known=one.known,
                state=one.state,
            )
        )
        kept = select(at).where(*same).order_by(at.desc()).limit(_KEPT)
        oldest = min(connection.scalars(kept))
        connection.execute(delete(prior_states).where(*same, at < oldest))


def class_priors_over_windows(
    connection: Connection,
    found: StoredEvaluation,
    *,
    predecessor: str | None,
    since: datetime,
) -> list[tuple[Window, str, Mapping[str, Any]]]:
    """Class priors of a series' windows up to an evaluation, as known at its moment.

    Parameters
    ----------
    connection : Connection
    found : StoredEvaluation
        Evaluation of the last window.
    predecessor : str or None
        Model version that was followed before; used for windows without the series' own version.
    since : datetime
        Only windows that start then or later.

    Returns
    -------
    list of (Window, str, mapping)
        Window, model version and class prior, in order of time.
    """
    stored = evaluations.c.evaluation["made_with"]["class_prior"]
    configuration = select(windows.c.configuration).where(windows.c.window_key == found.window_key)
    own = evaluations.c.model_version == found.model_version
    query: Select[Any] = (
        select(*WINDOW_COLUMNS, evaluations.c.model_version, stored.label("class_prior"))
        .join_from(evaluations, panes, same_pane(evaluations))
        .join(windows, windows.c.window_key == panes.c.window_key)
        .where(
            windows.c.monitor == found.monitor,
            windows.c.configuration == configuration.scalar_subquery(),
            *starting_between(since, found.window.end),
            or_(own, evaluations.c.model_version == predecessor),
            evaluations.c.segment == found.segment,
            panes.c.as_of <= found.as_of,
        )
        .order_by(windows.c.window_start, own, panes.c.as_of, evaluations.c.revision)
    )
    newest = {row.window_key: row for row in connection.execute(query)}
    return [
        (window_of(row), row.model_version, row.class_prior)
        for row in newest.values()
        if row.class_prior is not None
    ]
