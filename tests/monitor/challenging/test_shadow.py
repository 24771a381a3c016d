"""Challengers score mature windows in rounds, beside the deployed model and behind all else."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.gate import PairedLabels
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.challenging.challengers import ColumnChallenger
from pumonitor.monitor.challenging.seen import judged_windows, series_of
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.database.schema import challenger_windows
from tests.monitor.challenging.challenged_shop import DAYS, FIRST, SETTLED, write_challenged_shop

V7 = ColumnChallenger(name="v7", column="score_v7")


def _round(path: Path, **how):
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False, **how) as jobs:
        done = jobs.run()
        monitor = configuration.monitors["shop"]
        series = series_of(monitor, V7)
        windows = jobs.ledger.challengers.windows(series)
        return done, windows, judged_windows(jobs.ledger, monitor, series)


def _expected(folder: Path, day: int, **how) -> PairedLabels:
    rows = pd.read_parquet(folder / "predictions.parquet").sort_values("id")
    start = pd.Timestamp(FIRST + timedelta(days=day))
    here = rows[(rows.t >= start) & (rows.t < start + timedelta(days=1))]
    labels = here.id.isin(pd.read_parquet(folder / "positives.parquet").id).astype(int)
    return PairedLabels.of_window(
        labels.to_numpy(), here.score.to_numpy(), here.score_v7.to_numpy(), capacity=0.05, **how
    )


def test_each_mature_window_leaves_what_its_rows_say(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path, more="gate: {capacity: 5%}")

    done, windows, seen = _round(path)

    assert done.failures == []
    assert [one.labels for one in windows if one.labels] == [
        _expected(tmp_path, day).positives for day in range(DAYS)
    ]
    for day in range(DAYS):
        start, found = seen[day]
        expected = _expected(tmp_path, day)
        assert start == FIRST + timedelta(days=day)
        assert sorted(found.recall) == sorted(expected.recall)
        assert sorted(found.aul) == sorted(expected.aul)
        assert found.rows == expected.rows


def test_orders_of_one_customer_count_once(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path, more="entity: customer")
    _, _, seen = _round(path)
    _, first = seen[0]
    assert len(first.recall) < first.positives
    assert first.positives == _expected(tmp_path, 0).positives


def test_labels_count_by_their_propensities_and_the_least_one(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path, more="gate: {least_propensity: 0.1}")
    path.write_text(path.read_text().replace("known_at: known", "known_at: known, propensity: p"))
    labels = pd.read_parquet(tmp_path / "positives.parquet")
    labels.assign(p=0.5).to_parquet(tmp_path / "positives.parquet")
    _, _, seen = _round(path)
    assert {tuple(set(one.weights)) for _, one in seen if one.positives} == {(2.0,)}
    assert {one.largest_weight for _, one in seen} == {10.0}

    labels.assign(p=0.05).to_parquet(tmp_path / "positives.parquet")
    (tmp_path / "state.db").unlink()
    done, _, seen = _round(path)
    assert not any(one.positives for _, one in seen)
    assert "have a propensity below least_propensity 0.1, the least 0.05" in done.failures[0]


def test_a_second_round_scores_nothing_again(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path)
    _, before, _ = _round(path)
    _, after, _ = _round(path)
    assert [one.attempts for one in after] == [one.attempts for one in before] == [1] * len(after)


def test_a_challenger_that_cannot_score_delays_nobody_else(tmp_path: Path) -> None:
    """Nor itself for ever: it is tried again once the time has come."""
    path = write_challenged_shop(tmp_path, models="{v7: score_v7, gone: score_v9}")

    done, windows, _ = _round(path)

    assert done.evaluated > DAYS
    assert [one.found is not None for one in windows] == [True] * len(windows)
    assert "challenger gone, window of 2026-01-01 00:00 UTC" in done.failures[0]
    assert "score_v9" in done.failures[0]
    again, _, _ = _round(path)
    assert again.failures == []  # its next attempt is not due yet

    rows = pd.read_parquet(tmp_path / "predictions.parquet")
    rows.assign(score_v9=rows.score_v7).to_parquet(tmp_path / "predictions.parquet")
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        with jobs.ledger.database.writing() as connection:
            connection.execute(update(challenger_windows).values(due_at=None))
        assert jobs.run().failures == []
        gone = ColumnChallenger(name="gone", column="score_v9")
        series = series_of(configuration.monitors["shop"], gone)
        later = jobs.ledger.challengers.windows(series)
    assert [one.attempts for one in later] == [2] * len(later)
    assert all(one.found is not None for one in later)


def test_challenge_says_first_what_could_not_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It read as if no window were mature."""
    monkeypatch.chdir(tmp_path)
    _round(write_challenged_shop(tmp_path, models="{gone: score_v9}"))
    done = CliRunner().invoke(app, ["challenge", "shop"])
    assert done.exit_code == 3, done.output
    said = [line for line in done.stdout.splitlines() if line.strip()]
    assert said[0].startswith("challenger gone, window of 2026-01-01 00:00 UTC: ")
    assert "score_v9" in said[0]
    assert "no window is mature" not in done.stdout
    assert "it could not score 8 mature windows" in " ".join(done.stdout.split())


def test_what_nobody_expected_delays_its_challenger_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_challenged_shop(tmp_path, models="{odd: score_v7, v7: score_v7}")
    expected = ColumnChallenger.scores

    def _odd(self: ColumnChallenger, features):
        if self.name == "odd":
            raise ZeroDivisionError("kaputt")
        return expected(self, features)

    monkeypatch.setattr(ColumnChallenger, "scores", _odd)

    done, windows, _ = _round(path)

    assert all(one.found is not None for one in windows)
    assert len(done.failures) >= DAYS
    assert all("challenger odd" in one and "kaputt" in one for one in done.failures)
    configuration = read_configuration(path).configuration
    odd = ColumnChallenger(name="odd", column="score_v7")
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        kept = jobs.ledger.challengers.windows(series_of(configuration.monitors["shop"], odd))
    assert {one.error for one in kept if one.found is None} == {"ZeroDivisionError: kaputt"}


def test_two_workers_do_not_score_the_same_window(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path)
    configuration = read_configuration(path).configuration
    series = series_of(configuration.monitors["shop"], V7)
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        stored = jobs.ledger.challengers
        when = {"start": FIRST, "end": FIRST + timedelta(days=1), "as_of": SETTLED}
        assert stored.begin(series, **when)
        assert not stored.begin(series, **when)  # another worker is at it
        assert stored.done(series, FIRST, labels=3, found=b"one", differences={})
        assert not stored.done(series, FIRST, labels=4, found=b"two", differences={})
        assert not stored.begin(series, **when)
        assert stored.windows(series)[0].found == b"one"


def test_another_capacity_is_another_series(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path, more="gate: {capacity: 5%}")
    _round(path)
    path.write_text(path.read_text().replace("5%", "20%"))
    _, windows, seen = _round(path)
    assert len(windows) == len(seen) > DAYS - 1
    assert sorted(seen[0][1].aul) == sorted(_expected(tmp_path, 0).aul)
    assert sorted(seen[0][1].recall) != sorted(_expected(tmp_path, 0).recall)


def test_check_and_doctor_name_a_challenger_that_cannot_score(tmp_path: Path) -> None:
    path = write_challenged_shop(tmp_path, models="{gone: score_v8}", more="entity: custommer")
    _round(path)
    checked = CliRunner().invoke(app, ["check", "--config", str(path)])
    said = " ".join(checked.output.split())
    assert "challenger gone names the column 'score_v8'" in said
    assert "did you mean 'score_v7'?" in said
    assert "challengers: entity names the column 'custommer'" in said
    told = " ".join(CliRunner().invoke(app, ["doctor", "--config", str(path)]).output.split())
    assert "challenger gone has not scored 8 windows" in told
    assert "pumonitor challenge shop" in told


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_scores_are_named_with_their_number(tmp_path: Path, value: float) -> None:
    path = write_challenged_shop(tmp_path)
    rows = pd.read_parquet(tmp_path / "predictions.parquet")
    rows.loc[rows.index[:3], "score_v7"] = value
    rows.to_parquet(tmp_path / "predictions.parquet")
    done, _, seen = _round(path)
    assert len(done.failures) == 1
    assert "is missing or not finite in 3 of " in done.failures[0]
    assert len(seen) >= DAYS - 1


def test_secrets_of_failures_are_hidden_in_the_ledger(tmp_path: Path) -> None:
    destination = "destinations: {team: {webhook: https://host/kanarienvogel}}\n"
    path = write_challenged_shop(tmp_path, tracking=destination)
    configuration = read_configuration(path).configuration
    series = series_of(configuration.monitors["shop"], V7)
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        stored = jobs.ledger.challengers
        stored.begin(series, start=FIRST, end=SETTLED, as_of=SETTLED)
        stored.failed(series, FIRST, "cannot reach kanarienvogel/predictions")
        (window,) = stored.windows(series)
    assert window.error is not None
    assert "kanarienvogel" not in window.error
