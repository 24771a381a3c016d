"""Class priors as they were followed up to a window: what the next window goes on from.

All functions take the connection of a transaction that is under way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, delete, func, or_, select

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.queries import (
    WINDOW_COLUMNS,
    equal,
    is_superseded,
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
from pumonitor.monitor.ledger.records.rows import series_in, window_of
from pumonitor.ports import Window

__all__ = [
    "SeriesAsked",
    "class_priors_over_windows",
    "first_seen",
    "followed_series",
    "newest_class_prior",
    "newest_prior_state",
    "prior_states_at",
    "store_prior_states",
    "stored_class_priors",
    "versions_before",
    "windows_known",
]

_KEPT: Final = 3
"""Windows may be evaluated out of order by as many workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesAsked:
    """A segment's windows, each by the newest look at it that does not come after its mature one.

    Later looks have labels that came late, which others have not: shares that are confirmed must
    be of one age to be compared.

    Attributes
    ----------
    monitor, configuration : str
    segment : str
    mature : int
        Number of the mature pane.
    as_of : datetime
        Looks until then.
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
    """The windows of a version that start in [since, until), in order of time.

    Parameters
    ----------
    connection : Connection
    asked : SeriesAsked
    model_version : str
    since, until : datetime, optional
    most : int, optional
        So many at most.
    newest : bool
        Which are left where there are more: the last ones, or else the first.
    """
    start = windows.c.window_start
    query = (
        select_series()
        .where(
            windows.c.monitor == asked.monitor,
            windows.c.configuration == asked.configuration,
            *starting_between(since, until),
            series.c.segment == asked.segment,
            *equal(series.c.model_version, model_version),
            panes.c.number <= asked.mature,
            panes.c.as_of <= asked.as_of,
            ~is_superseded(asked.as_of, until=asked.mature),
        )
        .order_by(start.desc() if newest else start)
        .limit(most)
    )
    found = [series_in(row) for row in connection.execute(query)]
    return tuple(reversed(found) if newest else found)


def first_seen(
    connection: Connection, asked: SeriesAsked, *, model_version: str
) -> datetime | None:
    """Start of the first window that has the version."""
    first: datetime | None = connection.scalar(
        _versions(asked, func.min(windows.c.window_start)).where(
            series.c.model_version == model_version
        )
    )
    return first


def versions_before(
    connection: Connection, asked: SeriesAsked, *, until: datetime
) -> dict[str, int]:
    """Predictions of each model version in the windows that start before then."""
    parts = [series.c.delays[name].as_integer() for name in ("labeled", "unlabeled", "negative")]
    query = (
        _versions(asked, series.c.model_version, func.sum(parts[0] + parts[1] + parts[2]))
        .where(windows.c.window_start < until, ~is_superseded(asked.as_of, until=asked.mature))
        .group_by(series.c.model_version)
    )
    return {version: int(number) for version, number in connection.execute(query)}


def _versions(asked: SeriesAsked, *columns: Any) -> Select[Any]:
    return (
        select(*columns)
        .join_from(series, panes, same_pane(series))
        .join(windows, windows.c.window_key == panes.c.window_key)
        .where(
            windows.c.monitor == asked.monitor,
            windows.c.configuration == asked.configuration,
            series.c.segment == asked.segment,
            panes.c.number <= asked.mature,
            panes.c.as_of <= asked.as_of,
        )
    )


def windows_known(
    connection: Connection, monitor: str, configuration: str, *, mature: int, until: datetime
) -> list[tuple[datetime, datetime]]:
    """Windows that start before then and have a mature look, in order, and when it was made."""
    rows = connection.execute(
        select(windows.c.window_start, panes.c.collected_at)
        .join_from(panes, windows, panes.c.window_key == windows.c.window_key)
        .where(
            windows.c.monitor == monitor,
            windows.c.configuration == configuration,
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
    """Class priors that the newest results of a look stand on, by model version and segment."""
    rows = connection.execute(
        select_evaluations().where(
            windows.c.monitor == monitor,
            windows.c.configuration == configuration,
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
    """The class prior that the newest results of a window and series stand on, as of a moment."""
    row = connection.execute(
        select_evaluations()
        .where(
            windows.c.monitor == monitor,
            windows.c.configuration == configuration,
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
    """The state after the last window that starts earlier, of those that are kept."""
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
    return None if row is None else _state_in(row)


def prior_states_at(
    connection: Connection, monitor: str, configuration: str, window_start: datetime
) -> list[PriorState]:
    """The states after the window that starts then, of all series."""
    rows = connection.execute(
        select(prior_states).where(
            prior_states.c.monitor == monitor,
            prior_states.c.configuration == configuration,
            prior_states.c.window_start == window_start,
        )
    )
    return [_state_in(row) for row in rows]


def _state_in(row: Row[Any]) -> PriorState:
    return PriorState(
        segment=row.segment,
        model_version=row.model_version,
        window_start=row.window_start,
        known=row.known,
        state=row.state,
    )


def store_prior_states(
    connection: Connection,
    database: Database,
    monitor: str,
    configuration: str,
    states: Sequence[PriorState],
) -> None:
    """Keep them, in place of those of windows longer ago."""
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
    """Class priors of the windows of a series up to one, as they were known when it was looked at.

    Parameters
    ----------
    connection : Connection
    found : StoredEvaluation
        Of the last window.
    predecessor : str or None
        The model version that was followed before; its windows count where those of the series'
        own are not there.
    since : datetime
        Windows that start then or later.

    Returns
    -------
    list of (Window, str, mapping)
        In order of time, of those that have one, with the model version.
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
