"""From confirmations that come twice as late to the alert about them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration

pytestmark = pytest.mark.usefixtures("unsearched_labels")

FIRST = datetime(2025, 12, 29, tzinfo=UTC)
DAY = timedelta(days=1)
MATURITY, CHANGE, DAYS = 9, 42, 49
CONFIGURATION = f"""\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions: {{source: predictions.parquet, id: id, time: scored_at, score: score}}
    positives: {{source: confirmations.parquet, id: id, known_at: confirmed_at}}
    window: 1w
    maturity: {MATURITY}d
    panes: []
    threshold: 0.5
    class_prior: 0.5
    rules:
      - {{health: label_delay, change: 50%}}
      - {{health: label_delay, shift: up}}
      - {{health: label_delay, shift: down}}
"""


def write_late_confirmations(folder, *, times):
    """60 predictions a day, half of them positive, 28 confirmed within the maturity or fewer."""
    rng = np.random.default_rng(2)
    rows = 60 * DAYS
    scored_at = FIRST + pd.to_timedelta(np.sort(rng.uniform(0, DAYS * 86_400, rows)), unit="s")
    positive = rng.random(rows) < 0.5
    frame = pd.DataFrame({"id": np.arange(rows), "scored_at": scored_at})
    frame["score"] = 1 / (1 + np.exp(-rng.normal(2 * positive - 1)))
    frame.to_parquet(folder / "predictions.parquet")
    later = np.where(scored_at >= pd.Timestamp(FIRST + CHANGE * DAY), times, 1.0)
    known = scored_at + pd.to_timedelta(rng.exponential(3 * later), unit="D")
    pd.DataFrame({"id": frame["id"], "confirmed_at": known})[positive].to_parquet(
        folder / "confirmations.parquet"
    )
    (folder / "pumonitor.yaml").write_text(CONFIGURATION)
    return folder / "pumonitor.yaml"


def history(path, *, until):
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: until, deliver=False) as jobs:
        assert jobs.run().failures == []
        return tuple(one.transition for one in jobs.ledger.alerts.history())


@pytest.mark.slow
def test_confirmations_twice_as_late_are_told_within_twice_the_maturity(tmp_path):
    path = write_late_confirmations(tmp_path, times=2.0)
    assert history(path, until=FIRST + (CHANGE + MATURITY) * DAY) == ()
    fired = history(path, until=FIRST + (CHANGE + 2 * MATURITY) * DAY)
    assert {(one.rule, one.kind) for one in fired} == {
        ("health label delay shift up", "fired"),
        ("health label delay change 50%", "fired"),
    }
    for one in fired:
        assert one.window_start == FIRST + CHANGE * DAY
        assert one.sentence.startswith("2026-02-09 to 2026-02-16: label delay: labels take 3")
        assert " of the maturity on average, and 28% was usual: they take " in one.sentence
        assert one.sentence.endswith(" as long since about 2026-02-09.")
