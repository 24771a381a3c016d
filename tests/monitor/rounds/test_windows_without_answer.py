"""Windows that nothing can be estimated from are evaluated, with counts and reasons."""

import math
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration

pytestmark = pytest.mark.usefixtures("unsearched_labels")

START = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)
ROWS = 200
CONFIGURATION = """\
state: sqlite:///{state}
monitors:
  fraud:
    predictions: {{source: predictions.parquet, id: id, time: made, score: score}}
    positives: {{source: known.parquet, id: id, known_at: known, label: label}}
    window: 1d
    maturity: 1d
    panes: []
    threshold: 0.5
    class_prior: {class_prior}
"""


def day(number, *, confirmed, rows=ROWS, label=1, score=None):
    """Predictions of a day and what became known of them a few hours later."""
    rng = np.random.default_rng(number)
    positive = rng.random(rows) < 0.3
    made = START + number * DAY + pd.to_timedelta(np.arange(rows), unit="min")
    predictions = pd.DataFrame(
        {
            "id": 1000 * number + np.arange(rows),
            "made": made,
            "score": score or 1 / (1 + np.exp(-rng.normal(2 * positive - 1))),
        }
    )
    labels = predictions.loc[np.argsort(~positive, kind="stable")[:confirmed], ["id", "made"]]
    labels = labels.rename(columns={"made": "known"}).assign(label=label)
    labels["known"] += timedelta(hours=3)
    return predictions, labels


def results_of(folder, *days, class_prior="auto"):
    """Value and reason by day and metric, of all windows there are."""
    predictions, labels = zip(*days, strict=True)
    pd.concat(predictions).to_parquet(folder / "predictions.parquet")
    pd.concat(labels).to_parquet(folder / "known.parquet")
    path = folder / "pumonitor.yaml"
    path.write_text(CONFIGURATION.format(class_prior=class_prior, state=folder / "state.db"))
    now = START + (len(days) + 1) * DAY
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: now, deliver=False) as jobs:
        done = jobs.run()
    assert done.failures == []
    assert done.evaluated == len(days)
    with closing(sqlite3.connect(folder / "state.db")) as ledger:
        rows = ledger.execute(
            "SELECT window_index, metric, value, low, high, undefined_reason FROM results "
            "JOIN windows ON windows.window_key = results.window_key"
        ).fetchall()
    first = min(row[0] for row in rows)
    # Every number is finite, and what is none says why.
    for _, metric, *numbers, reason in rows:
        assert all(number is None or math.isfinite(number) for number in numbers), metric
        assert (numbers[0] is None) == (reason is not None), metric
    return {(row[0] - first, row[1]): (row[2], row[5]) for row in rows}


@pytest.fixture(scope="module")
def week(tmp_path_factory):
    return results_of(
        tmp_path_factory.mktemp("week"),
        day(0, confirmed=30),
        day(1, confirmed=ROWS),
        day(2, confirmed=0),
        day(3, confirmed=1),
        day(4, confirmed=1, rows=1),
        day(5, confirmed=40, label=-1),
        day(6, confirmed=30),
    )


@pytest.mark.parametrize(
    ("number", "predictions", "positives", "reason"),
    [
        (1, ROWS, ROWS, "all 200 rows are confirmed: no row is unlabeled (label 0)"),
        (2, ROWS, 0, "too few positives: none of 200 rows is a confirmed positive (label 1)"),
        (3, ROWS, 1, "too few positives: only 1 of 200 rows is a confirmed positive"),
        (4, 1, 1, "too few positives: only 1 of 1 rows is a confirmed positive"),
        (5, ROWS, 0, "too few positives: none of 160 rows is a confirmed positive (label 1)"),
    ],
)
def test_counts_are_reported_and_estimates_have_a_reason(
    week, number, predictions, positives, reason
):
    assert week[number, "predictions"] == (predictions, None)
    assert week[number, "labeled_positives"] == (positives, None)
    for metric in ("class_prior", "aul", "auc", "precision", "f1"):
        value, why = week[number, metric]
        assert value is None
        assert why.startswith(reason)


@pytest.mark.parametrize("number", [0, 6])
def test_other_windows_are_as_ever(week, number):
    for metric in ("class_prior", "aul", "auc", "precision", "f1"):
        value, _ = week[number, metric]
        assert 0 < value < 1


def test_a_constant_score_ranks_nothing_in_its_window_alone(tmp_path):
    found = results_of(
        tmp_path, day(0, confirmed=30), day(1, confirmed=30, score=0.3), class_prior=0.3
    )
    assert found[1, "predictions"] == (ROWS, None)
    for metric in ("aul", "auc", "f1"):
        value, why = found[1, metric]
        assert value is None
        assert why.startswith("scores are all equal to 0.3: a constant score ranks nothing")
        assert 0 < found[0, metric][0] < 1


def test_a_window_in_which_nothing_was_predicted_has_no_results_and_no_failure(tmp_path):
    found = results_of(
        tmp_path,
        day(0, confirmed=30),
        day(1, confirmed=0, rows=0),
        day(2, confirmed=30),
        class_prior=0.3,
    )
    assert {number for number, _ in found} == {0, 2}
