"""Rounds of work on real files and a real ledger."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.monitored_shop import DAYS, FIRST, SETTLED, recorded, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

WINDOWS = DAYS + 1
"""One without predictions says that they have stopped."""


def jobs_of(path, *, now):
    return open_jobs(read_configuration(path).configuration, clock=lambda: now, deliver=False)


@pytest.fixture(scope="module")
def backfilled(tmp_path_factory):
    """Everything at once, long after."""
    path = write_shop(tmp_path_factory.mktemp("backfilled"))
    with jobs_of(path, now=SETTLED) as jobs:
        done = jobs.run()
        assert done.failures == []
        return path, recorded(jobs.ledger), done


def test_backfill_records_what_a_daily_run_would_have_recorded(backfilled, tmp_path):
    _, at_once, done = backfilled
    assert (done.planned, done.collected, done.evaluated) == (WINDOWS, WINDOWS, WINDOWS)
    path = write_shop(tmp_path)
    day = FIRST
    while day <= SETTLED:
        with jobs_of(path, now=day) as jobs:
            assert jobs.run().failures == []
            daily = recorded(jobs.ledger)
        day += timedelta(days=1)
    assert len(daily) > 4 * DAYS * 40
    assert daily == at_once


def test_seen_as_of_a_past_moment_it_is_what_was_recorded_then(backfilled, tmp_path):
    _, at_once, _ = backfilled
    moment = FIRST + timedelta(days=3)
    path = write_shop(tmp_path)
    with jobs_of(path, now=moment) as jobs:
        assert jobs.run().failures == []
        then = recorded(jobs.ledger)
    known_by_then = [row for row in at_once if row[7] <= moment]
    assert then == known_by_then


def test_labels_that_came_after_a_moment_change_nothing_before_it(backfilled, tmp_path):
    """Confirmations of the last days are taken away: panes as of earlier moments stay the same."""
    _, at_once, _ = backfilled
    moment = FIRST + timedelta(days=3)
    path = write_shop(tmp_path)
    labels = pd.read_parquet(tmp_path / "confirmations.parquet")
    labels[labels["confirmed_at"] <= moment].to_parquet(tmp_path / "confirmations.parquet")
    with jobs_of(path, now=SETTLED) as jobs:
        jobs.run()
        without = [row for row in recorded(jobs.ledger) if row[7] <= moment]
    assert without == [row for row in at_once if row[7] <= moment]


def test_estimates_stay_level_while_the_naive_one_climbs_with_the_labels(backfilled):
    path, _, _ = backfilled
    with jobs_of(path, now=SETTLED) as jobs:
        rows = jobs.ledger.results("card-fraud", segment="", revisions="all")
    by_pane = pd.DataFrame(
        [(row.window_start, row.revision, row.metric, row.value) for row in rows],
        columns=["start", "revision", "metric", "value"],
    )
    mean = by_pane.groupby(["metric", "revision"])["value"].mean()
    # A fraction of the confirmations is there when a day ends; recall needs no more than a sample.
    assert mean["labeled_positives", 0] < 0.5 * mean["labeled_positives", 3]
    assert mean["f1_pu", 0] < 0.65 * mean["f1_pu", 3]
    assert mean["recall", 0] == pytest.approx(mean["recall", 3], abs=0.08)


def test_what_a_provisional_window_is_expected_to_become_holds(backfilled):
    path, _, _ = backfilled
    with jobs_of(path, now=SETTLED) as jobs:
        rows = jobs.ledger.results("card-fraud", segment="", revisions="all")
    known = {(row.window_start, row.revision, row.metric): row for row in rows}
    held = told = 0
    for (start, revision, metric), row in known.items():
        if revision == 1 and metric in {"f1_pu_expected", "recall_expected"} and row.value:
            later = known[start, 2, metric.removesuffix("_expected")]
            told += 1
            held += row.low <= later.value <= row.high
    assert told >= DAYS
    assert held >= 0.85 * told


def test_the_share_of_labels_that_have_arrived_is_that_of_the_delays(backfilled):
    """Exponential, a day on average, in windows of a day: what counts is known after two more."""
    path, _, _ = backfilled
    with jobs_of(path, now=SETTLED) as jobs:
        rows = jobs.ledger.results(
            "card-fraud", segment="", metrics=["label_maturity"], revisions="all"
        )
    told = [row for row in rows if row.revision < 2 and row.value is not None]
    assert len(told) > DAYS
    by_age = {0: np.exp(-1), 1: 1 - np.exp(-1) * (1 - np.exp(-1))}
    in_the_end = 1 - np.exp(-2) * (1 - np.exp(-1))
    held = sum(row.low <= by_age[row.revision] / in_the_end <= row.high for row in told)
    assert held >= len(told) - 1


def test_segments_add_up_to_the_whole(tmp_path):
    path = write_shop(tmp_path, days=2, with_segments=True, class_prior=0.1)
    with jobs_of(path, now=FIRST + timedelta(days=2)) as jobs:
        assert jobs.run().failures == []
        rows = jobs.ledger.results("card-fraud", metrics=["predictions"])
    by_window = {}
    for row in rows:
        by_window.setdefault(row.window_start, {})[row.segment] = row.value
    assert len(by_window) == 2
    for counts in by_window.values():
        assert counts[""] == counts["country=DE"] + counts["country=FR"] > 500


def test_a_window_that_cannot_be_read_stops_no_other(tmp_path):
    path = write_shop(tmp_path, days=4)
    rows = pd.read_parquet(tmp_path / "predictions.parquet")
    third_day = rows["scored_at"].dt.day == 3
    rows.loc[rows.index[third_day][0], "score"] = float("nan")
    rows.to_parquet(tmp_path / "predictions.parquet")
    with jobs_of(path, now=FIRST + timedelta(days=4)) as jobs:
        done = jobs.run()
        assert len(done.failures) == 1
        assert "score" in done.failures[0]
        assert "2026-01-03" in done.failures[0]
        windows = {one.window.start.day: one for one in jobs.ledger.windows("card-fraud")}
    assert windows[3].attempts == 1
    assert windows[3].last_error in done.failures[0]
    # The next window is collected, and waits for what this one says of the class prior.
    assert [pane.status for pane in windows[4].panes][:1] == ["collected"]
    assert [pane.status for pane in windows[2].panes][:2] == ["evaluated"] * 2


def test_nothing_is_done_twice(backfilled):
    path, at_once, _ = backfilled
    with jobs_of(path, now=SETTLED) as jobs:
        again = jobs.run()
        assert (again.collected, again.evaluated) == (0, 0)
        assert recorded(jobs.ledger) == at_once


def test_reprocessing_equal_data_gives_no_new_revision(backfilled):
    path, at_once, _ = backfilled
    with jobs_of(path, now=SETTLED) as jobs:
        keys = [one.window_key for one in jobs.ledger.windows("card-fraud")]
        assert jobs.ledger.reopen(keys, which="all", actor="test") == WINDOWS
        done = jobs.run()
        assert (done.collected, done.failures) == (WINDOWS, [])
        assert recorded(jobs.ledger) == at_once
