"""A state database is made and brought up to date when it is opened, once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.database.migrations import upgrade as migrations
from pumonitor.monitor.ledger.database.migrations.upgrade import upgrade
from pumonitor.monitor.ledger.database.schema import metadata
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.ledger.earlier_steps import take_steps_up_to

FIELDS = (
    "monitor, model_version, segment, window_start, window_end, state, revision, as_of, metric, "
    "value, low, high, n_labeled, n_unlabeled, undefined_reason, infeasible, impossible, "
    "infeasible_reason, unclipped_value, unclipped_low, unclipped_high, assumed"
)


@pytest.fixture(autouse=True)
def step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here no database is a copy of one that has taken the steps."""
    monkeypatch.setattr(migrations, "upgrade", upgrade)


def test_the_steps_lead_to_the_tables_the_code_knows(address: str) -> None:
    database = Database(address)
    with database.reading() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []
        inspector = inspect(connection)
        assert {column["name"]: column["nullable"] for column in inspector.get_columns("windows")}[
            "fence"
        ] is False
        assert sorted(inspector.get_view_names()) == ["pumonitor_latest", "pumonitor_results"]
    database.close()


def test_the_view_of_results_has_exactly_the_promised_fields(address: str) -> None:
    database = Database(address)
    with database.reading() as connection:
        columns = inspect(connection).get_columns("pumonitor_results")
    database.close()

    assert ", ".join(column["name"] for column in columns) == FIELDS


def test_opening_again_changes_nothing(empty_address: str) -> None:
    with Ledger.open(empty_address) as ledger:
        ledger.run_ids.set("a", "b")
    with Ledger.open(empty_address) as ledger:
        assert ledger.run_ids.get("a") == "b"


def test_many_processes_may_open_a_new_database_at_once(empty_address: str) -> None:
    script = Path(__file__).with_name("opening_worker.py")
    done = subprocess.run(
        [sys.executable, str(script), empty_address, "6"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == "6 opened\n"


def test_a_database_of_a_newer_version_is_refused(empty_address: str) -> None:
    Ledger.open(empty_address).close()
    database = Database(empty_address)
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(StateError) as caught:
        upgrade(database)
    database.close()

    assert "was written by a newer version of pumonitor" in str(caught.value)
    assert "at step 9999, this version knows steps up to 0019" in str(caught.value)


def test_a_step_that_fails_leaves_nothing_behind(
    empty_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("in the middle")

    monkeypatch.setattr(MigrationContext, "stamp", fail)
    with pytest.raises(RuntimeError, match="in the middle"):
        Ledger.open(empty_address)
    monkeypatch.undo()

    database = Database(empty_address)
    with database.reading() as connection:
        assert inspect(connection).get_table_names() == []
    database.close()
    Ledger.open(empty_address).close()


AT_STEP_3 = (
    "INSERT INTO monitors VALUES (:name, 'c', :meaning, :start, true)",
    "INSERT INTO windows (window_key, monitor, configuration, window_start, window_end, "
    "window_index, collected_panes, evaluated_panes, fence, attempts) "
    "VALUES (:key, :name, 'c', :start, :end, 1, 1, 1, 1, 0)",
    "INSERT INTO panes (window_key, number, state, as_of, status, revision) "
    "VALUES (:key, 0, 'mature', :end, 'evaluated', 0)",
    "INSERT INTO evaluations VALUES (:key, 0, 0, '', '', '{}')",
    "INSERT INTO results (window_key, pane, revision, model_version, segment, metric, value, low, "
    "high) VALUES (:key, 0, 0, '', '', 'class_prior', 0.1, 0.1, 0.1)",
    "INSERT INTO results (window_key, pane, revision, model_version, segment, metric, value, low, "
    "high) VALUES (:key, 0, 0, '', '', 'precision', 1.0, 1.0, 1.0)",
)


def test_results_of_an_earlier_step_are_read_as_they_were(empty_address: str) -> None:
    """Made by the steps up to 0003; a class prior that the configuration gives is assumed."""
    database = Database(empty_address)
    take_steps_up_to(database, "0003")
    start = "2026-01-01T00:00:00.000000+00:00"
    values = {"start": start, "end": start.replace("01-01", "01-02")}
    with database.writing(counted=False) as connection:
        for name, meaning in (("given", '{"class_prior": 0.1}'), ("estimated", "{}")):
            for statement in AT_STEP_3:
                here = values | {"name": name, "key": name, "meaning": meaning}
                connection.execute(text(statement), here)
    database.close()

    with Ledger.open(empty_address) as ledger:
        rows = {(row.monitor, row.metric): row for row in ledger.results()}
        with ledger.database.reading() as connection:
            seen = connection.exec_driver_sql(
                "SELECT infeasible, impossible, infeasible_reason, unclipped_value, assumed "
                "FROM pumonitor_results ORDER BY monitor, metric"
            ).all()
    assert {key: row.assumed for key, row in rows.items()} == {
        ("given", "class_prior"): True,
        ("given", "precision"): False,
        ("estimated", "class_prior"): False,
        ("estimated", "precision"): False,
    }
    assert all(
        (row.low, row.infeasible, row.unclipped_value) != (None,) * 3 for row in rows.values()
    )
    assert [tuple(row) for row in seen] == [
        (False, False, None, None, assumed) for assumed in (False, False, True, False)
    ]
