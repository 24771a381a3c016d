"""What was seen of challengers, in the state database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, insert, select, update

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.schema import challenger_windows
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.records.challengers import (
    ChallengerDifferences,
    ChallengerSeries,
    ChallengerWindow,
)
from pumonitor.monitor.ledger.records.results import NewMessage
from pumonitor.monitor.ledger.records.rows import Record, field_names, record_of

_FIRST_WAIT: Final = timedelta(minutes=5)
_LONGEST_WAIT: Final = timedelta(hours=12)
_LONGEST_ERROR: Final = 1000

_own = challenger_windows.c


class StoredChallengers:
    """Windows of challengers. Every method is one transaction.

    Parameters
    ----------
    database : Database
    mask : callable
        Hides secrets in errors before they are stored.
    """

    def __init__(self, database: Database, *, mask: Callable[[str], str]) -> None:
        self._database = database
        self._mask = mask

    def begin(
        self, series: ChallengerSeries, *, start: datetime, end: datetime, as_of: datetime
    ) -> bool:
        """Whether this worker is to score the window now; others then leave it alone for a while.

        Not if there is a result, or an attempt failed a short while ago, or has begun: each attempt
        doubles the wait for the next.
        """
        with self._database.writing() as connection:
            self._database.alone(connection, f"challengers of {series.monitor}")
            now = self._database.now(connection)
            here = (*_of(series), _own.window_start == start)
            row = connection.execute(
                select(_own.attempts, _own.due_at, _own.found.is_not(None).label("done")).where(
                    *here
                )
            ).one_or_none()
            if row is None:
                connection.execute(
                    insert(challenger_windows).values(
                        **asdict(series),
                        window_start=start,
                        window_end=end,
                        as_of=as_of,
                        attempts=1,
                        due_at=now + _FIRST_WAIT,
                    )
                )
                return True
            if row.done or (row.due_at is not None and row.due_at > now):
                return False
            wait = min(_FIRST_WAIT * 2 ** min(row.attempts, 10), _LONGEST_WAIT)
            connection.execute(
                update(challenger_windows)
                .where(*here)
                .values(attempts=row.attempts + 1, due_at=now + wait, as_of=as_of)
            )
            return True

    def done(
        self,
        series: ChallengerSeries,
        start: datetime,
        *,
        labels: int,
        found: bytes,
        differences: Mapping[str, Mapping[str, float | None]],
        messages: Iterable[NewMessage] = (),
    ) -> bool:
        """Store a result with messages about it; False if another worker has stored it before."""
        with self._database.writing() as connection:
            stored = connection.execute(
                update(challenger_windows)
                .where(*_of(series), _own.window_start == start, _own.found.is_(None))
                .values(
                    labels=labels,
                    found=found,
                    differences={name: dict(one) for name, one in differences.items()},
                    error=None,
                    due_at=None,
                )
            )
            if stored.rowcount != 1:
                return False
            at = self._database.now(connection)
            enqueue(connection, self._database, list(messages), at=at)
            return True

    def failed(self, series: ChallengerSeries, start: datetime, error: str) -> None:
        """Note why an attempt failed; when the next is due stands since it began."""
        with self._database.writing() as connection:
            connection.execute(
                update(challenger_windows)
                .where(*_of(series), _own.window_start == start, _own.found.is_(None))
                .values(error=self._mask(error)[:_LONGEST_ERROR])
            )

    def windows(self, series: ChallengerSeries) -> tuple[ChallengerWindow, ...]:
        """Windows in order of time, with or without a result."""
        return self._read(ChallengerWindow, series)

    def differences(self, series: ChallengerSeries) -> tuple[ChallengerDifferences, ...]:
        """What windows say together, in order of time, without what they say one by one."""
        return self._read(ChallengerDifferences, series)

    def _read(self, kind: Callable[..., Record], series: ChallengerSeries) -> tuple[Record, ...]:
        of_window = {"start": _own.window_start.label("start"), "end": _own.window_end.label("end")}
        columns = [
            of_window[name] if name in of_window else _own[name] for name in field_names(kind)
        ]
        query = select(*columns).where(*_of(series)).order_by(_own.window_start)
        with self._database.reading() as connection:
            return tuple(record_of(kind, row) for row in connection.execute(query))

    def scored(self, series: ChallengerSeries) -> frozenset[datetime]:
        """Starts of the windows that have a result."""
        query = select(_own.window_start).where(*_of(series), _own.found.is_not(None))
        with self._database.reading() as connection:
            return frozenset(connection.scalars(query))

    def failing(self, monitor: str) -> dict[str, tuple[int, str]]:
        """By challenger, windows whose last attempt failed, and what was said last."""
        query = (
            select(_own.challenger, _own.error)
            .where(_own.monitor == monitor, _own.found.is_(None), _own.error.is_not(None))
            .order_by(_own.window_start)
        )
        found: dict[str, tuple[int, str]] = {}
        with self._database.reading() as connection:
            for name, error in connection.execute(query):
                found[name] = (found.get(name, (0, ""))[0] + 1, error)
        return found

    def try_again(self, series: ChallengerSeries) -> None:
        """Let windows whose last attempt failed be tried at once."""
        with self._database.writing() as connection:
            connection.execute(
                update(challenger_windows)
                .where(*_of(series), _own.found.is_(None), _own.error.is_not(None))
                .values(due_at=None)
            )


def _of(series: ChallengerSeries) -> list[ColumnElement[bool]]:
    return [_own[name] == value for name, value in asdict(series).items()]
