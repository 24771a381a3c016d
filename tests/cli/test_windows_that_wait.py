"""Windows that wait for one that cannot be counted: who waits, how long, and what ends it."""

import json
import shlex
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from tests.monitor.monitored_shop import write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
FIRST = TODAY - timedelta(days=20)
BAD = FIRST + timedelta(days=1)


def invoke(*arguments, status=None):
    runner = CliRunner(env={"COLUMNS": "1000", "NO_COLOR": "1", "TERM": "dumb"})
    done = runner.invoke(app, [str(one) for one in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    assert status is None or done.exit_code == status, done.output
    return " ".join(done.stdout.split())


def spoil(path):
    """The second of five days has a score that is infinite; undoes it when called."""
    file = path.parent / "predictions.parquet"
    made = pd.read_parquet(file)
    spoilt = made.copy()
    spoilt.loc[spoilt.index[made.scored_at >= pd.Timestamp(BAD)][0], "score"] = float("inf")
    spoilt.to_parquet(file)
    return lambda: made.to_parquet(file)


@pytest.fixture
def held(tmp_path, monkeypatch):
    path = write_shop(tmp_path, days=5, first=FIRST, class_prior=0.1)
    mend = spoil(path)
    monkeypatch.chdir(tmp_path)
    return path, mend


@pytest.mark.slow
def test_run_insights_and_doctor_say_who_waits_for_what_and_the_remedy_works(held):
    _, mend = held
    first = invoke("run", status=2)
    later = json.loads(invoke("run", "--json", status=0))["left"]["waiting_for"]
    (one,) = later
    assert one["window_start"] == BAD.isoformat()
    assert (one["windows"], one["attempts_left"]) == (4, 7)
    # Of seven more failures the first comes 30 s after the one there was.
    since = datetime.fromisoformat(one["given_up_from"])
    assert timedelta(minutes=60) < since - datetime.now(UTC) < timedelta(minutes=64)

    said = (
        f"4 later windows wait for the window of {BAD:%Y-%m-%d} 00:00 UTC, which cannot be counted"
    )
    command = (
        f"pumonitor backfill card-fraud --reprocess failed --from {BAD:%Y-%m-%d} "
        f"--to {BAD + timedelta(days=1):%Y-%m-%d}"
    )
    given_up = (
        f"until it is given up, after 7 more failed attempts, not before {since:%Y-%m-%d %H:%M}"
    )
    for text in (first, invoke("run"), invoke("insights")):
        assert said in text
        assert "infinite or NaN" in text
        assert command in text
        assert given_up in text
    assert "4 of them for earlier windows that cannot be counted" in first
    told = json.loads(invoke("doctor", "--json", status=3))
    (about,) = [one for one in told if "failed 1 times" in one["what"]]
    assert f"4 later windows wait {given_up}" in about["what"]
    assert command in about["remedy"]
    assert not [one for one in told if "late," in one["what"]]

    mend()
    invoke(*shlex.split(command)[1:], status=0)
    assert "nothing is left" in invoke("run", status=0)
    assert "wait" not in invoke("insights")


@pytest.mark.slow
def test_remedies_about_rows_can_be_run(tmp_path, monkeypatch):
    path = write_shop(tmp_path, days=5, first=FIRST, class_prior=0.1)
    monkeypatch.chdir(tmp_path)
    file = path.parent / "predictions.parquet"
    made = pd.read_parquet(file)
    of_day = made.scored_at.between(pd.Timestamp(BAD), pd.Timestamp(BAD + timedelta(days=1)))
    pd.concat([made, made[of_day]]).to_parquet(file)
    invoke("run", status=0)
    told = json.loads(invoke("doctor", "--json"))
    (about,) = [one for one in told if "repeat an id" in one["what"]]
    made.to_parquet(file)
    command = about["remedy"].split(", then ")[1].removesuffix(" counts the windows again")
    assert command.startswith("pumonitor backfill card-fraud --reprocess all --from ")
    assert "1 window collected" in invoke(*shlex.split(command)[1:], status=0)
    assert not [one for one in json.loads(invoke("doctor", "--json")) if "repeat" in one["what"]]
