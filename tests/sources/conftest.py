"""Real servers of files and a real Spark, started once for those tests that ask for them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.monitoring.small_java import java_home
from tests.sources.file_servers import KEY, SECRET, FileServer


@pytest.fixture(scope="session")
def postgresql(postgres: SimpleNamespace) -> str:
    """Address of a database of our own."""
    address: str = postgres.new_database()
    return address


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Without anybody's credentials, and without a home in which there could be some."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "GCS_", "CLOUDFLARE_", "STORAGE_", "SSL_CERT")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    # Not every network answers at once that nobody hands out roles there.
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return monkeypatch


@pytest.fixture(scope="session")
def served_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all servers of files serve: a folder in it is a bucket."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "bucket").mkdir()
    return folder


@pytest.fixture(scope="session")
def store_server(served_folder: Path) -> Iterator[FileServer]:
    """A real object store."""
    with FileServer("s3", served_folder, "--auth-key", f"{KEY},{SECRET}") as server:
        yield server


@pytest.fixture(scope="session")
def web_server(served_folder: Path) -> Iterator[FileServer]:
    """A real web server that hands out parts of files."""
    with FileServer("http", served_folder) as server:
        yield server


@pytest.fixture(scope="session")
def httpfs() -> None:
    """What reads addresses; tests are skipped where nobody meant it to be there."""
    if find_spec("duckdb_extension_httpfs") is None:
        pytest.skip("no extension of DuckDB for addresses: see tests/sources/remote.lock")
    import duckdb

    from pumonitor.sources.reach.remote_access import prepare_access

    with duckdb.connect() as connection:
        prepare_access(connection, ["https://host/p.csv"])


@pytest.fixture
def store(store_server: FileServer, environment: pytest.MonkeyPatch) -> FileServer:
    """The store, with an environment that leads there."""
    environment.setenv("AWS_ENDPOINT_URL", store_server.address)
    environment.setenv("AWS_ACCESS_KEY_ID", KEY)
    environment.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    return store_server


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session in this process, in a zone far from UTC, with all that costs time switched off."""
    folder: Path = tmp_path_factory.mktemp("spark")
    kept = {name: os.environ.get(name) for name in ("JAVA_HOME", "SPARK_LOCAL_IP")}
    os.environ |= {"JAVA_HOME": str(java_home(folder)), "SPARK_LOCAL_IP": "127.0.0.1"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession

            session = (
                SparkSession.builder.master("local[1]")
                .config("spark.ui.enabled", "false")
                .config("spark.ui.showConsoleProgress", "false")
                .config("spark.sql.shuffle.partitions", "1")
                .config("spark.sql.adaptive.enabled", "false")
                .config("spark.sql.codegen.wholeStage", "false")
                .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
                .config("spark.sql.session.timeZone", "America/New_York")
                .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
                .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
                .getOrCreate()
            )
        yield session
        session.stop()
    finally:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@pytest.fixture(params=["delta", "iceberg"])
def lake(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Writes a table of one format by a name, and says its address."""
    from tests.sources.lake_tables import delta_table, iceberg_catalog, iceberg_table

    if request.param == "delta":
        return lambda name, rows, **how: delta_table(tmp_path / name, rows, **how)
    catalog = iceberg_catalog(tmp_path / "lake", monkeypatch)
    return lambda name, rows, **how: iceberg_table(catalog, name, rows, **how)
