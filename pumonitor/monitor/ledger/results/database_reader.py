"""What all readers of the ledger have in common: the database they read."""

from __future__ import annotations

from pumonitor.monitor.ledger.database.connections import Database


class DatabaseReader:
    """Reads a state database and changes nothing.

    Parameters
    ----------
    database : Database
        Already migrated (by `Ledger.open`).
    """

    def __init__(self, database: Database) -> None:
        self.database = database
