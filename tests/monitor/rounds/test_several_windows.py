"""A round claims the windows that are due and counts them together."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.sources.windows.counts_source import CountedSource
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAYS = 6
NOW = FIRST + timedelta(days=DAYS)


@pytest.fixture
def asked(monkeypatch):
    """The days that were asked for together, request by request."""
    seen = []
    counts_of_many = CountedSource.counts_of_many

    def noted(self, requests):
        seen.append([one.window.start.day for one in requests])
        return counts_of_many(self, requests)

    monkeypatch.setattr(CountedSource, "counts_of_many", noted)
    return seen


def jobs_of(path, **options):
    configuration = read_configuration(path).configuration
    return open_jobs(configuration, clock=lambda: NOW, deliver=False, **options)


def spoil(folder, day):
    rows = pd.read_parquet(folder / "predictions.parquet")
    rows.loc[rows.index[rows["scored_at"].dt.day == day][0], "score"] = float("nan")
    rows.to_parquet(folder / "predictions.parquet")


def test_windows_that_are_due_are_counted_together(tmp_path, asked):
    path = write_shop(tmp_path, days=DAYS)
    with jobs_of(path) as jobs:
        done = jobs.run()
    assert done.collected == DAYS
    assert asked == [[1, 2, 3, 4, 5, 6]]


def test_a_window_with_bad_rows_is_told_by_name_and_the_others_are_collected(tmp_path, asked):
    path = write_shop(tmp_path, days=DAYS)
    spoil(tmp_path, 3)
    with jobs_of(path) as jobs:
        done = jobs.run()
        attempts = {one.window.start.day: one.attempts for one in jobs.ledger.windows("card-fraud")}
    assert done.collected == DAYS - 1
    assert len(done.failures) == 1
    assert "2026-01-03" in done.failures[0]
    assert attempts == {1: 0, 2: 0, 3: 1, 4: 0, 5: 0, 6: 0}
    assert asked == [[1, 2, 3, 4, 5, 6]]


def test_a_window_that_failed_is_counted_by_itself(tmp_path, asked):
    """It may have killed its worker, and would take others along."""
    path = write_shop(tmp_path, days=DAYS)
    with jobs_of(path) as jobs:
        jobs.plan("card-fraud")
        claim = jobs.ledger.claim_collect("other", now=NOW)
        jobs.ledger.release(claim, error="killed", fault_of="window", retry_after=timedelta())
        jobs.run()
    assert asked == [[1], [2, 3, 4, 5, 6]]


def test_a_worker_that_is_stopped_gives_back_what_it_has_not_collected(tmp_path):
    path = write_shop(tmp_path, days=DAYS)
    stored = []

    def stop_after_two(step):
        stored.append(step)
        if stored.count("collected and stored") == 2:
            jobs.stop()

    with jobs_of(path, on_step=stop_after_two) as jobs:
        done = jobs.run()
        assert done.collected == 2
        assert not done.failures
        days = []
        while (claim := jobs.ledger.claim_collect("other", now=NOW)) is not None:
            days.append(claim.window.start.day)
            assert claim.attempts == 0
    assert days == [3, 4, 5, 6]
