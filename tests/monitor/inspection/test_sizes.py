"""What `doctor --sizes` says of the state database, and what retention then deletes."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.database.schema import panes
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.ledger.monitored_days import LONG_AFTER, collected, evaluated, planned
from tests.monitor.made_up_results import TEXT


@pytest.fixture
def path(tmp_path, address):
    with Ledger.open(address) as ledger:
        for monitor, days in (("card-fraud", 3), ("other", 1)):
            planned(ledger, days, monitor)
        while ledger.counts(now=LONG_AFTER).to_collect:
            collected(ledger)
            evaluated(ledger)
        with ledger.database.writing() as connection:
            before = ledger.database.now(connection) - timedelta(days=100)
            connection.execute(
                update(panes).where(panes.c.superseded_at.is_not(None)).values(superseded_at=before)
            )
    path = tmp_path / "pumonitor.yaml"
    path.write_text(f'state: "{address}"\n' + TEXT.partition("\n")[2])
    return path


def said(path, *options):
    done = CliRunner().invoke(app, ["doctor", "--sizes", "--config", str(path), *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_tables_and_monitors_the_largest_first(path):
    found = json.loads(said(path, "--json"))
    assert list(found["tables"].values()) == sorted(found["tables"].values(), reverse=True)
    assert {"evaluations", "results", "series", "panes"} <= set(found["tables"])
    assert found["tables"]["results"] > 0
    # A provisional, a mature and a final pane of each window.
    assert found["monitors"] == {
        "card-fraud": {"evaluations": 9, "superseded": 3},
        "other": {"evaluations": 3, "superseded": 1},
    }
    whole = found["tables"]["evaluations"] + found["tables"]["results"]
    assert found["bytes_freed"] == round(whole / 3)


def test_what_it_says_would_be_deleted_is_deleted(path):
    text = said(path)
    assert "keep_evaluations: 90d would delete 4 evaluations, about" in text
    path.write_text(path.read_text() + "keep_evaluations: 99d\n")
    assert "the next rounds delete 4 evaluations, about" in said(path)
    configuration = read_configuration(path).configuration
    with Ledger.open(configuration.state_address) as ledger:
        assert configuration.keep_evaluations is not None
        done = ledger.forget_evaluations(older_than=configuration.keep_evaluations)
    assert done.evaluations == 4
    assert "the next rounds delete 0 evaluations, about 0 bytes" in said(path)
