"""Tables that go away, are slow or are replaced in the middle of a window: the same results."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta

import pandas as pd
import pytest
import sqlalchemy
from deltalake import DeltaTable, write_deltalake
from sqlalchemy import event

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.windows.opening import place_of
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source
from pumonitor.sources.windows import together
from tests.monitor.monitored_shop import FIRST, recorded, write_shop
from tests.sources.lake_tables import arrow_of, delta_table

pytestmark = [
    pytest.mark.usefixtures("unsearched_labels"),
    pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning"),
]

DAYS = 2
NOW = FIRST + timedelta(days=DAYS)
TABLES = {"predictions": "predictions.parquet", "confirmations": "confirmations.parquet"}


def shop(folder, source_of):
    """The shop with its tables elsewhere; a name of a table to its source."""
    path = write_shop(folder, days=DAYS, panes="[0d]", class_prior=0.1)
    text = path.read_text()
    for name, file in TABLES.items():
        text = text.replace(f"source: {file}", f"source: {source_of(name)}")
    # The reference would be another window to collect.
    path.write_text(text.replace("reference:", "# reference:"))
    return path


def in_database(folder, address):
    engine = sqlalchemy.create_engine(address)
    path = shop(folder, lambda name: f"{{url: '{address}', table: {name}}}")
    for name, file in TABLES.items():
        pd.read_parquet(folder / file).to_sql(name, engine, index=False, if_exists="replace")
    engine.dispose()
    return path


def jobs_of(path, **options):
    return open_jobs(
        read_configuration(path).configuration, clock=lambda: NOW, deliver=False, **options
    )


@pytest.fixture(scope="module")
def tables(postgres):
    return postgres.new_database()


@pytest.fixture(scope="module")
def undisturbed(tables, tmp_path_factory):
    with jobs_of(in_database(tmp_path_factory.mktemp("shop"), tables)) as jobs:
        assert jobs.run().failures == []
        found = recorded(jobs.ledger)
    assert len({row[3] for row in found}) == DAYS
    return found


@contextmanager
def before_statement(address, numbers, then):
    """Calls `then` with the connection before the so manieth statements that count windows."""
    database = sqlalchemy.make_url(address).database
    seen = 0

    def count(connection, cursor, statement, *_):
        nonlocal seen
        if connection.engine.url.database == database and "known" in statement:
            seen += 1
            if seen in numbers:
                then(connection)

    event.listen(sqlalchemy.Engine, "before_cursor_execute", count)
    try:
        yield
    finally:
        event.remove(sqlalchemy.Engine, "before_cursor_execute", count)
    assert seen >= min(numbers), f"only {seen} statements"


@pytest.mark.parametrize(("numbers", "failed"), [([1], 0), ([1, 2], 1), (range(1, 99), DAYS)])
def test_a_connection_that_is_cut_in_the_middle_of_a_window(
    numbers, failed, tables, undisturbed, postgres, tmp_path
):
    """Both windows are counted by one statement; where it fails, each by its own."""
    path = in_database(tmp_path, tables)

    def cut(connection):
        pid = connection.connection.dbapi_connection.info.backend_pid
        postgres.run(f"SELECT pg_terminate_backend({pid}, 20000)")

    with jobs_of(path) as jobs:
        with before_statement(tables, numbers, cut):
            done = jobs.run()
        assert len(done.failures) == failed
        assert all("terminating connection" in one for one in done.failures)
        again(jobs)
        assert recorded(jobs.ledger) == undisturbed


def again(jobs):
    """A later round, when the wait after a failure is over."""
    keys = [one.window_key for one in jobs.ledger.windows("card-fraud")]
    jobs.ledger.reopen(keys, which="failed", actor="test")
    assert jobs.run().failures == []


def test_a_query_that_is_ended_by_its_limit(tables, undisturbed, tmp_path):
    path = in_database(tmp_path, tables)
    engine = sqlalchemy.create_engine(tables, isolation_level="AUTOCOMMIT")

    def run(*statements):
        with engine.connect() as connection:
            for one in statements:
                connection.exec_driver_sql(one)

    endless = "(SELECT count(*) FROM generate_series(1, 1000000000000)) > 0"
    view = "CREATE OR REPLACE VIEW predictions AS SELECT * FROM scored"
    run("ALTER TABLE predictions RENAME TO scored", view)
    slow = True

    def on_step(step):
        if slow and step == "claimed to collect":
            run(f"{view} WHERE {endless}")

    try:
        with jobs_of(path, open_source=limited, on_step=on_step) as jobs:
            done = jobs.run()
            assert len(done.failures) == DAYS
            assert all("longer to read than the 0.5 s allowed" in one for one in done.failures)
            slow = False
            run(view)
            again(jobs)
            assert recorded(jobs.ledger) == undisturbed
    finally:
        run("DROP VIEW predictions", "ALTER TABLE scored RENAME TO predictions")
        engine.dispose()


def limited(monitor):
    """Its tables, with a limit of less than a second for each statement."""
    predictions, positives = monitor.predictions, monitor.positives
    return open_source(
        place_of(predictions.source),
        PredictionColumns(id=predictions.id, time=predictions.time, score=predictions.score),
        place_of(positives.source),
        LabelColumns(id=positives.id, known_at=positives.known_at),
        statement_timeout=0.5,
    )


def test_rows_of_a_database_that_are_replaced_between_two_windows(
    tables, undisturbed, tmp_path, monkeypatch
):
    """Each window is one moment of the database: the first is of the rows before."""
    monkeypatch.setattr(together, "_MOST_WINDOWS", 1)
    path = in_database(tmp_path, tables)
    engine = sqlalchemy.create_engine(tables)

    def replace(_connection):
        with engine.begin() as writing:
            writing.exec_driver_sql("UPDATE predictions SET score = 1 - score")
            writing.exec_driver_sql("DELETE FROM confirmations")

    with jobs_of(path) as jobs:
        with before_statement(tables, [2], replace):
            assert jobs.run().failures == []
        found = recorded(jobs.ledger)
    engine.dispose()
    first = [row for row in found if row[3] == FIRST]
    assert first == [row for row in undisturbed if row[3] == FIRST]
    assert found != undisturbed


def test_a_lake_that_is_replaced_while_a_round_reads_it(tmp_path):
    path = shop(tmp_path, lambda name: f"delta://{name}")
    rows = {name: arrow_of(pd.read_parquet(tmp_path / file)) for name, file in TABLES.items()}
    for name, table in rows.items():
        delta_table(tmp_path / name, table)
    with jobs_of(path) as jobs:
        assert jobs.run().failures == []
        expected = recorded(jobs.ledger)
    (tmp_path / "state.db").unlink()
    steps: list[str] = []

    def on_step(step):
        steps.append(step)
        if steps.count("claimed to collect") == 1 and step == "claimed to collect":
            write_deltalake(
                tmp_path / "predictions", rows["predictions"].slice(0, 10), mode="overwrite"
            )
            DeltaTable(tmp_path / "confirmations").delete()

    with jobs_of(path, on_step=on_step) as jobs:
        assert jobs.run().failures == []
        assert recorded(jobs.ledger) == expected
    assert steps.count("collected and stored") == DAYS
