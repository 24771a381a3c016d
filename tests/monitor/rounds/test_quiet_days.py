"""Rules against the reference in days that differ by themselves, from files to what is told."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.database.schema import panes
from pumonitor.monitor.ledger.records.claims import window_key
from pumonitor.monitor.ledger.records.results import EvaluatedSeries
from pumonitor.monitor.rules.reference.usual import Usual
from pumonitor.monitor.windows.class_prior.followed import FollowedPriors
from pumonitor.monitor.windows.evaluate import references_in
from pumonitor.monitor.windows.evaluation.references import References

pytestmark = pytest.mark.usefixtures("unsearched_labels")

FIRST = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)
DAYS, REFERENCE = 8, 4
TEXT = """\
state: sqlite:///state.db
monitors:
  fraud:
    predictions: {source: predictions.parquet, id: id, time: at, score: score}
    positives: {source: confirmations.parquet, id: id, known_at: at}
    window: 1d
    maturity: 1d
    panes: []
    threshold: 0.5
    class_prior: 0.1
    reference: {start: 2026-01-05, end: 2026-01-09}
    rules:
      - {metric: recall, drop: 10%, from: reference}
      - {metric: labeled_positives, drop: 60%, from: reference}
      - {metric: recall, drop: 10%, from: 4d, name: trailing}
      - {metric: recall, below: 0.5}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nothing changes: busy days have 50 confirmed, 40 of them flagged, slow ones 1 of 10."""
    place: Path = tmp_path_factory.mktemp("quiet")
    rng = np.random.default_rng(5)
    predictions, confirmations = [], []
    for day in range(DAYS):
        confirmed, flagged = (50, 40) if day % 2 else (10, 1)
        scores = rng.uniform(0.0, 0.5, 400)
        scores[:flagged] += 0.5
        scores[confirmed : confirmed + 20] += 0.5
        ids = np.arange(400) + 400 * day
        at = pd.Timestamp(FIRST + day * DAY) + pd.to_timedelta(rng.uniform(0, 24, 400), unit="h")
        predictions.append(pd.DataFrame({"id": ids, "at": at, "score": scores}))
        confirmations.append(pd.DataFrame({"id": ids[:confirmed], "at": at[:confirmed]}))
    pd.concat(predictions).to_parquet(place / "predictions.parquet")
    pd.concat(confirmations).to_parquet(place / "confirmations.parquet")
    path = place / "pumonitor.yaml"
    path.write_text(TEXT, encoding="utf-8")
    now = FIRST + (DAYS + 1) * DAY
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: now, deliver=False
    ) as jobs:
        assert jobs.run().failures == []
    return place


def test_days_that_differ_as_those_of_the_reference_do_fire_nothing(folder: Path) -> None:
    """Of all days together 68% were flagged, which no slow day is near; of a usual day, 45%."""
    with open_jobs(read_configuration(folder / "pumonitor.yaml").configuration) as jobs:
        fired = {one.transition.rule for one in jobs.ledger.alerts.history()}
        results = jobs.ledger.results("fraud", metrics=["recall", "recall_change"])
        current = {one.rule: one for one in jobs.ledger.alerts.current()}
    assert fired == {"recall below 0.5"}
    assert current["recall drop 10%"].reference == pytest.approx(0.45)
    assert current["labeled_positives drop 60%"].reference == pytest.approx(30.0)
    by_day = {(row.window_start, row.metric): row for row in results}
    for (start, metric), row in by_day.items():
        if metric == "recall_change":
            assert start >= FIRST + REFERENCE * DAY, "the reference is compared with nothing"
            recall = by_day[start, "recall"].value
            assert recall is not None
            assert row.value == pytest.approx(recall - 0.45)
            assert row.low < 0 < row.high  # type: ignore[operator]


def test_check_says_how_often_rules_would_have_fired_for_nothing(folder: Path) -> None:
    path = str(folder / "pumonitor.yaml")
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["check", "--config", path, "--json"])
    assert done.exit_code == 0, done.output
    rules = json.loads(done.stdout)["monitors"]["fraud"]["rules"]
    quiet = {one["rule"]: one["quiet"] for one in rules}
    found = quiet["recall drop 10%"]
    assert (found["windows"], found["alarms"], found["per_year"]) == (4, 0, 0.0)
    # Three alarms, the 95% bound of none, in four days.
    assert found["at_most"] == pytest.approx(2.9957 / 4 * 365.25, rel=1e-4)
    below = quiet["recall below 0.5"]
    assert (below["windows"], below["alarms"]) == (4, 2)
    assert below["per_year"] == pytest.approx(0.5 * 365.25)
    text = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["check", "--config", path]).stdout
    assert "false alarms: 0 in 4 windows without a change, at most 274 a year" in " ".join(
        text.split()
    )


def test_a_reference_of_two_windows_says_what_is_missing(folder: Path, tmp_path: Path) -> None:
    text = TEXT.replace("2026-01-09}", "2026-01-07}")
    for name in ("predictions", "confirmations"):
        text = text.replace(f"{name}.parquet", str(folder / f"{name}.parquet"))
    path = tmp_path / "pumonitor.yaml"
    path.write_text(text, encoding="utf-8")
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: FIRST + 5 * DAY, deliver=False
    ) as jobs:
        assert jobs.run().failures == []
        current = {one.rule: one for one in jobs.ledger.alerts.current()}
    assert current["recall drop 10%"].reason == (
        "the reference has 2 windows with Recall, and 3 are needed to estimate how much windows "
        "vary when nothing changes"
    )
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["check", "--config", str(path)])
    assert "the reference has 2 windows, and 3 are needed" in " ".join(done.stdout.split())


def test_a_backfill_of_later_days_evaluates_the_reference_as_well(
    folder: Path, tmp_path: Path
) -> None:
    for one in folder.glob("*.parquet"):
        shutil.copy(one, tmp_path)
    path = tmp_path / "pumonitor.yaml"
    path.write_text(TEXT, encoding="utf-8")
    day = ["--from", "2026-01-11", "--to", "2026-01-12"]
    done = CliRunner().invoke(app, ["backfill", *day, "--config", str(path)])
    assert done.exit_code == 0, done.output

    def changes(where: Path) -> list[tuple[float | None, ...]]:
        with open_jobs(read_configuration(where).configuration) as jobs:
            rows = jobs.ledger.results("fraud", since=FIRST + 6 * DAY, metrics=["recall_change"])
        start = FIRST + 6 * DAY
        return [
            (row.value, row.low, row.high)
            for row in rows
            if row.window_start == start and row.state == "final"
        ]

    assert len(changes(path)) == 1
    now = FIRST + 30 * DAY
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    with open_jobs(configuration, clock=lambda: now, deliver=False, notify=False) as jobs:
        assert jobs.drain().failures == []
    assert changes(path) == changes(folder / "pumonitor.yaml")


def test_a_reference_window_that_another_worker_is_at_counts_as_it_will_be_found(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    monitor = configuration.monitors["fraud"]
    with open_jobs(configuration, deliver=False) as jobs:
        key = jobs.ledger.configuration("fraud")
        assert key is not None

        def usual(references: References) -> tuple[int, Usual]:
            found = references.of(monitor, key, as_of=FIRST + DAYS * DAY)
            assert found is not None
            windows = found.windows_for("", "")
            return len(windows.windows), windows.usual("recall")

        before = usual(references_in(jobs.ledger, FollowedPriors(jobs.ledger)))
        second = window_key("fraud", key, FIRST + DAY, FIRST + 2 * DAY)
        at_it = update(panes).where(panes.c.window_key == second, panes.c.number == 0)
        with jobs.ledger.database.writing() as connection:
            connection.execute(at_it.values(status="collected"))
        assert usual(references_in(jobs.ledger, FollowedPriors(jobs.ledger))) == before

        def fails(*_: object) -> list[EvaluatedSeries]:
            raise ZeroDivisionError

        # One that cannot be evaluated is given up by its worker, and left out here.
        assert usual(References(jobs.ledger, fails))[0] == before[0] - 1 == REFERENCE - 1
        assert "the reference does not include the window from 2026-01-06" in caplog.text
        with jobs.ledger.database.writing() as connection:
            connection.execute(at_it.values(status="evaluated"))


def test_a_reference_that_is_collected_again_is_read_again(folder: Path) -> None:
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    monitor = configuration.monitors["fraud"]
    with open_jobs(configuration, deliver=False) as jobs:
        key = jobs.ledger.configuration("fraud")
        assert key is not None
        moment = FIRST + DAYS * DAY
        found = jobs.references.of(monitor, key, as_of=moment)
        assert jobs.references.of(monitor, key, as_of=moment) is found
        first = window_key("fraud", key, FIRST, FIRST + DAY)
        again = update(panes).where(panes.c.window_key == first, panes.c.number == 0)
        with jobs.ledger.database.writing() as connection:
            connection.execute(again.values(collected_at=moment))
        assert jobs.references.of(monitor, key, as_of=moment) is not found
        assert jobs.references.of(monitor, key, as_of=FIRST + REFERENCE * DAY) is None
