"""Statements for ClickHouse as a library in this process (chdb)."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pumonitor.sources.engines.clickhouse_transport import told

if TYPE_CHECKING:
    import pyarrow as pa


class EmbeddedTransport:
    """One folder of tables, or a database in memory.

    The library has one database a process: whoever opens another waits until the first is closed.

    Parameters
    ----------
    url : str
        chdb:///FOLDER, or chdb:// for a database in memory, which has no tables.
    """

    def __init__(self, url: str) -> None:
        import chdb

        folder = unquote(url.partition("://")[2].removeprefix("/"))
        self._connection: Any = chdb.connect(folder or ":memory:")
        self._is_set = False
        self._received = tempfile.TemporaryDirectory(prefix="pumonitor-labels-")

    def ask(self, sql: str, settings: Mapping[str, str | int]) -> pa.Table:
        """The answer to one statement."""
        import pyarrow as pa

        try:
            if not self._is_set:
                # Of a session; readonly comes last, since it cannot be changed any more.
                written = {**settings, "readonly": 2}
                listed = ", ".join(f"{name} = {value!r}" for name, value in written.items())
                self._connection.query(f"SET {listed}")
                self._is_set = True
            answer = self._connection.query(sql, "ArrowStream")
        except Exception as error:  # noqa: BLE001 (the library has no type of its own for it)
            raise told(str(error)) from None
        return pa.ipc.open_stream(answer.bytes()).read_all()

    def receive(self, labels: pa.Table) -> str:
        """Write them beside, where the library reads them as a table."""
        import pyarrow.parquet as pq

        file = Path(self._received.name) / "labels.parquet"
        pq.write_table(labels, file)
        return f"file('{file}', Parquet)"

    def close(self) -> None:
        """Let go of everything."""
        self._connection.close()
        self._received.cleanup()
