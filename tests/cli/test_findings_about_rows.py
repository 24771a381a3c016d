"""What is odd about rows, though they can be counted, is told wherever people look."""

import json
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.reports.window_files import window_files_of
from tests.monitor.monitored_shop import write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

REFUSED = (
    "were known more than a day before the prediction and do not count: check known_at and time, "
    "their time_zone and time_unit"
)


def invoke(*arguments, status=0):
    runner = CliRunner(env={"COLUMNS": "400", "NO_COLOR": "1", "TERM": "dumb"})
    done = runner.invoke(app, [str(one) for one in arguments])
    assert done.exit_code == status, done.output
    return done.stdout


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Of the fifth day each row is there twice, and half of its labels are of a month before."""
    path = write_shop(tmp_path_factory.mktemp("shop"), days=6, class_prior=0.1)
    made = pd.read_parquet(path.parent / "predictions.parquet")
    known = pd.read_parquet(path.parent / "confirmations.parquet")
    of_day = made.scored_at.dt.day == 5
    pd.concat([made, made[of_day]]).to_parquet(path.parent / "predictions.parquet")
    early = known.prediction_id.isin(made.prediction_id[of_day]) & (known.index % 2 == 0)
    assert early.sum() > 5
    known["confirmed_at"] = known.confirmed_at.mask(early, known.confirmed_at - timedelta(days=30))
    known.to_parquet(path.parent / "confirmations.parquet")
    return path


@pytest.fixture(scope="module")
def ran(shop):
    text = invoke(
        "backfill", "card-fraud", "--from", "2026-01-01", "--to", "2026-01-07", "--config", shop
    )
    return shop, text


def test_the_run_says_so(ran):
    _, text = ran
    (repeated,) = [line for line in text.splitlines() if "repeat an id" in line]
    assert repeated.startswith("Note: card-fraud, window of 2026-01-05 00:00 UTC: ")
    assert "(50%) repeat an id of the window (usual is 0%), and only the first" in repeated
    (refused,) = [line for line in text.splitlines() if REFUSED in line]
    assert refused.startswith("Note: card-fraud, window of 2026-01-05 00:00 UTC: ")


def test_so_does_the_json_of_a_run_that_finds_nothing_else(ran):
    shop, _ = ran
    arguments = ("--from", "2026-01-05", "--to", "2026-01-06", "--reprocess", "all", "--json")
    found = json.loads(invoke("backfill", "card-fraud", *arguments, "--config", shop))["findings"]
    assert {(one["monitor"], one["window_start"], one["kind"]) for one in found} == {
        ("card-fraud", "2026-01-05T00:00:00+00:00", "refused_labels"),
        ("card-fraud", "2026-01-05T00:00:00+00:00", "repeated_predictions"),
    }


def test_insights_and_doctor_say_so(ran):
    shop, _ = ran
    for command in (("insights", "card-fraud"), ("doctor",)):
        text = invoke(*command, "--config", shop)
        assert "window of 2026-01-05 00:00 UTC: " in text
        assert "repeat an id of the window (usual is 0%)" in text
        assert REFUSED in text
    told = json.loads(invoke("insights", "card-fraud", "--json", "--config", shop))
    assert len(told[0]["findings"]) == 2


def test_check_says_so(ran):
    shop, _ = ran
    text = invoke("check", "--config", shop)
    assert "confirmed more than a day before they were made: such labels are not counted" in text
    assert "window of 2026-01-05 00:00 UTC: " in text
    assert "repeat an id of the window (usual is 0%)" in text
    assert (
        text.count("confirmed more than a day before") + text.count("known more than a day before")
        == 1
    )
    assert "No check failed" in text


@pytest.mark.slow
def test_the_report_of_the_window_says_so(ran):
    shop, _ = ran
    configuration = read_configuration(shop).configuration
    with open_ledger(configuration) as ledger:
        pages = {}
        for day in (4, 5):
            start = datetime(2026, 1, day, tzinfo=UTC)
            stored = ledger.evaluation("card-fraud", start=start)
            asked = {
                "window_key": stored.window_key,
                "revision": stored.revision,
                "model_version": "",
                "segment": "",
            }
            files = window_files_of(configuration.monitors, ledger, asked)
            pages[day] = files["report.html"]
    assert REFUSED in pages[5]
    assert "repeat an id of the window" in pages[5]
    assert "repeat an id" not in pages[4]
    assert REFUSED not in pages[4]


# Predictions ahead of their time


@pytest.fixture
def ahead(tmp_path):
    path = write_shop(tmp_path, days=2, class_prior=0.1)
    made = pd.read_parquet(tmp_path / "predictions.parquet")
    made["scored_at"] += timedelta(days=3653)
    made.to_parquet(tmp_path / "predictions.parquet")
    return path


def test_predictions_years_ahead_are_no_empty_success(ahead):
    message = "has 1200 times more than a day in the future, the last of them 2036-01-03T23:5"
    for command in (
        ("run",),
        ("backfill", "--from", "2026-01-01", "--to", "2026-01-03"),
        ("check",),
    ):
        assert message in invoke(*command, "--config", ahead, status=2)
    arguments = ("backfill", "--from", "2026-01-01", "--to", "2026-01-03", "--json")
    done = json.loads(invoke(*arguments, "--config", ahead, status=2))
    assert (done["planned"], done["collected"]) == (0, 0)
    assert message in done["failures"][0]


def test_init_refuses_predictions_years_ahead(ahead, monkeypatch):
    monkeypatch.chdir(ahead.parent)
    done = CliRunner().invoke(app, ["init", ".", "--yes", "--force"])
    assert done.exit_code == 2
    assert (
        "time column 'scored_at' of predictions.parquet has times more than a day in the future, "
        "the last of them 2036-01-03T23:5"
    ) in done.stderr


def test_windows_of_the_future_are_refused_by_name(tmp_path):
    shop = write_shop(tmp_path, days=2, class_prior=0.1)
    arguments = ("backfill", "--from", "2099-01-01", "--to", "2099-02-01", "--config", shop)
    text = invoke(*arguments, status=2)
    assert "no window from 2099-01-01 00:00 UTC on has ended yet: it is 20" in text
    assert "swap" not in text
