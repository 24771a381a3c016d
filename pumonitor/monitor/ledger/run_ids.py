"""Ids of MLflow runs, stored by key."""

from __future__ import annotations

from sqlalchemy import select

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.schema import keys

_PREFIX = "mlflow run "


class StoredRunIds:
    """Run ids in the state database; implements `pumonitor.monitor.delivery_ports.RunIds`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> str | None:
        """The run id, or None if there is none yet."""
        with self._database.reading() as connection:
            return connection.scalar(select(keys.c.value).where(keys.c.name == _PREFIX + key))

    def starting_with(self, beginning: str) -> dict[str, str]:
        """Ids of all keys that begin so, by the rest of the key."""
        whole = _PREFIX + beginning
        query = select(keys.c.name, keys.c.value).where(
            keys.c.name.startswith(whole, autoescape=True)
        )
        with self._database.reading() as connection:
            return {row.name.removeprefix(whole): row.value for row in connection.execute(query)}

    def set(self, key: str, run_id: str) -> None:
        """Store the run id in place of an earlier one."""
        with self._database.writing() as connection:
            row = {"name": _PREFIX + key, "value": run_id}
            self._database.put(connection, keys, [row])
