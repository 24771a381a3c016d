"""The clock by which moments are due, and whether it can be trusted.

A clock that runs ahead would take windows for over before they are: labels that come in time would
never count. With PostgreSQL all workers go by the database's clock. With SQLite they go by their
machine's, and the state database remembers the latest moment at which anybody worked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, select, update

from pumonitor.monitor.ledger.audit import record
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.database.schema import keys, panes, windows
from pumonitor.monitor.ledger.results.planning import recount
from pumonitor.text import moment_text, span_text

_LATEST: Final = "latest moment worked at"
_TOLERANCE: Final = timedelta(minutes=1)
_MEASURED_EVERY: Final = 600.0
"""Seconds; between two measurements the database's clock goes on by this machine's steady one."""


class ClockError(StateError):
    """The clock of this machine, or of the state database, is wrong or was."""


class SharedClock:
    """The time now, for whatever decides what is due; call it.

    Parameters
    ----------
    database : Database
        Already migrated.
    own : callable
        This machine's clock.
    """

    def __init__(self, database: Database, *, own: Callable[[], datetime]) -> None:
        self._database = database
        self._own = own
        self._measured: tuple[datetime, float] | None = None

    def __call__(self) -> datetime:
        """The time now."""
        if self._database.is_sqlite:
            return self._own()
        if self._measured is None or time.monotonic() - self._measured[1] > _MEASURED_EVERY:
            with self._database.reading() as connection:
                self._measured = self._database_now(connection), time.monotonic()
        moment, at = self._measured
        return moment + timedelta(seconds=time.monotonic() - at)

    def problem(self) -> str | None:
        """What is wrong with the clocks, and what to do; None if nothing is. Changes nothing."""
        own = self._own()
        with self._database.reading() as connection:
            now = own if self._database.is_sqlite else self._database_now(connection)
            latest = _latest(connection)
        off = own - now
        if abs(off) > _TOLERANCE:
            return (
                f"the clock of this machine is {span_text(off)} {_direction(off)} that of the "
                f"state database {self._database.name} ({moment_text(own)} and "
                f"{moment_text(now)}), and up to a minute is allowed: set it (NTP). Nothing is "
                "worked on meanwhile"
            )
        if latest is not None and latest.at - now > _TOLERANCE:
            whose = "this machine" if self._database.is_sqlite else "the state database"
            return (
                f"the clock of {whose} is {span_text(latest.at - now)} behind the latest moment at "
                f"which the state database {self._database.name} was worked on "
                f"({moment_text(now)} and {moment_text(latest.at)}): it jumped back, "
                "or was ahead before. Set it (NTP), and if it is right now, run pumonitor doctor "
                "--accept-clock. Nothing is worked on before; what was counted too early is "
                "counted again in its time"
            )
        return None

    def check(self) -> str:
        """Note that work begins now; what is to be said of the clocks, "" for nothing.

        Panes that were collected before their moment, by the clock as it is now, are due again when
        it comes.

        Raises
        ------
        ClockError
            If clocks differ, or until a clock that jumped back has caught up.
        """
        self._measured = None
        problem = self.problem()
        now = self()
        if problem is not None and abs(self._own() - now) > _TOLERANCE:
            raise ClockError(problem)
        latest, set_by = self._set_by(now)
        note = ""
        if latest is not None and (problem is not None or set_by < -_TOLERANCE):
            back = max(latest.at - now, -set_by)
            number = self._take_back_early(now, latest, set_by)
            note = (
                f"the clock of this machine was set back by {span_text(back)} since "
                f"{moment_text(latest.at)}; {number} evaluations that were made too early "
                "are made again in their time"
            )
            if number:
                # Also for those who look later, where this round does not come to its end.
                self._record("clock was set", {"note": note}, by="pumonitor")
        elif set_by > _TOLERANCE:
            note = (
                f"the clock of this machine was set forward by {span_text(set_by)}, to "
                f"{moment_text(now)}: if it is ahead now, windows are taken for over too "
                "early"
            )
            self._record("clock was set", {"note": note}, by="pumonitor")
        if problem is not None:
            raise ClockError(problem)
        self._note(now, only_later=not note)
        return note

    def _database_now(self, connection: Connection) -> datetime:
        return self._database.now(connection)

    def _set_by(self, now: datetime) -> tuple[_Latest | None, timedelta]:
        """The latest moment, and how far the clock was set since, by what the kernel counts.

        0 where that is not known. With PostgreSQL its server's kernel would have to be asked.
        """
        with self._database.reading() as connection:
            latest = _latest(connection)
        boot, seconds = since_boot()
        if latest is None or not self._database.is_sqlite or not boot or boot != latest.boot:
            return latest, timedelta()
        return latest, (now - latest.at) - timedelta(seconds=seconds - latest.seconds)

    def accept(self, *, by: str) -> int:
        """Take the clock as it is for right; returns the panes that are to be collected again."""
        now = self()
        number = self._take_back_early(now, *self._set_by(now))
        self._note(now, only_later=False)
        self._record("accept clock", {"now": now.isoformat(), "panes": number}, by=by)
        return number

    def _record(self, action: str, detail: Mapping[str, Any], *, by: str) -> None:
        with self._database.writing() as connection:
            at = self._database.now(connection)
            record(connection, at=at, actor=by, action=action, detail=detail)

    def _note(self, now: datetime, *, only_later: bool) -> None:
        with self._database.reading() as connection:
            latest = _latest(connection)
        if latest is not None and only_later and now - latest.at < _TOLERANCE:
            return
        boot, seconds = since_boot()
        row = {"name": _LATEST, "value": f"{now.isoformat()} {seconds!r} {boot}"}
        with self._database.writing(counted=False) as connection:
            connection.execute(self._database.insert_if_absent(keys).values(row))
            connection.execute(
                update(keys).where(keys.c.name == _LATEST).values(value=row["value"])
            )

    def _take_back_early(self, now: datetime, latest: _Latest | None, set_by: timedelta) -> int:
        """Make panes due again that were collected before their moment; returns their number."""
        moment = now
        if latest is not None and set_by < -_TOLERANCE:
            # Whoever worked at the latest moment did so at this one, by the clock as it is now.
            moment = min(now, latest.at + set_by)
        early = panes.c.as_of > moment, panes.c.status != "planned"
        with self._database.reading() as connection:
            if connection.scalar(select(panes.c.number).where(*early).limit(1)) is None:
                return 0
        with self._database.writing() as connection:
            of_windows = connection.scalars(
                update(panes).where(*early).values(status="planned").returning(panes.c.window_key)
            ).all()
            chosen = sorted(set(of_windows))
            for start in range(0, len(chosen), 500):
                # Claims that are held are revoked: who holds one began too early.
                connection.execute(
                    update(windows)
                    .where(windows.c.window_key.in_(chosen[start : start + 500]))
                    .values(fence=windows.c.fence + 1, lease_owner=None, lease_until=None)
                )
            recount(connection, chosen)
        return len(of_windows)


@dataclass(frozen=True, slots=True)
class _Latest:
    """When somebody last began to work: by the clock, and in seconds since a machine's boot."""

    at: datetime
    seconds: float
    boot: str


def _latest(connection: Connection) -> _Latest | None:
    found = connection.scalar(select(keys.c.value).where(keys.c.name == _LATEST))
    if found is None:
        return None
    at, seconds, boot = found.split(" ", maxsplit=2)
    return _Latest(datetime.fromisoformat(at), float(seconds), boot)


def since_boot() -> tuple[str, float]:
    """The machine's boot, and the seconds since then, which nobody sets; "" where not known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return boot, time.clock_gettime(time.CLOCK_BOOTTIME)
    except (OSError, AttributeError, ValueError):
        return "", 0.0


def _direction(off: timedelta) -> str:
    return "ahead of" if off > timedelta() else "behind"
