"""Store and read a monitor's auxiliary score, and the auxiliary tables of its panes.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, and_, delete, exists, func, insert, or_, select

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.plain_json import plain_json
from pumonitor.monitor.ledger.database.queries import (
    is_superseded,
    of_monitor,
    same_pane,
    starting_between,
)
from pumonitor.monitor.ledger.database.schema import (
    auxiliary_scores,
    auxiliary_series,
    panes,
    series,
    windows,
)
from pumonitor.monitor.ledger.records.rows import record_of
from pumonitor.ports import Pane, Window

if TYPE_CHECKING:
    from pumonitor.tables import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAuxiliary:
    """The auxiliary score of a monitor.

    Attributes
    ----------
    hash : str
        Hash of everything that its scores depend on.
    as_of : datetime
        It was trained on what was known then; panes of an earlier moment do not use it.
    first_start, last_start : datetime
        Starts of the first and the last window that it was trained on.
    facts : mapping
        In JSON types: windows, rows, columns, versions, and its "auc".
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
class AuxiliarySeries:
    """Auxiliary table of one series of a pane.

    Attributes
    ----------
    model_version, segment : str
    hash : str or None
        Hash of the auxiliary score; None if there is a reason.
    table : ScoreTable or None
        Rows by auxiliary score; sampled rows are weighted. None with too few confirmed positives.
    reason : str or None
        Why there is no table.
    """

    model_version: str
    segment: str
    hash: str | None = None
    table: ScoreTable | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPane:
    """Numbers of rows in a window's mature pane, over all model versions."""

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
    return None if row is None else record_of(StoredAuxiliary, row)


def store_auxiliary(
    connection: Connection,
    database: Database,
    monitor: str,
    configuration: str,
    trained: StoredAuxiliary,
) -> None:
    """Store the score, unless another worker has stored one."""
    connection.execute(
        database.insert_if_absent(auxiliary_scores).values(
            asdict(trained)
            | {"monitor": monitor, "configuration": configuration}
            | {"facts": plain_json(dict(trained.facts), "facts of the auxiliary score")}
        )
    )


def forget_auxiliary(connection: Connection, monitor: str, configuration: str) -> bool:
    """Delete the score and its auxiliary tables; returns whether there was one."""
    own = select(windows.c.window_key).where(*of_monitor(monitor, configuration))
    connection.execute(delete(auxiliary_series).where(auxiliary_series.c.window_key.in_(own)))
    gone = connection.execute(
        delete(auxiliary_scores).where(
            auxiliary_scores.c.monitor == monitor,
            auxiliary_scores.c.configuration == configuration,
        )
    )
    return gone.rowcount > 0


def training_panes(
    connection: Connection,
    monitor: str,
    configuration: str,
    *,
    mature: int,
    since: datetime | None,
    through: datetime,
    as_of: datetime,
    most: int,
) -> list[TrainingPane]:
    """Mature panes of the first windows, in order of time.

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
        Only panes of this moment or earlier.
    most : int
        Most windows to return.
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
            *of_monitor(monitor, configuration),
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
        record_of(TrainingPane, row, rows=int(row.number), confirmed=int(row.confirmed))
        for row in connection.execute(query)
    ]


def panes_without_auxiliary(
    connection: Connection,
    monitor: str,
    configuration: str,
    *,
    mature: int,
    since: datetime,
    through: datetime,
    as_of: datetime,
    score_hash: str,
) -> dict[str, list[Pane]]:
    """Panes with neither an auxiliary table of a score nor a stored reason, by window key.

    Only the newest pane of each window as of a moment, and none after the mature one.

    Parameters
    ----------
    connection : Connection
    monitor, configuration : str
    mature : int
        Number of the mature pane.
    since, through : datetime
        Starts of the first and the last window.
    as_of : datetime
    score_hash : str
        Hash of the score.
    """
    is_there = (
        exists()
        .where(
            auxiliary_series.c.window_key == panes.c.window_key,
            auxiliary_series.c.pane == panes.c.number,
            or_(auxiliary_series.c.hash == score_hash, auxiliary_series.c.reason.is_not(None)),
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
            *of_monitor(monitor, configuration),
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
        found.setdefault(row.window_key, []).append(record_of(Pane, row))
    return found


def store_auxiliary_series(
    connection: Connection, window_key: str, number: int, found: Sequence[AuxiliarySeries]
) -> None:
    """Store the auxiliary tables of a pane in place of earlier ones."""
    connection.execute(
        delete(auxiliary_series).where(
            auxiliary_series.c.window_key == window_key, auxiliary_series.c.pane == number
        )
    )
    if found:
        from pumonitor.monitor.ledger.records.table_bytes import table_to_bytes

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
                for one in found
            ],
        )


def stored_auxiliary_series(
    connection: Connection, places: Collection[tuple[str, int]]
) -> dict[tuple[str, int, str, str], AuxiliarySeries]:
    """Auxiliary tables of panes, by window key, pane number, model version and segment."""
    from pumonitor.monitor.ledger.records.table_bytes import table_from_bytes

    found: dict[tuple[str, int, str, str], AuxiliarySeries] = {}
    for window_key, number in places:
        for row in connection.execute(
            select(auxiliary_series).where(
                auxiliary_series.c.window_key == window_key, auxiliary_series.c.pane == number
            )
        ):
            found[window_key, number, row.model_version, row.segment] = record_of(
                AuxiliarySeries,
                row,
                table=None if row.table_bytes is None else table_from_bytes(row.table_bytes),
            )
    return found
