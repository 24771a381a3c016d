"""Databases that hold the tables of `tests.sources.monitored`, each where it is to be had."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.engines.clickhouse_server import ClickHouseServer
from tests.engines.mariadb_server import MariaDBServer, missing_program


@pytest.fixture(scope="session")
def postgresql(postgres: SimpleNamespace) -> str:
    """Address of an empty database of PostgreSQL."""
    address: str = postgres.new_database()
    return address


@pytest.fixture(scope="session")
def mariadb() -> Iterator[str]:
    """Address of an empty database of MariaDB."""
    if (program := missing_program()) is not None:
        pytest.skip(f"no {program}: apt-get install mariadb-server")
    server = MariaDBServer()
    yield server.address
    server.close()


@pytest.fixture(scope="session")
def chdb_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for tables of the embedded library."""
    if find_spec("chdb") is None:
        pytest.skip("no chdb: pip install 'pumonitor[chdb]'")
    return tmp_path_factory.mktemp("chdb")


@pytest.fixture
def clickhouse_server(chdb_folder: Path) -> Iterator[Any]:
    """The HTTP interface of ClickHouse, on top of the embedded library."""
    server = ClickHouseServer(chdb_folder)
    yield server
    server.close()
