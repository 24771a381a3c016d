"""A strong model with few labels: a rule on AUL fires on a broken day, and resolves after it."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

DAY = timedelta(days=1)
DAYS, ROWS, POSITIVES, CONFIRMED = 6, 2000, 20, 8
BROKEN = 3
SEED = 6
RULE = "    rules:\n      - {metric: aul, below: 0.75, severity: critical, name: ranking}\n"


def write_rare_fraud(folder):
    """A hundredth of the rows is fraud, all in the top 1.5% by score; 8 a day are confirmed."""
    path = write_shop(folder, days=DAYS, maturity=DAY, panes="[]", class_prior=0.01)
    rng = np.random.default_rng(SEED)
    scores, confirmed = [], []
    for day in range(DAYS):
        ranks = rng.permutation(ROWS)
        fraud = rng.choice(np.flatnonzero(ranks >= 0.985 * ROWS), POSITIVES, replace=False)
        if day == BROKEN:
            ranks = rng.permutation(ranks)
        scores.append(ranks / ROWS)
        confirmed.append(day * ROWS + fraud[:CONFIRMED])
    ids = np.arange(DAYS * ROWS)
    days = pd.to_timedelta(np.repeat(np.arange(DAYS), ROWS) + 0.5, unit="D")
    pd.DataFrame(
        {"prediction_id": ids, "scored_at": FIRST + days, "score": np.concatenate(scores)}
    ).to_parquet(folder / "predictions.parquet")
    labeled = np.concatenate(confirmed)
    pd.DataFrame(
        {"prediction_id": labeled, "confirmed_at": FIRST + days[labeled] + timedelta(hours=1)}
    ).to_parquet(folder / "confirmations.parquet")
    path.write_text(path.read_text() + RULE)
    return path


def test_a_rule_on_aul_fires_on_a_broken_day_and_resolves_on_the_next(tmp_path):
    path = write_rare_fraud(tmp_path)
    now = FIRST + (DAYS + 2) * DAY
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: now, deliver=False) as jobs:
        assert jobs.run().failures == []
        events = [
            (one.transition.kind, one.transition.window_start)
            for one in jobs.ledger.alerts.history()
            if one.transition.rule == "ranking"
        ]
        lows = {
            row.window_start: row.low
            for row in jobs.ledger.results("card-fraud")
            if row.metric == "aul"
        }
    assert events == [
        ("fired", FIRST + BROKEN * DAY),
        ("resolved", FIRST + (BROKEN + 1) * DAY),
    ]
    good = [low for day, low in lows.items() if day != FIRST + BROKEN * DAY and low is not None]
    # An unseen share 1 - .025^(1/8) = .37 at random alone would give .81.
    assert len(good) == DAYS - 1
    assert min(good) > 0.9
