"""How large the state database is, by table and by monitor, and what could be deleted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection, func, select

from pumonitor.monitor.ledger.database.schema import evaluations, metadata, windows
from pumonitor.monitor.ledger.results.database_reader import DatabaseReader
from pumonitor.monitor.ledger.results.retention import superseded_by_monitor

_OF_POSTGRESQL = (
    "SELECT relname, pg_total_relation_size(oid) FROM pg_class "
    "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
)
# Indexes count with their tables.
_OF_SQLITE = (
    "SELECT made.tbl_name, sum(dbstat.pgsize) FROM dbstat "
    "JOIN sqlite_master AS made ON made.name = dbstat.name GROUP BY made.tbl_name"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerSizes:
    """Sizes of the state database.

    Attributes
    ----------
    tables : mapping of str to int
        Table to its bytes, with its indexes, the largest first.
    evaluations : mapping of str to int
        Monitor to its number of evaluations: one for each series of a pane and revision.
    superseded : mapping of str to int
        Monitor to how many of them `keep_evaluations` would delete.
    """

    tables: Mapping[str, int]
    evaluations: Mapping[str, int]
    superseded: Mapping[str, int]

    @property
    def bytes_of_evaluations(self) -> int:
        """Bytes of evaluations and of their results."""
        return self.tables.get("evaluations", 0) + self.tables.get("results", 0)

    @property
    def bytes_superseded(self) -> int:
        """About how many bytes these evaluations take with their results, as a share of all."""
        number = sum(self.evaluations.values())
        share = sum(self.superseded.values()) / number if number else 0.0
        return round(share * self.bytes_of_evaluations)


class SizesReader(DatabaseReader):
    """Reads how large the state database is."""

    def sizes(self, *, older_than: timedelta) -> LedgerSizes:
        """Sizes by table and by monitor. Reads all evaluations: of millions it takes seconds.

        Parameters
        ----------
        older_than : timedelta
            Evaluations that were superseded longer ago, by the database's clock, could be deleted.
        """
        with self.database.reading() as connection:
            before = self.database.now(connection) - older_than
            return LedgerSizes(
                tables=self._tables(connection),
                evaluations=_evaluations_by_monitor(connection),
                superseded=superseded_by_monitor(connection, before=before),
            )

    def _tables(self, connection: Connection) -> dict[str, int]:
        query = _OF_SQLITE if self.database.is_sqlite else _OF_POSTGRESQL
        found = {name: int(size) for name, size in connection.exec_driver_sql(query)}
        ours = {name: size for name, size in found.items() if name in metadata.tables}
        return dict(sorted(ours.items(), key=lambda one: (-one[1], one[0])))


def _evaluations_by_monitor(connection: Connection) -> dict[str, int]:
    number = func.count()
    query = (
        select(windows.c.monitor, number)
        .join_from(evaluations, windows, windows.c.window_key == evaluations.c.window_key)
        .group_by(windows.c.monitor)
        .order_by(number.desc(), windows.c.monitor)
    )
    return {name: int(count) for name, count in connection.execute(query)}
