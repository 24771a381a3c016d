"""A Spark server, and a driver, that die in the middle: a later round has the same results."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pandas as pd
import pytest

from benchmarks.monitoring.small_java import java_home
from benchmarks.monitoring.spark_server import SparkServer
from pumonitor.errors import SourceError
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.sources.windows import spark_watch
from pumonitor.sources.windows.counts_spark import SparkEngine
from pumonitor.spark import counts
from tests.monitor.monitored_shop import FIRST, recorded, write_shop

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("unsearched_labels"),
    pytest.mark.filterwarnings("ignore:.RETRIES_EXCEEDED:UserWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

DAYS = 2
NOW = FIRST + timedelta(days=DAYS)
JOB = Path(__file__).with_name("spark_job.py")
TABLES = ("predictions", "confirmations")


def shop(folder, source_of):
    folder.mkdir()
    path = write_shop(folder, days=DAYS, panes="[0d]", class_prior=0.1)
    text = path.read_text()
    for name in TABLES:
        file = folder / f"{name}.parquet"
        # Spark reads no nanoseconds.
        pd.read_parquet(file).to_parquet(
            file, coerce_timestamps="us", allow_truncated_timestamps=True
        )
        text = text.replace(f"source: {name}.parquet", f"source: {source_of(name)}")
    path.write_text(text.replace("reference:", "# reference:"))
    return path


def jobs_of(path):
    return open_jobs(read_configuration(path).configuration, clock=lambda: NOW, deliver=False)


def results(path):
    """Of a round in which nothing happens."""
    with jobs_of(path) as jobs:
        assert jobs.run().failures == []
        found = recorded(jobs.ledger)
    assert len({row[3] for row in found}) == DAYS
    return found


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "server"
    folder.mkdir()
    started = SparkServer(folder)
    started.start()
    yield started
    started.kill()


def test_a_spark_server_that_is_killed_in_the_middle_of_a_round(server, tmp_path, monkeypatch):
    from pyspark.sql.connect.session import SparkSession

    monkeypatch.setattr(spark_watch, "_RETRIES", 1)

    def on_server(folder):
        return shop(folder, lambda name: f"{{url: '{server.url}', table: {name}}}")

    path = on_server(tmp_path / "killed")
    tables = {name: path.with_name(f"{name}.parquet") for name in TABLES}
    server.hold(tables)
    undisturbed = results(on_server(tmp_path / "undisturbed"))
    answer = SparkEngine._answer

    def answer_or_die(engine, statement, about):
        if "lower_score" in statement.sql:
            server.kill()
        return answer(engine, statement, about)

    monkeypatch.setattr(SparkEngine, "_answer", answer_or_die)
    with jobs_of(path) as jobs:
        failures = jobs.run().failures
        assert recorded(jobs.ledger) == []
    assert failures
    assert all("cannot be read: failed to connect" in one for one in failures), failures
    # Who asks this thread for its session, as MLflow does, is not kept waiting for a dead server.
    assert getattr(SparkSession._active_session, "session", None) is None
    monkeypatch.setattr(SparkEngine, "_answer", answer)
    server.start()
    server.hold(tables)
    with jobs_of(path) as jobs:
        keys = [one.window_key for one in jobs.ledger.windows("card-fraud")]
        jobs.ledger.reopen(keys, which="failed", actor="test")
        assert jobs.run().failures == []
        assert recorded(jobs.ledger) == undisturbed


def test_a_spark_server_that_answers_nothing_any_more_is_given_up(server, tmp_path, monkeypatch):
    monkeypatch.setattr(spark_watch, "_ASKED_EVERY", 0.5)
    monkeypatch.setattr(spark_watch, "_LONGEST_SILENCE", 2.0)
    path = shop(tmp_path / "shop", lambda name: f"{{url: '{server.url}', table: {name}}}")
    server.hold({name: path.with_name(f"{name}.parquet") for name in TABLES})
    answer = SparkEngine._answer

    def answer_or_fall_silent(engine, statement, about):
        if "lower_score" in statement.sql:
            server.stop()
        return answer(engine, statement, about)

    monkeypatch.setattr(SparkEngine, "_answer", answer_or_fall_silent)
    with jobs_of(path) as jobs:
        failures = jobs.run().failures
        assert recorded(jobs.ledger) == []
    assert any("the Spark server has not answered for 2 s" in one for one in failures), failures


def test_a_job_whose_server_is_killed_keeps_nobody_waiting_not_even_as_it_ends(
    server, tmp_path, monkeypatch
):
    """By itself a session that is ended asks a server that is gone for ten minutes."""
    from pyspark.sql import SparkSession

    monkeypatch.setattr(spark_watch, "_RETRIES", 1)
    path = shop(tmp_path / "shop", lambda _name: "counts://made/*.parquet")
    session = SparkSession.builder.remote(server.url).create()
    run = SparkEngine.run

    def run_or_die(engine, statement, *, about):
        if "INSERT" in statement.sql:
            server.kill()
        run(engine, statement, about=about)

    monkeypatch.setattr(SparkEngine, "run", run_or_die)
    begun = time.monotonic()
    with pytest.raises(SourceError, match="cannot be written: failed to connect"):
        counts(
            path,
            predictions=session.read.parquet(str(path.with_name("predictions.parquet"))),
            positives=session.read.parquet(str(path.with_name("confirmations.parquet"))),
            start=FIRST,
            now=NOW,
            table="made",
        )
    ending = Thread(target=session.stop, daemon=True)
    ending.start()
    ending.join(timeout=60)
    assert not ending.is_alive()
    assert time.monotonic() - begun < 60


def test_a_driver_that_is_killed_while_a_job_counts_or_writes(tmp_path):
    undisturbed = shop(tmp_path / "undisturbed", lambda _name: "counts://made/*.parquet")
    assert job(undisturbed) == 0
    expected = results(undisturbed)
    path = shop(tmp_path / "killed", lambda _name: "counts://made/*.parquet")
    for fate in ("2", "writing"):
        assert job(path, fate) == -9
        # Nothing is there that a round could take for counts.
        assert not list((path.parent / "made").glob("*.parquet"))
    assert job(path) == 0
    assert results(path) == expected


def job(path, *fate):
    """The exit status of the process that is the job."""
    done = subprocess.run(
        [sys.executable, str(JOB), str(path), str(path.parent / "made"), NOW.isoformat(), *fate],
        cwd=path.parent,
        env={
            # What a session with a server leaves there would make this one ask for a server.
            **{name: value for name, value in os.environ.items() if "SPARK" not in name},
            "JAVA_HOME": str(java_home(path.parent)),
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode > 0:
        raise RuntimeError(done.stderr[-3000:])
    return done.returncode
