"""One monitor whose tables are broken: one failure a round, and the others go on."""

import logging
import sqlite3
from datetime import timedelta

import pandas as pd
import pytest
import yaml

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.windows.opening import open_monitor_source
from pumonitor.sources.windows import together
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAYS = 3
NOW = FIRST + timedelta(days=DAYS)


def in_a_database(path, *, table="confirmations", time="confirmed_at"):
    """Confirmations, or predictions, move to a table of SQLite."""
    folder = path.parent
    with sqlite3.connect(folder / "tables.db") as database:
        rows = pd.read_parquet(folder / f"{table}.parquet")
        rows.assign(**{time: rows[time].astype(str)}).to_sql(table, database, index=False)
    database.close()
    text = path.read_text().replace(
        f"source: {table}.parquet", f"source: {{url: 'sqlite:///tables.db', table: {table}}}"
    )
    path.write_text(text.replace("reference:", "# reference:"))
    return path


def with_another(path):
    """A second monitor, which comes later in the file and reads other confirmations."""
    document = yaml.safe_load(path.read_text())
    (first,) = document["monitors"].values()
    second = first | {"positives": first["positives"] | {"source": "confirmations.parquet"}}
    document["monitors"]["other"] = second
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def rename(folder, old, new):
    with sqlite3.connect(folder / "tables.db") as database:
        database.execute(f"ALTER TABLE {old} RENAME TO {new}")
    database.close()


def jobs_of(path, **options):
    configuration = read_configuration(path).configuration
    return open_jobs(configuration, clock=lambda: NOW, deliver=False, **options)


def attempts(jobs, name="card-fraud"):
    return {one.window.start.day: one.attempts for one in jobs.ledger.windows(name)}


@pytest.mark.slow
def test_tables_that_vanish_fail_once_a_round_and_are_made_up_for(tmp_path, monkeypatch):
    # All windows by one statement would be counted before the table vanishes.
    monkeypatch.setattr(together, "_MOST_WINDOWS", 1)
    path = in_a_database(
        write_shop(tmp_path, days=DAYS, panes="[0d]", class_prior=0.1),
        table="predictions",
        time="scored_at",
    )
    collected = 0

    def on_step(step):
        nonlocal collected
        collected += step == "collected and stored"
        if step == "collected and stored" and collected == 1:
            rename(tmp_path, "predictions", "elsewhere")

    with jobs_of(path, on_step=on_step) as jobs:
        done = jobs.run()
        assert len(done.failures) == 1
        assert done.failures[0].startswith("card-fraud: ")
        assert "predictions" in done.failures[0]
        assert (done.collected, done.bad_input) == (1, 1)
        assert attempts(jobs) == {1: 0, 2: 1, 3: 0}
        # Rounds later it is the same window that is tried, and nothing adds up.
        for _ in range(2):
            assert len(jobs.run().failures) == 1
        assert attempts(jobs) == {1: 0, 2: 1, 3: 0}
        rename(tmp_path, "elsewhere", "predictions")
        done = jobs.run()
        assert (done.failures, done.collected, done.evaluated) == ([], DAYS - 1, DAYS)
        assert attempts(jobs) == {1: 0, 2: 0, 3: 0}


def test_tables_that_are_not_there_at_all_are_one_failure_of_one_monitor(tmp_path):
    path = with_another(in_a_database(write_shop(tmp_path, days=2, class_prior=0.1)))
    rename(tmp_path, "confirmations", "elsewhere")
    with jobs_of(path) as jobs:
        done = jobs.run()
        assert [one.partition(":")[0] for one in done.failures] == ["card-fraud"]
        assert (done.planned, done.evaluated) == (3, 3)
        assert jobs.ledger.windows("card-fraud") == ()


def test_an_error_nobody_foresaw_stops_no_other_monitor_and_is_logged(tmp_path, caplog):
    path = with_another(in_a_database(write_shop(tmp_path, days=1, class_prior=0.1)))

    def open_source(monitor):
        if monitor.name == "card-fraud":
            message = "a driver went mad"
            raise RuntimeError(message)
        return open_monitor_source(monitor)

    with (
        caplog.at_level(logging.ERROR, logger="pumonitor"),
        jobs_of(path, open_source=open_source) as jobs,
    ):
        done = jobs.run()
    assert done.failures == ["card-fraud: RuntimeError: a driver went mad"]
    assert done.evaluated == 2
    (logged,) = caplog.records
    assert "card-fraud failed unexpectedly" in logged.message
    assert "in open_source" in caplog.text


def test_a_backfill_goes_on_with_the_other_monitors(tmp_path):
    from pumonitor.monitor.backfill import backfill

    path = with_another(in_a_database(write_shop(tmp_path, days=1, class_prior=0.1)))
    rename(tmp_path, "confirmations", "elsewhere")
    done = backfill(path, None, start=FIRST, end=FIRST + timedelta(days=1))
    assert len(done.failures) == 1
    assert done.failures[0].startswith("card-fraud: ")
    assert done.evaluated == 1
