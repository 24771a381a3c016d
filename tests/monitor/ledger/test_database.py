"""Connections: what is refused, what is waited for and for how long."""

from __future__ import annotations

import sys
import traceback
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import make_url

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.database.connections import Database, Timeouts
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.ledger import Ledger

SHORT = Timeouts(lock=timedelta(milliseconds=50))
CANARY = "c4nary-s3cret"


@pytest.mark.parametrize("address", ["mysql://me:c4nary-s3cret@host/db", "oracle://host"])
def test_other_databases_are_refused(address: str) -> None:
    with pytest.raises(InputError) as caught:
        Database(address)

    kind = address.partition(":")[0]
    assert str(caught.value) == (
        f"state must be sqlite:///FILE or postgresql://USER@HOST/NAME, got {kind}://..."
    )


@pytest.mark.parametrize("address", ["state.db", "", "postgresql"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError, match=r"postgresql://USER@HOST/NAME$"):
        Database(address)


@pytest.mark.parametrize("address", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_is_refused(address: str) -> None:
    with pytest.raises(InputError, match=r"write sqlite:///pumonitor\.db"):
        Database(address)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"folder of the state database does not exist: .*/gone"):
        Database(f"sqlite:///{tmp_path}/gone/state.db")


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    file.write_text("id,score\n" * 1000)

    with pytest.raises(StateError, match=r"state.db cannot be used: file is not a database"):
        Ledger.open(f"sqlite:///{file}")


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_server_that_does_not_answer_is_named_without_the_password(scheme: str) -> None:
    address = f"{scheme}://me:{CANARY}@127.0.0.1:1/db?sslpassword={CANARY}"

    with pytest.raises(StateError) as caught:
        Ledger.open(address)

    told = "".join(traceback.format_exception(caught.value))
    assert "127.0.0.1:1/db cannot be used: connection failed" in str(caught.value)
    assert CANARY not in told


def test_postgresql_without_its_driver_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(InputError, match=r"pip install 'pumonitor\[postgres\]'"):
        Database("postgresql://host/db")


def test_sqlite_is_set_up_to_lose_nothing(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/state.db")
    with database.reading() as connection:

        def setting(name: str) -> object:
            return connection.exec_driver_sql(f"PRAGMA {name}").scalar()

        assert setting("journal_mode") == "wal"
        assert setting("synchronous") == 2
        assert setting("foreign_keys") == 1
        assert setting("busy_timeout") == 15_000
    database.close()


def test_a_file_of_sqlite_is_its_owner_s_alone(tmp_path: Path) -> None:
    with Ledger.open(f"sqlite:///{tmp_path}/state.db") as ledger:
        ledger.secret_keys.get("forms")
        rights = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
        assert rights == dict.fromkeys(["state.db", "state.db-wal", "state.db-shm"], 0o600)
        assert ledger.database.readable_by_others is None
        (tmp_path / "state.db").chmod(0o644)
        assert ledger.database.readable_by_others == tmp_path / "state.db"


def test_a_role_without_rights_is_told_so_in_words(postgres: SimpleNamespace) -> None:
    address = postgres.new_database()
    with Ledger.open(address):
        pass
    role = f"reader_{make_url(address).database}"
    postgres.run(f"CREATE ROLE {role} LOGIN")
    of_role = make_url(address).set(username=role).render_as_string(hide_password=False)
    with pytest.raises(
        StateError, match=f"the role '{role}' has too few rights.*permission denied"
    ):
        Ledger.open(of_role, migrates=False)


def test_postgresql_waits_for_nothing_without_end(postgres: SimpleNamespace) -> None:
    database = Database(postgres.new_database())
    with database.reading() as connection:

        def setting(name: str) -> object:
            return connection.exec_driver_sql(f"SHOW {name}").scalar()

        assert setting("lock_timeout") == "15s"
        assert setting("statement_timeout") == "1min"
        assert setting("idle_in_transaction_session_timeout") == "30s"
        assert setting("synchronous_commit") == "on"
        assert setting("TimeZone") == "UTC"
        assert setting("application_name") == "pumonitor"
    database.close()


def test_a_writer_waits_for_another_and_then_says_so(address: str) -> None:
    with Ledger.open(address, timeouts=SHORT) as ledger:
        ledger.run_ids.set("a", "before")
        with ledger.database.writing() as connection:
            connection.exec_driver_sql("UPDATE keys SET value = 'after'")
            with pytest.raises(
                StateError, match=r"is held by another (process: .*lock|thread of this process)"
            ):
                ledger.run_ids.set("a", "too soon")
        assert ledger.run_ids.get("a") == "after"


def test_readers_wait_for_nobody_and_see_what_is_committed(address: str) -> None:
    with Ledger.open(address, timeouts=SHORT) as ledger:
        ledger.run_ids.set("a", "before")
        with ledger.database.writing() as connection:
            connection.exec_driver_sql("UPDATE keys SET value = 'after'")
            assert ledger.run_ids.get("a") == "before"
        assert ledger.run_ids.get("a") == "after"


def test_a_transaction_that_fails_leaves_nothing(address: str) -> None:
    with Ledger.open(address) as ledger:
        with pytest.raises(ZeroDivisionError):
            set_and_fail(ledger)
        assert ledger.run_ids.get("a") is None


def set_and_fail(ledger: Ledger) -> float:
    with ledger.database.writing() as connection:
        connection.exec_driver_sql("INSERT INTO keys VALUES ('mlflow run a', 'b')")
        return 1 / 0


def test_a_stopped_worker_does_not_hold_up_others_on_postgresql(postgres_address: str) -> None:
    impatient = Timeouts(idle=timedelta(milliseconds=100))
    with (
        Ledger.open(postgres_address, timeouts=impatient) as stopped,
        Ledger.open(postgres_address) as other,
    ):
        other.run_ids.set("a", "before")
        with pytest.raises(StateError, match=r"closed the connection: .*idle-in-transaction"):
            stop_in_a_transaction(stopped, other)
        assert other.run_ids.get("a") == "of the other"
        assert stopped.run_ids.get("a") == "of the other"


def stop_in_a_transaction(stopped: Ledger, other: Ledger) -> None:
    with stopped.database.writing() as connection:
        connection.exec_driver_sql("UPDATE keys SET value = 'of the stopped'")
        other.run_ids.set("a", "of the other")  # waits until the server ends the first
        connection.exec_driver_sql("UPDATE keys SET value = 'of the stopped'")


def test_a_statement_without_end_is_ended_on_postgresql(
    postgres_address: str,
) -> None:
    impatient = Timeouts(statement=timedelta(milliseconds=50))
    with (
        Ledger.open(postgres_address, timeouts=impatient) as ledger,
        pytest.raises(StateError, match="statement timeout"),
        ledger.database.reading() as connection,
    ):
        connection.exec_driver_sql("SELECT pg_sleep(60)")


def test_a_server_that_restarts_is_found_again(
    postgres: SimpleNamespace, postgres_address: str
) -> None:
    with Ledger.open(postgres_address) as ledger:
        ledger.ready()
        name = make_url(postgres_address).database
        postgres.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "  # noqa: S608
            f"WHERE datname = '{name}'"
        )
        ledger.ready()


def test_a_healthy_database_is_ready_and_a_lost_one_is_not(postgres: SimpleNamespace) -> None:
    address = postgres.new_database()
    with Ledger.open(address) as ledger:
        ledger.ready()
        postgres.run(f"DROP DATABASE {make_url(address).database} WITH (FORCE)")
        with pytest.raises(StateError, match="does not exist"):
            ledger.ready()
