"""Alerts that fire and began in a backfill: nobody is paged, and that is said."""

import json
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from tests.monitor.monitored_shop import write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
DAY = timedelta(days=1)
RULES = """\
    rules:
      - {metric: predictions, below: 1000000, name: too few}
"""
SAID = (
    "card-fraud: 1 alert fires without a notification, because none is sent when an alert begins "
    "in a backfill or in a window of long ago"
)


def invoke(*arguments):
    runner = CliRunner(env={"COLUMNS": "1000", "NO_COLOR": "1", "TERM": "dumb"})
    done = runner.invoke(app, [str(one) for one in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_what_fires_after_a_backfill_is_said_and_told_with_the_next_window(tmp_path, monkeypatch):
    path = write_shop(tmp_path, days=4, first=TODAY - 4 * DAY, maturity=DAY, class_prior=0.1)
    path.write_text(path.read_text().replace("panes: [0d, 1d]", "panes: []") + RULES)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "predictions.parquet"
    made = pd.read_parquet(file)
    made[made.scored_at < pd.Timestamp(TODAY - 2 * DAY)].to_parquet(file)
    begin, end = f"{TODAY - 4 * DAY:%Y-%m-%d}", f"{TODAY - 2 * DAY:%Y-%m-%d}"

    text = invoke("backfill", "--from", begin, "--to", f"{TODAY - 3 * DAY:%Y-%m-%d}")
    assert SAID in text
    assert "pumonitor alerts list card-fraud --firing lists them" in text
    assert "too few" in invoke("alerts", "list", "card-fraud", "--firing")
    (one,) = [
        one
        for one in json.loads(invoke("doctor", "--json"))
        if "without a notification" in one["what"]
    ]
    assert one["what"] == SAID
    assert one["remedy"].startswith("pumonitor alerts list card-fraud --firing lists them")

    # A run tells of it with the windows that are newer.
    invoke("backfill", "--from", begin, "--to", end)
    made.to_parquet(file)
    done = json.loads(invoke("run", "--json"))
    assert done["untold"] == []
    assert "without a notification" not in invoke("run")
    assert not [
        one
        for one in json.loads(invoke("doctor", "--json"))
        if "without a notification" in one["what"]
    ]


def test_a_run_after_a_backfill_of_all_says_that_nobody_was_notified(tmp_path, monkeypatch):
    path = write_shop(tmp_path, days=2, first=TODAY - 40 * DAY, maturity=DAY, class_prior=0.1)
    path.write_text(path.read_text().replace("panes: [0d, 1d]", "panes: []") + RULES)
    monkeypatch.chdir(tmp_path)
    span = ("--from", f"{TODAY - 40 * DAY:%Y-%m-%d}", "--to", f"{TODAY - 37 * DAY:%Y-%m-%d}")
    assert SAID in invoke("backfill", *span)
    assert json.loads(invoke("backfill", *span, "--json"))["untold"]
    first = invoke("run", "--json")
    assert [one["rule"] for one in json.loads(first)["untold"]] == ["too few"]
    assert SAID in invoke("run")
