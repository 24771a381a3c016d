"""The auxiliary score of a monitor: it keeps its AUC when the model breaks, however it is run.

Days whose model has its score turned round from the 14th on, of customers who recur.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.inspection.check_monitor import check_monitor
from pumonitor.monitor.inspection.doctor import examine
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.database import schema
from pumonitor.monitor.ledger.records.claims import window_key
from pumonitor.monitor.ledger.results.auxiliary import stored_auxiliary
from pumonitor.monitor.round import Round
from pumonitor.monitor.windows.auxiliary.auxiliary import PaneAuxiliary
from pumonitor.monitor.windows.opening import open_monitor_source
from pumonitor.ports import Pane, Window
from pumonitor.prior.auxiliary import AuxiliaryScore

pytestmark = pytest.mark.usefixtures("unsearched_labels")

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 15
BREAK = 13
PRIOR = 0.06
END = FIRST + timedelta(days=DAYS)
SETTLED = END + timedelta(days=4)
TRAINED_ON = 10
MATURE = 1

CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions:
      source: {source}
      id: prediction_id
      time: scored_at
      score: score
{segments}      features: [amount, hour, shop, country]
      group: customer
    positives:
      source: confirmations.parquet
      id: prediction_id
      known_at: confirmed_at
    window: 1d
    maturity: 2d
    panes: [0d]
    threshold: 0.5
"""


def write_days(
    folder: Path, *, days: int = DAYS, kind: str = "parquet", with_segments: bool = False
) -> Path:
    """900 predictions a day, of whose positives a half is confirmed within two days."""
    rng = np.random.default_rng(3)
    rows = 900 * days
    scored_at = FIRST + pd.to_timedelta(np.sort(rng.uniform(0, days * 86_400, rows)), unit="s")
    day = ((scored_at - FIRST) // timedelta(days=1)).to_numpy()
    is_positive = rng.random(rows) < PRIOR
    amount = rng.normal(2.2 * is_positive)
    logit = 1.6 * amount - 2
    shop = np.where(rng.random(rows) < 0.2 + 0.5 * is_positive, "online", "till").astype(object)
    shop[rng.random(rows) < 0.05] = None
    frame = pd.DataFrame(
        {
            "prediction_id": [f"p{one}" for one in range(rows)],
            "scored_at": scored_at,
            "score": 1 / (1 + np.exp(-np.where(day < BREAK, logit, -logit))),
            "amount": np.where(rng.random(rows) < 0.05, np.nan, amount),
            "hour": scored_at.hour,
            "shop": shop,
            "country": np.where(rng.random(rows) < 0.7, "DE", "FR"),
            "customer": rng.integers(0, rows // 4, rows),
        }
    )
    if kind == "csv":
        frame.to_csv(folder / "predictions.csv", index=False)
    else:
        frame.to_parquet(folder / "predictions.parquet")
    confirmed = np.flatnonzero(is_positive & (rng.random(rows) < 0.5))
    delay = pd.to_timedelta(rng.uniform(0, 2 * 86_400, len(confirmed)), unit="s")
    pd.DataFrame(
        {
            "prediction_id": frame["prediction_id"][confirmed],
            "confirmed_at": scored_at[confirmed] + delay,
        }
    ).to_parquet(folder / "confirmations.parquet")
    path = folder / "pumonitor.yaml"
    segments = "      segments: [country]\n" if with_segments else ""
    path.write_text(CONFIGURATION.format(source=f"predictions.{kind}", segments=segments))
    return path


@contextmanager
def jobs_at(path: Path, now: datetime) -> Iterator[Jobs]:
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: now, deliver=False
    ) as jobs:
        yield jobs


def run(path: Path, now: datetime) -> None:
    with jobs_at(path, now) as jobs:
        assert jobs.run().failures == []


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All windows long after, from files that know everything."""
    path = write_days(tmp_path_factory.mktemp("at-once"))
    run(path, SETTLED)
    return path


def of_pane(jobs: Jobs, day: int, number: int = MATURE) -> tuple[PaneAuxiliary, Any]:
    """What is seen as of a look at a day, and the series of that look."""
    monitor = jobs.monitors["card-fraud"]
    start = FIRST + timedelta(days=day)
    window = Window(start=start, end=start + timedelta(days=1), index=day)
    states: Any = ("provisional", "mature", "final")
    pane = Pane(
        window=window,
        number=number,
        state=states[number],
        as_of=window.end + timedelta(days=2 * number),
    )
    configuration = configuration_hash(monitor)
    key = window_key(monitor.name, configuration, window.start, window.end)
    series = {one.segment: one for one in jobs.ledger.series(key, number)}
    auxiliary = PaneAuxiliary(
        monitor=monitor, configuration=configuration, pane=pane, ledger=jobs.ledger
    )
    return auxiliary, series


def auc(table: Any) -> float:
    found = evaluate_table(table, threshold=float(table.lower[0]), class_prior=PRIOR, curves=False)
    return found["auc"].value


def stored(jobs: Jobs) -> tuple[Any, dict[Any, Any]]:
    """The score, and all that is seen by it."""
    monitor = jobs.monitors["card-fraud"]
    with jobs.ledger.database.reading() as connection:
        score = stored_auxiliary(connection, monitor.name, configuration_hash(monitor))
        rows = connection.execute(
            select(schema.windows.c.window_start, schema.auxiliary_series).join(
                schema.auxiliary_series,
                schema.auxiliary_series.c.window_key == schema.windows.c.window_key,
            )
        )
        looks = {
            (row.window_start, row.pane, row.model_version, row.segment): (
                row.hash,
                row.reason,
                row.table_bytes,
            )
            for row in rows
        }
    return score, looks


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
            (TRAINED_ON, 0, "it is trained on what is known by 2026-01-13 00:00"),
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


@contextmanager
def prepared(path: Path) -> Iterator[Jobs]:
    """Windows collected, and the last of them with predictions about to be evaluated."""
    with jobs_at(path, SETTLED) as jobs, pytest.MonkeyPatch.context() as patch:
        # What windows say by themselves takes most of the time, and nobody asks for it here.
        patch.setattr("pumonitor.monitor.windows.collect.own_class_prior", lambda *_, **__: None)
        done = Round()
        jobs.plan_or_note("card-fraud", done)
        while jobs.windows.collect_next(done, lambda *_: None):
            pass
        assert done.failures == []
        look(jobs, DAYS - 1)
        yield jobs


def look(jobs: Jobs, day: int) -> None:
    auxiliary, series = of_pane(jobs, day)
    jobs.windows.priors.auxiliary.prepare(
        auxiliary.monitor,
        auxiliary.configuration,
        series[""].window_key,
        [auxiliary.pane],
        lambda: jobs._tables.of("card-fraud"),
    )


@pytest.mark.slow
def test_segments_and_files_without_types(tmp_path: Path) -> None:
    with prepared(write_days(tmp_path, kind="csv", with_segments=True)) as jobs:
        auxiliary, series = of_pane(jobs, DAYS - 1)
        whole = auxiliary.of_series(series[""]).table
        parts = [auxiliary.of_series(series[f"country={one}"]).table for one in ("DE", "FR")]
        columns = stored(jobs)[0].facts["columns"]
    assert auc(whole) > 0.9
    assert all(auc(one) > 0.85 for one in parts)
    for count in ("n_labeled", "n_unlabeled"):
        assert sum(getattr(one, count) for one in parts) == getattr(whole, count)
    assert columns == {
        "amount": "numbers in text",
        "hour": "numbers in text",
        "shop": "categories",
        "country": "categories",
    }


@pytest.mark.slow
def test_a_sample_stands_for_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = []
    for rows in (20_000, 300):
        monkeypatch.setattr("pumonitor.monitor.windows.auxiliary.auxiliary._ROWS", rows)
        (tmp_path / "state.db").unlink(missing_ok=True)
        with prepared(write_days(tmp_path)) as jobs:
            auxiliary, series = of_pane(jobs, DAYS - 1)
            tables.append(auxiliary.of_series(series[""]).table)
    every, some = tables
    assert some.n_unlabeled < 300 < every.n_unlabeled
    assert some.n_labeled == every.n_labeled
    assert some.unlabeled.sum() == pytest.approx(every.unlabeled.sum())
    assert some.labeled.sum() == every.labeled.sum()
    assert auc(some) == pytest.approx(auc(every), abs=0.03)


def test_what_cannot_be_read_is_said_and_the_window_goes_on(tmp_path: Path) -> None:
    path = write_days(tmp_path)
    file = tmp_path / "predictions.parquet"
    whole = pd.read_parquet(file)
    whole.drop(columns="hour").to_parquet(file)
    with prepared(path) as jobs:
        auxiliary, series = of_pane(jobs, DAYS - 1)
        said = str(auxiliary.of_series(series[""]).reason)
        assert "it could not be trained: predictions" in said
        assert "has no column 'hour' (feature)" in said
        assert auxiliary.hash is None
    # Once it is there the score is trained; what was said stays said of that window.
    whole.to_parquet(file)
    with jobs_at(path, SETTLED) as jobs:
        look(jobs, DAYS - 2)
        for day, reason in ((DAYS - 2, None), (DAYS - 1, said)):
            auxiliary, series = of_pane(jobs, day)
            assert auxiliary.of_series(series[""]).reason == reason
    # Later a column holds something else.
    whole.assign(amount=whole["amount"].astype(str) + " EUR").to_parquet(file)
    with jobs_at(path, SETTLED) as jobs:
        keys = [one.window_key for one in jobs.ledger.windows("card-fraud")]
        jobs.ledger.reopen(keys, which="all", actor="test")
        while jobs.windows.collect_next(Round(), lambda *_: None):
            pass
        look(jobs, DAYS - 2)
        auxiliary, series = of_pane(jobs, DAYS - 2)
        assert "'amount' held numbers" in str(auxiliary.of_series(series[""]).reason)


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
    assert said.startswith("card-fraud: the class prior goes by the model's score and not by")
    assert f"{last.window.start:%Y-%m-%d %H:%M}" in said
    assert "no column 'hour'" in said


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


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("amount, hour", "amount, hours"), "no column 'hours' (feature); did you mean 'hour'"),
        (("amount, hour", "amount, scored"), "no column 'scored' (feature)"),
        (("threshold: 0.5", "threshold: 0.5\n    class_prior: 0.06"), "none is followed"),
        (("amount, hour", "amount, gone"), "'gone' is missing in all"),
        (("", ""), None),
    ],
)
def test_check_says_which_features_cannot_be_read(
    tmp_path: Path, change: tuple[str, str], said: str | None
) -> None:
    path = write_days(tmp_path, days=2)
    file = tmp_path / "predictions.parquet"
    pd.read_parquet(file).assign(gone=np.nan).to_parquet(file)
    path.write_text(path.read_text().replace(*change))
    monitor = read_configuration(path).configuration.monitors["card-fraud"]
    found = check_monitor(monitor, now=END, mask=str, open_source=open_monitor_source)
    assert found.outcome.failure is None
    about = [one for one in found.warnings if "feature" in one]
    assert len(about) == (said is not None)
    assert said is None or said in about[0]


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
