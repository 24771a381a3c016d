"""Read what was expected of windows whose labels are mature by now, and what they became."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import CTE, ColumnElement, FromClause, and_, func, select

from pumonitor.monitor.ledger.database.queries import equal, starting_between
from pumonitor.monitor.ledger.database.schema import newest_panes, panes, results
from pumonitor.monitor.ledger.results.database_reader import DatabaseReader
from pumonitor.monitor.ledger.results.read_series import LIMIT, current_monitors

_EXPECTED: Final = "_expected"


@dataclass(frozen=True, slots=True)
class Realised:
    """A metric of a window, as it was expected at one of its looks and as it became.

    Attributes
    ----------
    window_start, window_end : datetime
    model_version : str
    look : int
        Number of the pane, from 0.
    as_of : datetime
        Labels known by then were used for the expectation.
    low, high : float
        The interval in which the mature value was expected.
    expected, became : float
    """

    window_start: datetime
    window_end: datetime
    model_version: str
    look: int
    as_of: datetime
    low: float
    high: float
    expected: float
    became: float


class RealisedReader(DatabaseReader):
    """Reads expectations beside what became of them."""

    def realised(
        self,
        monitor: str,
        metric: str,
        *,
        segment: str = "",
        model_version: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = LIMIT,
    ) -> tuple[Realised, ...]:
        """Every provisional look at windows that are mature now, the latest windows first.

        What became of a window is the last revision of its mature pane: a later, final pane has
        labels that nobody predicted. A value that cannot be right is taken as it was estimated,
        and so is its expectation, before both were brought into their range: to leave such windows
        out would choose them by what became of them.

        Parameters
        ----------
        monitor, metric : str
        segment : str
            "" for all rows.
        model_version : str, optional
            By default all.
        since, until : datetime, optional
            Only windows that start in [since, until).
        limit : int
        """
        looks, then = _looks(monitor, segment, model_version, since, until), results.alias("then")

        def result_of(of: FromClause, pane: str, revision: str) -> ColumnElement[bool]:
            return and_(
                of.c.window_key == looks.c.window_key,
                of.c.pane == looks.c[pane],
                of.c.revision == looks.c[revision],
                of.c.model_version == looks.c.model_version,
                of.c.segment == looks.c.segment,
            )

        query = (
            select(
                looks.c.window_start,
                looks.c.window_end,
                looks.c.model_version,
                looks.c.number,
                looks.c.as_of,
                func.coalesce(then.c.unclipped_low, then.c.low),
                func.coalesce(then.c.unclipped_high, then.c.high),
                func.coalesce(then.c.unclipped_value, then.c.value),
                func.coalesce(results.c.unclipped_value, results.c.value),
            )
            .join_from(looks, then, result_of(then, "number", "revision"))
            .join(results, result_of(results, "mature_number", "mature_revision"))
            .where(
                then.c.metric == metric + _EXPECTED,
                results.c.metric == metric,
                then.c.low.is_not(None),
                then.c.high.is_not(None),
                then.c.value.is_not(None),
                results.c.value.is_not(None),
            )
            .order_by(looks.c.window_start.desc(), looks.c.model_version, looks.c.number)
            .limit(limit)
        )
        with self.database.reading() as connection:
            return tuple(Realised(*row) for row in connection.execute(query))


def _looks(
    monitor: str,
    segment: str,
    model_version: str | None,
    since: datetime | None,
    until: datetime | None,
) -> CTE:
    """Provisional panes of a series, each with the mature pane of its window.

    They are found beforehand: without statistics SQLite would begin with all results of a window.
    """
    current, mature = current_monitors([monitor]), panes.alias("mature")
    return (
        select(
            newest_panes.c.window_key,
            newest_panes.c.model_version,
            newest_panes.c.segment,
            newest_panes.c.window_start,
            newest_panes.c.window_end,
            panes.c.number,
            panes.c.as_of,
            panes.c.revision,
            mature.c.number.label("mature_number"),
            mature.c.revision.label("mature_revision"),
        )
        .join_from(
            current,
            newest_panes,
            and_(
                newest_panes.c.monitor == current.c.monitor,
                newest_panes.c.configuration == current.c.configuration,
            ),
        )
        .join(
            panes,
            and_(panes.c.window_key == newest_panes.c.window_key, panes.c.state == "provisional"),
        )
        .join(
            mature,
            and_(mature.c.window_key == newest_panes.c.window_key, mature.c.state == "mature"),
        )
        .where(
            newest_panes.c.segment == segment,
            *equal(newest_panes.c.model_version, model_version),
            *starting_between(since, until, of=newest_panes),
        )
        .cte("looks")
        .prefix_with("MATERIALIZED")
    )
