"""Backups as docs/operating.md describes them: taken while others work, and put back."""

import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.made_up_results import TEXT, record, write_made_up
from tests.monitor.monitored_shop import recorded

OPERATING = Path(__file__).resolve().parents[2] / "docs" / "operating.md"


def command_of_the_page(program):
    """The command that the page gives, as words."""
    (line,) = re.findall(
        rf"^{program} (.*?)(?: +#.*)?$", OPERATING.read_text(encoding="utf-8"), re.M
    )
    return line


def results_of(path):
    configuration = read_configuration(path, needs="ledger").configuration
    with Ledger.open(configuration.state_address) as ledger:
        return recorded(ledger)


def goes_on(path, before):
    """It is up to date, has what it had, and takes the window that came after the backup again."""
    done = CliRunner().invoke(app, ["migrate", "--check", "--config", str(path)])
    assert done.exit_code == 0, done.output
    assert results_of(path) == before
    record(path, [2])
    assert results_of(path)[: len(before)] == before
    assert len(results_of(path)) > len(before)


def test_a_backup_of_sqlite_is_taken_while_somebody_writes(tmp_path):
    path = write_made_up(tmp_path)
    record(path, [0, 1])
    before = results_of(path)
    _, statement, _ = command_of_the_page("sqlite3").split('"')
    copy = tmp_path / "copy.db"
    writer = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    reader = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    with closing(writer), closing(reader):
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE results SET value = 17")  # half done, and never committed
        reader.execute(re.sub("'.*'", f"'{copy}'", statement))
        writer.execute("ROLLBACK")
    record(path, [2])

    for name in ("state.db", "state.db-wal", "state.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    shutil.copy(copy, tmp_path / "state.db")
    goes_on(path, before)


@pytest.mark.slow
def test_a_backup_of_postgresql_is_put_into_an_empty_database(tmp_path, postgres):
    import pgserver

    programs = Path(pgserver.__file__).parent / "pginstall" / "bin"

    def run(program, **places):
        words = command_of_the_page(program).split()
        done = [places.get(word.replace('"', ""), word) for word in words]
        told = subprocess.run(
            [str(programs / program), *map(str, done)],
            check=False,
            capture_output=True,
            text=True,
        )
        assert told.returncode == 0, told.stderr

    old, new = postgres.new_database(), postgres.new_database()
    plain = {
        one: make_url(one).set(drivername="postgresql").render_as_string(hide_password=False)
        for one in (old, new)
    }
    path = write_made_up(tmp_path, TEXT.replace("sqlite:///state.db", f"'{old}'"))
    record(path, [0, 1])
    before = results_of(path)
    run("pg_dump", **{"$STATE": plain[old], "--file=pumonitor.dump": f"--file={tmp_path}/x"})
    record(path, [2])
    run(
        "pg_restore",
        **{"--dbname=$EMPTY": f"--dbname={plain[new]}", "pumonitor.dump": tmp_path / "x"},
    )
    write_made_up(tmp_path, TEXT.replace("sqlite:///state.db", f"'{new}'"))
    goes_on(path, before)
