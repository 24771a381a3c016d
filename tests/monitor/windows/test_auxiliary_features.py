"""Features of the auxiliary score: segments, samples, untyped files, and what cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.check_monitor import check_monitor
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.round import Round
from pumonitor.monitor.windows.opening import open_monitor_source
from tests.monitor.windows.auxiliary_days import (
    DAYS,
    END,
    SETTLED,
    auc,
    jobs_at,
    look,
    of_pane,
    stored,
    write_days,
)

pytestmark = pytest.mark.usefixtures("unsearched_labels")


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


@pytest.mark.slow
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
        keys = [
            one.window_key
            for one in jobs.ledger.windows("card-fraud")
            if one.window.start >= END - timedelta(days=3)
        ]
        jobs.ledger.reopen(keys, which="all", actor="test")
        while jobs.windows.collect_next(Round(), lambda *_: None):
            pass
        look(jobs, DAYS - 2)
        auxiliary, series = of_pane(jobs, DAYS - 2)
        assert "'amount' held numbers" in str(auxiliary.of_series(series[""]).reason)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("amount, hour", "amount, hours"), "no column 'hours' (feature); did you mean 'hour'"),
        (("amount, hour", "amount, scored"), "no column 'scored' (feature)"),
        (("threshold: 0.5", "threshold: 0.5\n    class_prior: 0.06"), "it is not followed"),
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
