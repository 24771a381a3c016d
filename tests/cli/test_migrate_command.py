"""`pumonitor migrate` brings the state database up to date, and says from where to where."""

import json

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.migrations.upgrade import standing, upgrade
from tests.monitor.ledger.earlier_steps import take_steps_up_to
from tests.monitor.made_up_results import TEXT


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "pumonitor.yaml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def state(config):
    database = Database(f"sqlite:///{config.parent / 'state.db'}")
    yield database
    database.close()


def migrate(config, *options, status=0):
    done = CliRunner().invoke(app, ["migrate", "--config", str(config), *options])
    assert done.exit_code == status, done.output
    return done


def test_it_makes_the_tables_and_then_has_nothing_to_do(config, state):
    newest = standing(state).newest
    assert migrate(config).stdout == f"{state.name}: tables were made, at step {newest}\n"
    assert migrate(config).stdout == f"{state.name}: tables are at step {newest}, the newest\n"
    assert migrate(config, "--check").stdout == migrate(config).stdout


def test_it_says_from_which_step_to_which(config, state):
    take_steps_up_to(state, "0006")
    newest = standing(state).newest
    checked = migrate(config, "--check", status=3)
    assert checked.stdout == (
        f"{state.name}: tables are at step 0006; this version needs step {newest}\n"
    )
    assert checked.stderr == "pumonitor migrate takes the missing steps\n"
    assert standing(state).at == "0006"
    assert migrate(config).stdout == (
        f"{state.name}: tables went from step 0006 to step {newest}\n"
    )
    assert standing(state).at == newest


def test_a_check_of_a_file_that_is_missing_does_not_make_it(config, state):
    done = migrate(config, "--check", status=3)
    assert "has no tables; this version needs step" in done.stdout
    assert not (config.parent / "state.db").exists()


def test_json_has_the_steps_as_fields(config, state):
    newest = standing(state).newest
    fields = {"database": state.name, "newest": newest}
    seen = [json.loads(migrate(config, "--json", "--check", status=3).stdout)]
    seen += [json.loads(migrate(config, "--json").stdout) for _ in range(2)]
    assert seen == [
        {**fields, "before": None, "at": None},
        {**fields, "before": None, "at": newest},
        {**fields, "before": newest, "at": newest},
    ]


@pytest.mark.parametrize("options", [[], ["--check"]])
def test_tables_of_a_newer_version_are_refused(config, state, options):
    upgrade(state)
    with state.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    refused = migrate(config, *options, status=3)
    assert "was written by a newer version of pumonitor (its tables are at step 9999" in (
        refused.stderr
    )


@pytest.mark.parametrize(
    "command",
    [
        "results shop",
        "insights",
        "alerts list",
        "alerts silence shop --until 2d --reason rest",
        "report shop --period 2026-01",
        "doctor",
        "doctor --sizes",
        "notes list",
        "tokens list",
        "pages --address 127.0.0.1:0",
        "backfill --from 2026-01-01 --to 2026-01-02 --dry-run",
    ],
)
def test_who_reads_leaves_the_tables_of_an_older_version_to_its_workers(config, state, command):
    take_steps_up_to(state, "0006")
    shop = next(iter(read_configuration(config).configuration.monitors))
    asked = [shop if word == "shop" else word for word in command.split()]
    done = CliRunner().invoke(app, [*asked, "--config", str(config)])
    assert done.exit_code == 3, done.output
    assert "at step 0006, this version reads step" in " ".join(done.output.split())
    assert "run pumonitor migrate" in " ".join(done.output.split())
    assert standing(state).at == "0006"


def test_a_worker_takes_the_steps(config, state):
    take_steps_up_to(state, "0006")
    CliRunner().invoke(app, ["run", "--config", str(config)])
    assert standing(state).is_newest
