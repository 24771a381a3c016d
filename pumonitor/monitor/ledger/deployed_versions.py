"""Which version rounds found deployed, where no promotion tells."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, insert, select

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.schema import deployed_versions, promotions

_own = deployed_versions.c


class StoredDeployedVersions:
    """Versions that somebody deployed without `pumonitor promote`. A method is one transaction.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, monitor: str, version: str) -> bool:
        """Store that a version was found deployed, unless a promotion or the last note says so.

        Parameters
        ----------
        monitor : str
        version : str
            Such as ``models:/card-fraud/7``.

        Returns
        -------
        bool
            Whether it is another one than before.
        """
        with self._database.reading() as connection:
            if _expected(connection, monitor) == version:
                return False
        with self._database.writing() as connection:
            self._database.alone(connection, f"deployed version of {monitor}")
            expected = _expected(connection, monitor)
            if expected == version:
                return False
            connection.execute(
                insert(deployed_versions).values(
                    monitor=monitor,
                    seen_at=self._database.now(connection),
                    version=version,
                    is_first=expected is None,
                )
            )
        return expected is not None

    def seen(self, monitor: str) -> tuple[tuple[datetime | None, str], ...]:
        """When each version was found, in order of time, and which; None of the first.

        The first was there when it was first looked for, and nobody knows since when.
        """
        query = (
            select(_own.seen_at, _own.version, _own.is_first)
            .where(_own.monitor == monitor)
            .order_by(_own.seen_at)
        )
        with self._database.reading() as connection:
            return tuple(
                (None if row.is_first else row.seen_at, row.version)
                for row in connection.execute(query)
            )


def _expected(connection: Connection, monitor: str) -> str | None:
    """The version that the last promotion deployed, or that was seen since."""
    done = promotions.c
    promoted = connection.execute(
        select(done.ended_at, done.model, done.to_version)
        .where(done.monitor == monitor, done.state == "done")
        .order_by(done.id.desc())
        .limit(1)
    ).first()
    seen = connection.execute(
        select(_own.seen_at, _own.version)
        .where(_own.monitor == monitor)
        .order_by(_own.seen_at.desc())
        .limit(1)
    ).first()
    if promoted is not None and (seen is None or promoted.ended_at > seen.seen_at):
        return f"models:/{promoted.model}/{promoted.to_version}"
    return None if seen is None else str(seen.version)
