"""A cause has one number for one thing: the AUC of a window is the one that its results show."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pumonitor.service.app import open_jobs
from pumonitor.service.config_file import read_configuration
from pumonitor.store.alert_records import StoredTransition
from tests.service.monitored_shop import FIRST, write_shop

DAY = timedelta(days=1)
BAD = 4
RULES = """\
    rules:
      - {metric: auc, below: 0.85}
      - {metric: labeled_positives, below: 10}
"""


def first_alert(folder: Path, *, shuffled: bool, confirmed: int | None = None) -> StoredTransition:
    """On the fifth day scores say nothing, or so few confirmations are there at all."""
    path = write_shop(folder, state="sqlite:///state.db", days=BAD + 1, maturity=DAY)
    rows = pd.read_parquet(folder / "predictions.parquet")
    rng = np.random.default_rng(3)
    own = (rows["scored_at"] - FIRST).dt.days == BAD
    if shuffled:
        rows.loc[own, "score"] = rng.permutation(rows.loc[own, "score"])
        rows.to_parquet(folder / "predictions.parquet")
    if confirmed is not None:
        found = pd.read_parquet(folder / "confirmations.parquet")
        late = found["prediction_id"].isin(rows.loc[own, "prediction_id"])
        kept = pd.concat([found[~late], found[late].sort_values("confirmed_at")[:confirmed]])
        kept.to_parquet(folder / "confirmations.parquet")
    text = path.read_text().replace("panes: [0d, 1d]", "panes: []\n    class_prior: 0.1")
    path.write_text(text + RULES)
    configuration = read_configuration(path).configuration
    now = FIRST + (BAD + 3) * DAY
    with open_jobs(configuration, clock=lambda: now, deliver=False) as jobs:
        assert jobs.run().failures == []
        return next(
            one
            for one in jobs.ledger.alerts.history()
            if one.kind == "fired" and one.window_start == FIRST + BAD * DAY
        )


def test_the_auc_of_a_cause_is_that_of_the_results(tmp_path):
    alert = first_alert(tmp_path, shuffled=True)
    assert (alert.metric, alert.cause["windows"]) == ("auc", 1)
    assert alert.cause["sizes"]["auc"]["now"] == pytest.approx(alert.value, abs=1e-12)
    assert "(AUC -0.4" in alert.cause["sentence"]


def test_an_alert_on_few_confirmations_says_that_they_are_too_few(tmp_path):
    alert = first_alert(tmp_path, shuffled=False, confirmed=4)
    assert (alert.metric, alert.cause["kind"]) == ("labeled_positives", "unclear")
    sentence = alert.cause["sentence"]
    assert sentence.startswith("Too few confirmations to tell why: 4 in this window; about ")
    assert "Known: 0.1" in sentence
    assert "as many of all rows are confirmed as in the reference" in sentence
