"""A monitor whose predictions ended long ago: no windows are planned since, and that is said."""

import json
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.windows.due.due_windows import due_windows, empty_windows, partial_end
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAY = timedelta(days=1)
NO_DATA = "    rules: [{health: no_data, for: 3}]\n"


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """Two days of predictions, looked at by a run of today."""
    path = write_shop(tmp_path_factory.mktemp("stopped"), days=2, class_prior=0.1)
    path.write_text(path.read_text() + NO_DATA)
    return path, invoke(path, "run", "--json", status=None)


def invoke(path, *arguments, status=0):
    runner = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"})
    done = runner.invoke(app, [*arguments, "--config", str(path)])
    assert status is None or done.exit_code == status, done.output
    return done


def test_as_many_empty_windows_are_planned_as_rules_ask_for(stopped):
    _, done = stopped
    told = json.loads(done.stdout)
    assert (told["planned"], told["evaluated"], told["failures"]) == (5, 5, [])
    (condition,) = told["conditions"]
    assert condition["condition"] == "no data"
    assert condition["since"].startswith("2026-01-02T23:")
    (firing,) = told["firing"]
    assert firing["reason"] == "there are no predictions"


def test_insights_shows_the_last_windows_that_had_some_and_since_when_there_are_none(stopped):
    path, _ = stopped
    shown = invoke(path, "insights").stdout
    assert "card-fraud: no data since 2026-01-02 23:" in shown
    assert "2026-01-02 00:00 to 2026-01-03 00:00 UTC: final" in shown
    assert "no window is evaluated" not in shown
    # Of the windows with an end, whatever the width.
    broken = [line for line in shown.splitlines() if line.count("[") != line.count("]")]
    assert broken == []
    (told,) = json.loads(invoke(path, "insights", "--json").stdout)
    assert (told["evaluated"], len(told["latest"])) == (5, 1)


def test_the_doctor_says_so_and_does_not_ask_for_a_run(stopped):
    path, _ = stopped
    found = json.loads(invoke(path, "doctor", "--json", status=None).stdout)
    (about,) = [one for one in found if "no data since 2026-01-02 23:" in one["what"]]
    assert "check that the job that fills it has run" in about["remedy"]
    assert not any("late" in one["what"] or "planned since" in one["what"] for one in found)


def test_a_replay_tells_empty_windows_apart(stopped):
    path, _ = stopped
    (one,) = json.loads(invoke(path, "alerts", "simulate", "card-fraud", "--json").stdout)
    assert (one["windows"], one["empty_windows"]) == (2, 3)
    shown = invoke(path, "alerts", "simulate", "card-fraud").stdout
    assert "2 windows (and 3 without predictions), fired once" in shown


def test_the_exporter_tells_the_last_prediction(stopped):
    from pumonitor.monitor.app import open_ledger
    from pumonitor.monitor.inspection.exposition import exposition

    path, _ = stopped
    configuration = read_configuration(path).configuration
    with open_ledger(configuration) as ledger:
        text = exposition(ledger, monitors=configuration.monitors, clock=lambda: FIRST)().decode()
    (line,) = [
        one for one in text.splitlines() if one.startswith("pumonitor_last_prediction_timestamp")
    ]
    assert FIRST + DAY < datetime.fromtimestamp(float(line.split()[1]), UTC) < FIRST + 2 * DAY


def test_what_comes_after_a_pause_is_planned_with_the_days_between(tmp_path):
    path = write_shop(tmp_path, days=1, class_prior=0.1)
    configuration = read_configuration(path).configuration
    now = FIRST + 20 * DAY
    with open_jobs(configuration, clock=lambda: now, deliver=False) as jobs:
        assert jobs.run().planned == 2
        assert jobs.run().planned == 0
        rows = pd.read_parquet(tmp_path / "predictions.parquet")
        later = rows.iloc[:1].assign(prediction_id=10**6, scored_at=FIRST + 5.5 * DAY)
        pd.concat([rows, later]).to_parquet(tmp_path / "predictions.parquet")
        assert jobs.run().planned == 5
        (told,) = [one.window for one in jobs.ledger.windows("card-fraud")][-1:]
        assert told.start == FIRST + 6 * DAY


def test_a_last_window_that_is_a_part_of_one_is_said_to_be(tmp_path):
    # The last prediction is of Friday night, 9 January: the weekend is missing.
    path = write_shop(tmp_path, days=5, first=FIRST + 4 * DAY, class_prior=0.1)
    path.write_text(path.read_text().replace("window: 1d", "window: 1w"))
    said = (
        "the last window with predictions, 2026-01-05 00:00 to 2026-01-12 00:00 UTC, is "
        "incomplete: predictions end at 2026-01-09 23:"
    )
    told = json.loads(invoke(path, "check", "--json").stdout)["monitors"]["card-fraud"]["warnings"]
    assert any(said in one and "when 71.4% of it had passed" in one for one in told)
    assert not any("first window" in one for one in told)
    invoke(path, "run", "--json")
    found = json.loads(invoke(path, "insights", "--json").stdout)[0]["findings"]
    assert any(one.startswith(said) for one in found)


def test_of_a_window_that_has_not_ended_nothing_is_said(tmp_path):
    path = write_shop(tmp_path, days=5, first=FIRST + 4 * DAY, class_prior=0.1)
    path.write_text(path.read_text().replace("window: 1d", "window: 1w"))
    monitor = read_configuration(path).configuration.monitors["card-fraud"]
    last, end = FIRST + 8 * DAY, FIRST + 11 * DAY
    assert partial_end(monitor, last, now=end - timedelta(seconds=1)) == ""
    assert "when 57.1% of it had passed" in partial_end(monitor, last, now=end)
    assert partial_end(monitor, end - timedelta(hours=8), now=end) == ""


def test_a_first_window_that_is_a_part_of_one_is_said_to_be(tmp_path):
    # The first prediction is of Thursday, 1 January: three of seven days are missing.
    path = write_shop(tmp_path, days=2, class_prior=0.1)
    path.write_text(path.read_text().replace("window: 1d", "window: 1w"))
    said = (
        "the first window, 2025-12-29 00:00 to 2026-01-05 00:00 UTC, is incomplete: predictions "
        "begin at 2026-01-01 00:0"
    )
    told = json.loads(invoke(path, "check", "--json").stdout)["monitors"]["card-fraud"]["warnings"]
    assert any(said in one and "when 42.9% of it had passed" in one for one in told)
    invoke(path, "run", "--json")
    (insight,) = json.loads(invoke(path, "insights", "--json").stdout)
    assert any(said in one for one in insight["findings"])
    path.write_text(path.read_text().replace("window: 1w", "window: 1d"))
    told = json.loads(invoke(path, "check", "--json").stdout)["monitors"]["card-fraud"]["warnings"]
    assert not any("part of one" in one for one in told)


def test_rules_say_how_many_empty_windows_there_are(tmp_path):
    path = write_shop(tmp_path, days=1, class_prior=0.1)
    text = path.read_text()
    for rules, number in (
        ("", 1),
        ("    rules: [{metric: aul, below: 0.5, for: 4}]\n", 1),
        ("    rules: [{health: volume, change: 50%, for: 2}]\n", 2),
        ("    rules: [{metric: aul, below: 0.5, stale_for: 7}]\n", 7),
    ):
        path.write_text(text + rules)
        (monitor,) = read_configuration(path).configuration.monitors.values()
        assert empty_windows(monitor) == number
        due = due_windows(monitor, FIRST, FIRST + DAY / 2, now=FIRST + 4000 * DAY)
        assert len(due) == 1 + number
