"""A real tracking server, that of all tests, a plain SQLite store, and a window of scored rows."""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import pytest

from tests.monitor.delivery.mlflow.mlflow_server import Server

with warnings.catch_warnings():
    # MLflow warns about type hints of its own classes while this is first imported.
    warnings.simplefilter("ignore")
    import mlflow.pyfunc
    import mlflow.sklearn

# What MLflow itself emits, 3.9 to now, with current pandas and SQLAlchemy; ours stay errors.
WARNINGS_OF_MLFLOW = (
    r"ignore:The ``noload`` loader strategy is deprecated:DeprecationWarning",
    r"ignore:Starting with pandas version 4.0 all arguments of all:DeprecationWarning",
    r"ignore:The inplace keyword in DataFrame.drop is deprecated:DeprecationWarning",
    r"ignore:Saving scikit-learn models in the pickle or cloudpickle format:FutureWarning",
    r"ignore:Passing a Python object as `python_model` causes it:FutureWarning",
    r"ignore:Hint. Inferred schema contains integer column:UserWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            for accepted in WARNINGS_OF_MLFLOW:
                item.add_marker(pytest.mark.filterwarnings(accepted))


@pytest.fixture(scope="package", autouse=True)
def contained(sqlite_address: str) -> Iterator[None]:
    """Nothing is sent out, and nothing is written to the working directory."""
    patch = pytest.MonkeyPatch()
    patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    patch.setenv("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    mlflow.set_tracking_uri(sqlite_address)
    yield
    mlflow.set_tracking_uri(None)
    patch.undo()


@pytest.fixture(scope="session")
def sqlite_address(tmp_path_factory: pytest.TempPathFactory, mlflow_database: Path) -> str:
    file = tmp_path_factory.mktemp("store") / "mlflow.db"
    shutil.copy(mlflow_database, file)
    return f"sqlite:///{file}"


@contextmanager
def runs_at(address: str, folder: Path, name: str) -> Iterator[str]:
    """MLflow pointed at a store, in an experiment of the test's own."""
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(address)
    # A server keeps the artifacts itself; a bare database needs to be told where.
    location = (folder / "artifacts").as_uri() if address.startswith("sqlite") else None
    mlflow.set_experiment(experiment_id=mlflow.create_experiment(name, artifact_location=location))
    try:
        yield address
    finally:
        while mlflow.active_run() is not None:
            mlflow.end_run()
        mlflow.set_tracking_uri(before)


@pytest.fixture
def server(mlflow_server: Server, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The test's runs go to the tracking server."""
    with runs_at(mlflow_server.address, tmp_path, request.node.nodeid) as address:
        yield address


@pytest.fixture(params=["server", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The test's runs go to the tracking server, then to a plain SQLite store."""
    if request.param == "server":
        kept_at = request.getfixturevalue("mlflow_server").address
    else:
        kept_at = request.getfixturevalue("sqlite_address")
    with runs_at(kept_at, tmp_path, request.node.nodeid) as address:
        yield address


@pytest.fixture
def sqlite(sqlite_address: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The test's runs go to a plain SQLite store."""
    with runs_at(sqlite_address, tmp_path, request.node.nodeid):
        yield sqlite_address


@pytest.fixture
def window() -> pd.DataFrame:
    """1500 scored rows, a fifth of them positive, two fifths of those confirmed."""
    rng = np.random.default_rng(7)
    is_positive = rng.random(1500) < 0.2
    score = rng.normal(2.0 * is_positive)
    return pd.DataFrame(
        {
            "score": score,
            "confirmed": (is_positive & (rng.random(1500) < 0.4)).astype(np.int64),
            "amount": rng.exponential(10.0, 1500),
        }
    )


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What the evaluator writes to MLflow's log."""
    # MLflow's loggers do not propagate to the root, where caplog listens.
    logger = logging.getLogger("mlflow.pumonitor")
    logger.addHandler(caplog.handler)
    with caplog.at_level(logging.INFO, logger="mlflow.pumonitor"):
        yield caplog
    logger.removeHandler(caplog.handler)
