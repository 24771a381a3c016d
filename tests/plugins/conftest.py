"""A real tracking server, a plain SQLite store, and a window of scored rows."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import pytest

with warnings.catch_warnings():
    # MLflow warns about type hints of its own classes while this is first imported.
    warnings.simplefilter("ignore")
    import mlflow.pyfunc
    import mlflow.sklearn

START_SECONDS = 120.0

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


@pytest.fixture(scope="session", autouse=True)
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
def tracking_server(tmp_path_factory: pytest.TempPathFactory, sqlite_address: str) -> Iterator[str]:
    """Address of an MLflow server process that lives as long as the session."""
    folder = tmp_path_factory.mktemp("tracking")
    # To make its tables takes MLflow seconds: the server has a copy of those of the plain store.
    mlflow.MlflowClient(sqlite_address).search_experiments(max_results=1)
    shutil.copy(sqlite_address.removeprefix("sqlite:///"), folder / "mlflow.db")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"]
    command += ["--artifacts-destination", (folder / "artifacts").as_uri()]
    # Without job execution the server starts no consumers, each of which imports MLflow again.
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(process, address, folder / "server.log")
        yield address
    finally:
        # The server has workers: the whole process group ends.
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=15)


def wait_until_healthy(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=2) as answer:  # noqa: S310
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"the tracking server did not start:\n{log.read_text()[-3000:]}")


@pytest.fixture(scope="session")
def sqlite_address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('store') / 'mlflow.db'}"


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
def server(tracking_server: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The test's runs go to the tracking server."""
    with runs_at(tracking_server, tmp_path, request.node.nodeid):
        yield tracking_server


@pytest.fixture(params=["server", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The test's runs go to the tracking server, then to a plain SQLite store."""
    name = {"server": "tracking_server", "sqlite": "sqlite_address"}[request.param]
    with runs_at(request.getfixturevalue(name), tmp_path, request.node.nodeid) as address:
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
