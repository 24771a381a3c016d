"""What tests of several folders share: PostgreSQL, MLflow, new state databases, commands.

Heavy imports stay inside fixtures: most tests need none of this.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.monitor.delivery.mlflow.faulty_proxy import FaultyProxy
    from tests.monitor.delivery.mlflow.mlflow_server import Server

NAMES = count()


def pytest_collection_finish() -> None:
    """What collection has loaded stays for good: looking through it for garbage takes seconds."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)


@pytest.fixture(scope="session")
def postgres() -> Iterator[SimpleNamespace]:
    """Address of a PostgreSQL server, and how to make databases there."""
    from sqlalchemy import create_engine, make_url

    # Sockets take short paths only, and the server's user must be able to go there.
    folder = Path(tempfile.mkdtemp(prefix="pumonitor-pg-"))
    folder.chmod(0o755)
    (folder / "run").mkdir(mode=0o700)
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(folder / "run")
    pgserver = pytest.importorskip("pgserver", exc_type=ImportError)
    if before is None:
        del os.environ["XDG_RUNTIME_DIR"]
    else:
        os.environ["XDG_RUNTIME_DIR"] = before
    import psutil  # comes with pgserver

    server = pgserver.get_server(folder / "data", cleanup_mode=None)
    url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
    engine = create_engine(url, isolation_level="AUTOCOMMIT")

    def run(statement: str) -> None:
        with engine.connect() as connection:
            connection.exec_driver_sql(statement)

    def new_database() -> str:
        name = f"test_{next(NAMES)}"
        run(f"CREATE DATABASE {name}")
        return url.set(database=name).render_as_string(hide_password=False)

    run("ALTER SYSTEM SET fsync = off")
    run("SELECT pg_reload_conf()")
    yield SimpleNamespace(new_database=new_database, run=run)
    engine.dispose()
    server.cleanup()  # lets go of it
    atexit.unregister(server._cleanup)
    process = psutil.Process(server.get_pid())
    process.send_signal(signal.SIGQUIT)  # at once: nothing there is to be kept
    process.wait(20)
    shutil.rmtree(folder, ignore_errors=True)


def migrated(address: str) -> None:
    from pumonitor.monitor.ledger.database.connections import Database
    from pumonitor.monitor.ledger.database.migrations.upgrade import upgrade

    database = Database(address)
    upgrade(database)
    database.close()


@pytest.fixture(scope="session")
def migrated_postgres(postgres: SimpleNamespace) -> str:
    address: str = postgres.new_database()
    migrated(address)
    return address


@pytest.fixture
def postgres_address(migrated_postgres: str) -> str:
    """Address of a PostgreSQL database that is up to date and empty."""
    from pumonitor.monitor.ledger.database.connections import Database
    from pumonitor.monitor.ledger.database.schema import metadata

    database = Database(migrated_postgres)
    with database.writing() as connection:
        used = connection.exec_driver_sql(
            "SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL"
        )
        numbered = [f"ALTER SEQUENCE {name} RESTART" for (name,) in used]
        # Of few rows quicker than TRUNCATE, which makes every file of the tables anew.
        emptied = [str(table.delete()) for table in reversed(metadata.sorted_tables)]
        connection.exec_driver_sql("; ".join([*emptied, *numbered]))
    database.close()
    return migrated_postgres


@pytest.fixture(scope="session", autouse=True)
def migrated_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A new state database of SQLite is a copy of one that has taken all steps.

    Tests of the steps, and commands that run as processes, take them themselves.
    """
    from pumonitor.monitor.ledger.database.connections import Database
    from pumonitor.monitor.ledger.database.migrations import upgrade as module

    upgrade = module.upgrade

    @lru_cache
    def template() -> Path:
        file = tmp_path_factory.mktemp("state") / "template.db"
        database = Database(f"sqlite:///{file}")
        upgrade(database)
        database.close()
        return file

    def copied(database: Database) -> module.Standing:
        file = Path(str(database.engine.url.database))
        if not database.is_sqlite or file.exists():
            return upgrade(database)
        shutil.copy(template(), file)
        return replace(upgrade(database), at=None)

    patch = pytest.MonkeyPatch()
    patch.setattr(module, "upgrade", copied)
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def commands_built_once() -> Iterator[None]:
    """Commands called in process are the same objects: to build them all takes 30 ms a call."""
    import typer.testing
    from typer.main import get_command

    patch = pytest.MonkeyPatch()
    patch.setattr(typer.testing, "_get_command", lru_cache(get_command))
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def templates_compiled_once() -> Iterator[None]:
    """Every application compiles the templates of its pages anew: 25 ms each."""
    import flask
    from jinja2.bccache import Bucket, BytecodeCache

    class Compiled(BytecodeCache):
        def __init__(self) -> None:
            self._code: dict[tuple[str, str], Any] = {}

        def load_bytecode(self, bucket: Bucket) -> None:
            bucket.code = self._code.get((bucket.key, bucket.checksum))

        def dump_bytecode(self, bucket: Bucket) -> None:
            self._code[bucket.key, bucket.checksum] = bucket.code

    compiled, create = Compiled(), flask.Flask.create_jinja_environment

    def created(app: flask.Flask) -> Any:
        environment = create(app)
        environment.bytecode_cache = compiled
        return environment

    patch = pytest.MonkeyPatch()
    patch.setattr(flask.Flask, "create_jinja_environment", created)
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def one_thread_a_query() -> Iterator[None]:
    """Workers take all cores already: two threads for a few thousand rows wait for each other."""
    from pumonitor.sources.reach import session

    patch = pytest.MonkeyPatch()
    patch.setattr(session, "_cores", lambda: 1)
    yield
    patch.undo()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of a state database that is up to date and empty."""
    if request.param == "sqlite":
        address = f"sqlite:///{tmp_path / 'state.db'}"
        migrated(address)
        return address
    return str(request.getfixturevalue("postgres_address"))


@pytest.fixture(scope="session")
def mlflow_client_class() -> Iterator[Any]:
    """MLflow, imported without its warnings about itself and with nothing sent out."""
    patch = pytest.MonkeyPatch()
    patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mlflow import MlflowClient
    yield MlflowClient
    patch.undo()


@pytest.fixture(scope="session")
def mlflow_database(tmp_path_factory: pytest.TempPathFactory, mlflow_client_class: Any) -> Path:
    """MLflow's tables, with nothing in them, in a file of SQLite to be copied."""
    file = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow_client_class(tracking_uri=f"sqlite:///{file}").search_experiments()
    return file


@pytest.fixture(scope="session")
def mlflow_server(
    tmp_path_factory: pytest.TempPathFactory, mlflow_database: Path
) -> Iterator[Server]:
    """One that all tests share: each keeps to monitors, or experiments, of its own."""
    from tests.monitor.delivery.mlflow.mlflow_server import Server

    folder = tmp_path_factory.mktemp("server")
    shutil.copy(mlflow_database, folder / "mlflow.db")
    server = Server(folder)
    try:
        server.wait_until_healthy()
        yield server
    finally:
        server.end()


@pytest.fixture
def proxy(mlflow_server: Server) -> Iterator[FaultyProxy]:
    """In front of the server; forwards until it is told otherwise."""
    from tests.monitor.delivery.mlflow.faulty_proxy import FaultyProxy

    proxy = FaultyProxy(mlflow_server.address)
    proxy.start()
    yield proxy
    proxy.stop()


@pytest.fixture(scope="module")
def unsearched_labels() -> Iterator[None]:
    """For files whose tests follow many windows and never ask what scores show of their labels."""
    from tests.given_labels import labels_as_given

    with labels_as_given():
        yield
