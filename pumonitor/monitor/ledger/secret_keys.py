"""Random keys that all processes on one state database share."""

from __future__ import annotations

import secrets

from sqlalchemy import select

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.schema import keys

_PREFIX = "secret key "
_BYTES = 32


class StoredSecretKeys:
    """Keys in the state database, each made when it is first asked for.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> bytes:
        """The key of this name, the same for all processes.

        Examples
        --------
        >>> import tempfile
        >>> from pumonitor.monitor.ledger.ledger import Ledger
        >>> with Ledger.open(f"sqlite:///{tempfile.mkdtemp()}/state.db") as ledger:
        ...     key = ledger.secret_keys.get("forms")
        ...     len(key), ledger.secret_keys.get("forms") == key
        (32, True)
        """
        query = select(keys.c.value).where(keys.c.name == _PREFIX + name)
        with self._database.reading() as connection:
            found: str | None = connection.scalar(query)
        if found is None:
            with self._database.writing() as connection:
                row = {"name": _PREFIX + name, "value": secrets.token_hex(_BYTES)}
                # Of several processes that make one now, the first prevails.
                connection.execute(self._database.insert_if_absent(keys).values(row))
                found = connection.execute(query).scalar_one()
        return bytes.fromhex(found)
