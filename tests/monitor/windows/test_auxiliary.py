"""The auxiliary score of a monitor: it keeps its AUC when the model breaks, however it is run.

Days whose model has its score turned round from the 14th on, of customers who recur.
"""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.doctor import examine
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.database import schema
from pumonitor.prior.auxiliary import AuxiliaryScore
from tests.monitor.windows.auxiliary_days import (
    BREAK,
    DAYS,
    END,
    FIRST,
    MATURE,
    PRIOR,
    SETTLED,
    auc,
    jobs_at,
    look,
    of_pane,
    stored,
    write_days,
)

pytestmark = pytest.mark.usefixtures("unsearched_labels")


TRAINED_ON = 10


def run(path: Path, now: datetime) -> None:
    with jobs_at(path, now) as jobs:
        assert jobs.run().failures == []


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All windows long after, from files that know everything."""
    path = write_days(tmp_path_factory.mktemp("at-once"))
    run(path, SETTLED)
    return path


def test_a_broken_model_takes_nothing_from_the_auxiliary_score(at_once: Path) -> None:
    with jobs_at(at_once, SETTLED) as jobs:
        for day in (BREAK - 1, BREAK, DAYS - 1):
            auxiliary, series = of_pane(jobs, day)
            whole = series[""]
            look = auxiliary.of_series(whole)
            assert (look.reason, auxiliary.reason) == (None, None)
            assert auc(look.table) == pytest.approx(0.94, abs=0.08)
            deployed = auc(whole.table())
            assert deployed > 0.85 if day < BREAK else deployed < 0.2
            # Nobody was left out.
            assert look.table.n_labeled == whole.delays["labeled"]
            assert look.table.unlabeled.sum() == whole.delays["unlabeled"]
        # Windows of the training are seen with the same eyes: by models that saw none of theirs.
        before = [auxiliary.of_series(of_pane(jobs, day)[1][""]).table for day in range(TRAINED_ON)]
        assert np.mean([auc(table) for table in before]) == pytest.approx(0.95, abs=0.03)


def class_priors(jobs: Jobs) -> dict[tuple[datetime, int], dict[str, Any]]:
    """That of every look at every window with predictions, with all that is told of it."""
    query = select(schema.windows.c.window_start, schema.evaluations).join(
        schema.evaluations, schema.evaluations.c.window_key == schema.windows.c.window_key
    )
    with jobs.ledger.database.reading() as connection:
        return {
            (row.window_start, row.pane): row.evaluation["made_with"]["class_prior"]
            for row in connection.execute(query)
            if row.window_start < END and row.evaluation["made_with"]["class_prior"]
        }


def test_the_class_prior_is_followed_by_it_and_a_break_of_the_model_is_none_of_it(
    at_once: Path,
) -> None:
    with jobs_at(at_once, SETTLED) as jobs:
        priors = class_priors(jobs)
    for (start, pane), one in priors.items():
        told = one["diagnostics"]["over_time"]
        day = (start - FIRST).days
        is_seen = day >= TRAINED_ON + 1 if pane == 0 else day >= TRAINED_ON
        assert (told["index"] == "auxiliary") == is_seen
        assert told["index_reason"] is None or not is_seen
        assert one["low"] < PRIOR < one["high"]
        if is_seen and day >= BREAK:
            assert told["moved"] < 0.2
            assert told["since_reference"]["ranking"]["chance"] < 0.3


def test_it_is_trained_once_on_the_first_windows_that_suffice(at_once: Path) -> None:
    with jobs_at(at_once, SETTLED) as jobs:
        score, _ = stored(jobs)
        # 27 a day: after ten days there are more than 150.
        assert score.first_start == FIRST
        assert score.last_start == FIRST + timedelta(days=TRAINED_ON - 1)
        assert score.as_of == FIRST + timedelta(days=TRAINED_ON + 2)
        facts = score.facts
        assert facts["windows"] == TRAINED_ON
        assert facts["auc"]["low"] < 0.95 < facts["auc"]["high"]
        assert facts["columns"] == {
            "amount": "numbers",
            "hour": "numbers",
            "shop": "categories",
            "country": "categories",
        }
        assert AuxiliaryScore.from_bytes(score.score).hash == score.hash
        for day, number, reason in [
            (5, 1, "it is trained on 10 windows or more with 150 confirmed positives"),
            (TRAINED_ON, 0, "it is trained on labels that became known by 2026-01-13 00:00"),
            (TRAINED_ON - 2, 2, "the window is one of those it was trained on"),
        ]:
            auxiliary, series = of_pane(jobs, day, number)
            if day == 5:
                # In time nobody knew better.
                assert auxiliary.hash is None
            else:
                assert reason in str(auxiliary.reason)
                assert auxiliary.of_series(series[""]).reason == auxiliary.reason
        # Provisional looks are seen as of their own moment.
        early, series = of_pane(jobs, DAYS - 2, 0)
        seen = early.of_series(series[""]).table
        assert seen.n_labeled == series[""].delays["labeled"]
        assert seen.n_labeled < of_pane(jobs, DAYS - 2)[1][""].delays["labeled"]


@pytest.mark.slow
def test_daily_runs_and_a_replay_see_the_same(
    at_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_days(tmp_path)
    for day in range(1, DAYS + 5):
        run(path, FIRST + timedelta(days=day, hours=1))
    with jobs_at(at_once, SETTLED) as jobs:
        expected, priors = stored(jobs), class_priors(jobs)
    with jobs_at(path, SETTLED) as jobs:
        score, looks = stored(jobs)
        assert class_priors(jobs) == priors
        assert (score.hash, score.facts, score.as_of) == (
            expected[0].hash,
            expected[0].facts,
            expected[0].as_of,
        )
        wanted = {key: one for key, one in expected[1].items() if key in looks}
        assert looks.keys() == {key for key in expected[1] if key[0] < END + timedelta(days=1)}
        assert looks == wanted
        # Collected and evaluated again.
        keys = [one.window_key for one in jobs.ledger.windows("card-fraud")]
        jobs.ledger.reopen(keys, which="all", actor="test")
        jobs.drain()
        again = stored(jobs)
    assert again[0].hash == score.hash
    assert {key: one for key, one in again[1].items() if key in looks} == looks


def test_doctor_says_that_the_features_are_left_out_and_why(at_once: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(at_once.parent, copied)
    path = copied / at_once.name
    configuration = read_configuration(path).configuration

    def about_features() -> list[str]:
        found = examine(configuration, now=SETTLED)
        return [one.what for one in found if "features" in one.what]

    assert about_features() == []
    file = copied / "predictions.parquet"
    pd.read_parquet(file).drop(columns="hour").to_parquet(file)
    with jobs_at(path, SETTLED) as jobs:
        last = [one for one in jobs.ledger.windows("card-fraud") if one.window.start < END][-1]
        jobs.ledger.reopen([last.window_key], which="all", actor="test")
        assert jobs.run().failures == []
    [said] = about_features()
    assert said.startswith(
        "card-fraud: the class prior is followed with the model's score and not with"
    )
    assert f"{last.window.start:%Y-%m-%d %H:%M}" in said
    assert "no column 'hour'" in said


@pytest.mark.slow
def test_a_refresh_trains_it_anew(at_once: Path) -> None:
    with jobs_at(at_once, SETTLED) as jobs:
        before = stored(jobs)
        assert jobs.refresh_auxiliary() == ["card-fraud"]
        assert stored(jobs) == (None, {})
        assert jobs.refresh_auxiliary() == []
        look(jobs, DAYS - 1)
        assert stored(jobs)[0].hash == before[0].hash
        last = FIRST + timedelta(days=DAYS - 1)
        found = stored(jobs)[1]
        assert found[last, MATURE, "", ""] == before[1][last, MATURE, "", ""]
        assert jobs.ledger.audit(limit=1)[0].action == "refresh auxiliary score"


def test_a_run_can_be_asked_to_train_it_anew(at_once: Path) -> None:
    with jobs_at(at_once, SETTLED) as jobs:
        look(jobs, DAYS - 1)
        assert stored(jobs)[0] is not None
        reopened = jobs.ledger.audit(limit=100)
    command = ["run", "--refresh-auxiliary", "--config", str(at_once)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    with jobs_at(at_once, SETTLED) as jobs:
        entries = jobs.ledger.audit(limit=100)
        new = [one.action for one in entries[: len(entries) - len(reopened)]]
        assert "refresh auxiliary score" in new
