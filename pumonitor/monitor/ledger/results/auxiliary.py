"""The auxiliary score of a monitor, and what is seen of its windows by it.

All functions take the connection of a transaction that is under way.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, exists, func, insert, or_, select

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.plain_json import plain_json
from pumonitor.monitor.ledger.database.queries import is_superseded, same_pane, starting_between
from pumonitor.monitor.ledger.database.schema import (
    auxiliary_scores,
    auxiliary_series,
    panes,
    series,
    windows,
)
from pumonitor.monitor.ledger.records.rows import window_of
from pumonitor.monitor.ledger.records.table_bytes import table_from_bytes, table_to_bytes
from pumonitor.ports import Pane, Window
from pumonitor.tables import ScoreTable

__all__ = [
    "AuxiliaryLook",
    "MatureLook",
    "StoredAuxiliary",
    "auxiliary_looks",
    "forget_auxiliary",
    "looks_without",
    "mature_looks",
    "store_auxiliary",
    "store_auxiliary_looks",
    "stored_auxiliary",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAuxiliary:
    """The auxiliary score of a monitor.

    Attributes
    ----------
    hash : str
        Of what its scores depend on.
    as_of : datetime
        What it was trained on was known then: no earlier look at a window uses it.
    first_start, last_start : datetime
        Of the first and the last window that it was trained on.
    facts : mapping
        Plain JSON values: windows, rows, columns, versions, and its "auc".
    score : bytes
        `AuxiliaryScore.to_bytes`.
    """

    hash: str
    as_of: datetime
    first_start: datetime
    last_start: datetime
    facts: Mapping[str, Any]
    score: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuxiliaryLook:
    """What is seen of one series of a look at a window.

    Attributes
    ----------
    model_version, segment : str
    hash : str or None
        Of the score; None where there is a reason.
    table : ScoreTable or None
        Rows by auxiliary score, sampled ones weighted by how many they stand for; None where too
        few are confirmed for a table.
    reason : str or None
        Why nothing is seen.
    """

    model_version: str
    segment: str
    hash: str | None = None
    table: ScoreTable | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatureLook:
    """Numbers of a window's mature look, over all model versions."""

    window: Window
    as_of: datetime
    rows: int
    confirmed: int


def stored_auxiliary(
    connection: Connection, monitor: str, configuration: str
) -> StoredAuxiliary | None:
    """The score, if it has been trained."""
    row = connection.execute(
        select(auxiliary_scores).where(
            auxiliary_scores.c.monitor == monitor,
            auxiliary_scores.c.configuration == configuration,
        )
    ).one_or_none()
    if row is None:
        return None
    return StoredAuxiliary(
        hash=row.hash,
        as_of=row.as_of,
        first_start=row.first_start,
        last_start=row.last_start,
        facts=row.facts,
        score=row.score,
    )


def store_auxiliary(
    connection: Connection,
    database: Database,
    monitor: str,
    configuration: str,
    trained: StoredAuxiliary,
) -> None:
    """Keep the score, unless another worker has trained it meanwhile."""
    connection.execute(
        database.insert_if_absent(auxiliary_scores).values(
            monitor=monitor,
            configuration=configuration,
            hash=trained.hash,
            as_of=trained.as_of,
            first_start=trained.first_start,
            last_start=trained.last_start,
            facts=plain_json(dict(trained.facts), "facts of the auxiliary score"),
            score=trained.score,
        )
    )


def forget_auxiliary(connection: Connection, monitor: str, configuration: str) -> bool:
    """Drop the score and all that is seen by it; whether there was one."""
    of_monitor = select(windows.c.window_key).where(
        windows.c.monitor == monitor, windows.c.configuration == configuration
    )
    connection.execute(
        delete(auxiliary_series).where(auxiliary_series.c.window_key.in_(of_monitor))
    )
    gone = connection.execute(
        delete(auxiliary_scores).where(
            auxiliary_scores.c.monitor == monitor,
            auxiliary_scores.c.configuration == configuration,
        )
    )
    return gone.rowcount > 0


def mature_looks(
    connection: Connection,
    monitor: str,
    configuration: str,
    *,
    mature: int,
    since: datetime | None,
    through: datetime,
    as_of: datetime,
    most: int,
) -> list[MatureLook]:
    """Mature looks at the first windows, in order of time.

    Parameters
    ----------
    connection : Connection
    monitor, configuration : str
    mature : int
        Number of the mature pane.
    since : datetime or None
        Start of the first window.
    through : datetime
        Start of the last window.
    as_of : datetime
        Looks until then.
    most : int
    """
    parts = {
        name: series.c.delays[name].as_integer() for name in ("labeled", "unlabeled", "negative")
    }
    query: Select[Any] = (
        select(
            windows.c.window_start,
            windows.c.window_end,
            windows.c.window_index,
            panes.c.as_of,
            func.sum(parts["labeled"]).label("confirmed"),
            func.sum(parts["labeled"] + parts["unlabeled"] + parts["negative"]).label("number"),
        )
        .join_from(series, panes, same_pane(series))
        .join(windows, windows.c.window_key == panes.c.window_key)
        .where(
            windows.c.monitor == monitor,
            windows.c.configuration == configuration,
            *starting_between(since, None),
            windows.c.window_start <= through,
            series.c.segment == "",
            panes.c.number == mature,
            panes.c.as_of <= as_of,
        )
        .group_by(
            windows.c.window_start,
            windows.c.window_end,
            windows.c.window_index,
            panes.c.as_of,
        )
        .order_by(windows.c.window_start)
        .limit(most)
    )
    return [
        MatureLook(
            window=window_of(row),
            as_of=row.as_of,
            rows=int(row.number),
            confirmed=int(row.confirmed),
        )
        for row in connection.execute(query)
    ]


def looks_without(
    connection: Connection,
    monitor: str,
    configuration: str,
    *,
    mature: int,
    since: datetime,
    through: datetime,
    as_of: datetime,
    seen_by: str,
) -> dict[str, list[Pane]]:
    """Looks of which neither anything is seen by a score nor said why not, by window key.

    Those that were the newest of their window as of a moment, and not after its mature one.

    Parameters
    ----------
    connection : Connection
    monitor, configuration : str
    mature : int
        Number of the mature pane.
    since, through : datetime
        Starts of the first and the last window.
    as_of : datetime
    seen_by : str
        Hash of the score.
    """
    is_there = (
        exists()
        .where(
            auxiliary_series.c.window_key == panes.c.window_key,
            auxiliary_series.c.pane == panes.c.number,
            or_(auxiliary_series.c.hash == seen_by, auxiliary_series.c.reason.is_not(None)),
        )
        .correlate(panes)
    )
    has_series = exists().where(
        and_(series.c.window_key == panes.c.window_key, series.c.pane == panes.c.number)
    )
    query: Select[Any] = (
        select(
            windows.c.window_key,
            windows.c.window_start,
            windows.c.window_end,
            windows.c.window_index,
            panes.c.number,
            panes.c.state,
            panes.c.as_of,
        )
        .join_from(panes, windows, windows.c.window_key == panes.c.window_key)
        .where(
            windows.c.monitor == monitor,
            windows.c.configuration == configuration,
            windows.c.window_start >= since,
            windows.c.window_start <= through,
            panes.c.number <= mature,
            panes.c.as_of <= as_of,
            panes.c.collected_at.is_not(None),
            ~is_superseded(as_of, until=mature),
            has_series,
            ~is_there,
        )
        .order_by(windows.c.window_start, panes.c.number)
    )
    found: dict[str, list[Pane]] = {}
    for row in connection.execute(query):
        pane = Pane(window=window_of(row), number=row.number, state=row.state, as_of=row.as_of)
        found.setdefault(row.window_key, []).append(pane)
    return found


def store_auxiliary_looks(
    connection: Connection, window_key: str, number: int, looks: Sequence[AuxiliaryLook]
) -> None:
    """What is seen of a look at a window, in place of what was seen of it before."""
    connection.execute(
        delete(auxiliary_series).where(
            auxiliary_series.c.window_key == window_key, auxiliary_series.c.pane == number
        )
    )
    if looks:
        connection.execute(
            insert(auxiliary_series),
            [
                {
                    "window_key": window_key,
                    "pane": number,
                    "model_version": one.model_version,
                    "segment": one.segment,
                    "hash": one.hash,
                    "table_bytes": None if one.table is None else table_to_bytes(one.table),
                    "reason": one.reason,
                }
                for one in looks
            ],
        )


def auxiliary_looks(
    connection: Connection, looks: Collection[tuple[str, int]]
) -> dict[tuple[str, int, str, str], AuxiliaryLook]:
    """What is seen of looks at windows, by window key, number, model version and segment."""
    found: dict[tuple[str, int, str, str], AuxiliaryLook] = {}
    for window_key, number in looks:
        for row in connection.execute(
            select(auxiliary_series).where(
                auxiliary_series.c.window_key == window_key, auxiliary_series.c.pane == number
            )
        ):
            found[window_key, number, row.model_version, row.segment] = AuxiliaryLook(
                model_version=row.model_version,
                segment=row.segment,
                hash=row.hash,
                table=None if row.table_bytes is None else table_from_bytes(row.table_bytes),
                reason=row.reason,
            )
    return found
