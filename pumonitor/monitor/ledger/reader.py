"""Queries on the ledger, for the evaluation, pages, the command line and the exporter."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from pumonitor.monitor.ledger.claims.holders import Holder, holders_of_windows
from pumonitor.monitor.ledger.database.queries import equal, one_of
from pumonitor.monitor.ledger.database.schema import audit, monitors
from pumonitor.monitor.ledger.records.windows import AuditEntry
from pumonitor.monitor.ledger.results.read_audits import AuditsReader
from pumonitor.monitor.ledger.results.read_collected import CollectedReader
from pumonitor.monitor.ledger.results.read_lists import ListsReader
from pumonitor.monitor.ledger.results.read_overview import OverviewReader
from pumonitor.monitor.ledger.results.read_realised import RealisedReader
from pumonitor.monitor.ledger.results.read_results import ResultsReader
from pumonitor.monitor.ledger.results.read_series import SeriesReader
from pumonitor.monitor.ledger.results.read_sizes import SizesReader
from pumonitor.monitor.ledger.results.read_windows import WindowsReader


class LedgerReader(
    AuditsReader,
    CollectedReader,
    ListsReader,
    OverviewReader,
    RealisedReader,
    ResultsReader,
    SeriesReader,
    SizesReader,
    WindowsReader,
):
    """Reads a ledger and changes nothing.

    Parameters
    ----------
    database : Database
        Already migrated (by `Ledger.open`).
    """

    def ready(self) -> None:
        """Run a query to check the connection.

        Raises
        ------
        StateError
            If the database does not answer.
        """
        with self.database.reading() as connection:
            connection.execute(select(func.count()).select_from(monitors))

    def writes(self) -> int:
        """How many transactions have changed anything: while it stays, all that is read stays.

        Uses of tokens are not counted.
        """
        with self.database.reading() as connection:
            return self.database.writes(connection)

    def configuration(self, monitor: str) -> str | None:
        """Hash of the monitor's current configuration, None for a monitor that is not known."""
        with self.database.reading() as connection:
            return connection.scalar(
                select(monitors.c.configuration).where(
                    monitors.c.name == monitor, monitors.c.is_current
                )
            )

    def configurations(self, monitor: str) -> dict[str, Mapping[str, Any]]:
        """All configurations of the monitor, hash to meaning, in the order of last use."""
        return self.configurations_of([monitor]).get(monitor, {})

    def configurations_of(
        self, names: Collection[str] | None = None
    ) -> dict[str, dict[str, Mapping[str, Any]]]:
        """Monitor to its configurations, of these monitors or of all."""
        query = (
            select(monitors.c.name, monitors.c.configuration, monitors.c.meaning)
            .where(*one_of(monitors.c.name, names))
            .order_by(monitors.c.registered_at, monitors.c.configuration)
        )
        found: dict[str, dict[str, Mapping[str, Any]]] = {}
        with self.database.reading() as connection:
            for row in connection.execute(query):
                found.setdefault(row.name, {})[row.configuration] = row.meaning
        return found

    def configuration_changes(self, monitor: str) -> tuple[tuple[datetime, Mapping[str, Any]], ...]:
        """When each configuration of the monitor was last put to use, and its meaning, in order."""
        query = (
            select(monitors.c.registered_at, monitors.c.meaning)
            .where(monitors.c.name == monitor)
            .order_by(monitors.c.registered_at, monitors.c.configuration)
        )
        with self.database.reading() as connection:
            return tuple((row.registered_at, row.meaning) for row in connection.execute(query))

    def holders(self, monitor: str | None = None) -> tuple[Holder, ...]:
        """Processes that hold claims on windows, except those known to be dead.

        Parameters
        ----------
        monitor : str, optional
            By default all monitors.
        """
        with self.database.reading() as connection:
            at = self.database.now(connection)
            return holders_of_windows(connection, at=at, monitor=monitor)

    def audit(
        self,
        *,
        actions: Collection[str] | None = None,
        monitor: str | None = None,
        limit: int = 100,
    ) -> tuple[AuditEntry, ...]:
        """Newest entries of the audit log, the latest first.

        Parameters
        ----------
        actions : collection of str, optional
            Only entries of these actions.
        monitor : str, optional
            Only entries whose detail names this monitor.
        limit : int
        """
        query = (
            select(audit)
            .where(
                *one_of(audit.c.action, actions),
                *equal(audit.c.detail["monitor"].as_string(), monitor),
            )
            .order_by(audit.c.id.desc())
            .limit(limit)
        )
        with self.database.reading() as connection:
            return tuple(
                AuditEntry(at=row.at, actor=row.actor, action=row.action, detail=row.detail)
                for row in connection.execute(query)
            )
