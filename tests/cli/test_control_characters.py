"""Whatever stands in the data, what people read keeps its lines and its terminal."""

from __future__ import annotations

import json
import logging

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.cli.terminal import OneLineFormatter
from tests.monitor.monitored_shop import write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

VERSION = "v1\nall is well\x1b[31m\r"
COUNTRY = "DE\x1b]0;owned\x07\n\u202e\x9b31m"
SHOWN = (r"v1\nall is well\x1b[31m\r", r"country=DE\x1b]0;owned\x07\n\u202e\x9b31m")
RULES = """\
    rules:
      - {metric: labeled_positives, above: 1}
      - {metric: labeled_positives, above: 1, per: country}
"""


def invoke(*arguments, status=0):
    runner = CliRunner(env={"COLUMNS": "300", "NO_COLOR": "1", "TERM": "dumb"})
    done = runner.invoke(app, [str(one) for one in arguments])
    assert done.exit_code == status, done.output
    return done


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    path = write_shop(
        tmp_path_factory.mktemp("shop"),
        days=3,
        with_segments=True,
        with_versions=True,
        class_prior=0.1,
    )
    made = pd.read_parquet(path.parent / "predictions.parquet")
    made = made.assign(version=VERSION, country=COUNTRY)
    made.to_parquet(path.parent / "predictions.parquet")
    path.write_text(path.read_text() + RULES)
    return path


@pytest.fixture(scope="module")
def ran(shop):
    return shop, invoke("backfill", "--from", "2026-01-01", "--to", "2026-01-04", "--config", shop)


def assert_plain(done, *shown):
    for text in (done.stdout, done.stderr):
        assert not set(text) & set("\x1b\x07\r\x9b\u202e")
    for one in shown:
        assert one in done.stdout
    # No line of the output is one of the data's.
    assert not any(line.strip().startswith("all is well") for line in done.stdout.splitlines())


def test_a_round_of_work_keeps_its_lines(ran):
    assert_plain(ran[1])


@pytest.mark.parametrize(
    "command",
    [
        ("results", "card-fraud", "--metric", "recall"),
        ("insights", "card-fraud"),
        ("alerts", "list", "card-fraud"),
        ("alerts", "list", "card-fraud", "--history"),
        ("alerts", "ack", "card-fraud"),
    ],
)
def test_so_does_every_command_that_reads(ran, command):
    shop, _ = ran
    assert_plain(invoke(*command, "--config", shop), *SHOWN)


def test_check_and_doctor_do(ran):
    shop, _ = ran
    assert_plain(invoke("check", "--config", shop), SHOWN[0], SHOWN[1].partition("=")[2])
    assert_plain(invoke("doctor", "--config", shop))


def test_machines_read_what_it_is(ran):
    shop, _ = ran
    rows = json.loads(invoke("results", "card-fraud", "--format", "json", "--config", shop).stdout)
    assert {row["model_version"] for row in rows} == {VERSION}
    assert f"country={COUNTRY}" in {row["segment"] for row in rows}


def test_an_error_that_quotes_data_keeps_its_terminal(tmp_path):
    name = tmp_path / "p\x1b[31m.csv"
    done = invoke("evaluate", name, "--labels", "l", "--scores", "s", status=2)
    assert r"p\x1b[31m.csv" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_record_of_the_log_is_one_line_and_a_traceback_stays():
    formatter = OneLineFormatter("%(levelname)s %(message)s")
    record = logging.LogRecord(
        "pumonitor", logging.ERROR, "x.py", 1, "window of %s\nfailed", ("a\x1b[2J\nERROR b",), None
    )
    assert formatter.format(record) == r"ERROR window of a\x1b[2J\nERROR b\nfailed"
    record.exc_text = "Traceback\n  line"
    assert formatter.format(record).splitlines()[1:] == ["Traceback", "  line"]
