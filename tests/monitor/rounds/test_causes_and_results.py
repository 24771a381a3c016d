"""A cause has one number for one thing: the AUC of a window is the one that its results show."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.rules.alerts.alert import Transition
from tests.monitor.monitored_shop import FIRST, write_shop

DAY = timedelta(days=1)
BAD = 4
RULES = """\
    rules:
      - {metric: auc, below: 0.85}
      - {metric: labeled_positives, below: 10}
"""


def first_alert(
    folder: Path,
    *,
    shuffled: bool,
    confirmed: int | None = None,
    purity: float = 1.0,
    propensity: float | None = None,
) -> Transition:
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
    settings = f"panes: []\n    class_prior: 0.1\n    label_purity: {purity}"
    text = path.read_text().replace("panes: [0d, 1d]", settings)
    found = pd.read_parquet(folder / "confirmations.parquet")
    if purity < 1:
        rest = rows[~rows["prediction_id"].isin(found["prediction_id"])]
        wrong = rest.sample(round(len(found) * (1 / purity - 1)), random_state=0)
        wrong = wrong.assign(confirmed_at=wrong["scored_at"] + pd.Timedelta(hours=1))
        found = pd.concat([found, wrong[["prediction_id", "confirmed_at"]]])
        found.to_parquet(folder / "confirmations.parquet")
    if propensity is not None:
        found.assign(seen=propensity).to_parquet(folder / "confirmations.parquet")
        text = text.replace(
            "known_at: confirmed_at", "known_at: confirmed_at\n      propensity: seen"
        )
    path.write_text(text + RULES)
    configuration = read_configuration(path).configuration
    now = FIRST + (BAD + 3) * DAY
    with open_jobs(configuration, clock=lambda: now, deliver=False) as jobs:
        assert jobs.run().failures == []
        return next(
            one
            for one in (stored.transition for stored in jobs.ledger.alerts.history())
            if one.kind == "fired" and one.window_start == FIRST + BAD * DAY
        )


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The alert on a day whose scores say nothing."""
    return first_alert(tmp_path_factory.mktemp("plain"), shuffled=True)


def test_the_auc_of_a_cause_is_that_of_the_results(plain):
    alert = plain
    assert (alert.metric, alert.cause["windows"]) == ("auc", 1)
    assert alert.cause["sizes"]["auc"]["now"] == pytest.approx(alert.value, abs=1e-12)
    assert "AUC changed by -0.4" in alert.cause["sentence"]


def test_an_alert_on_few_confirmations_says_that_they_are_too_few(tmp_path):
    alert = first_alert(tmp_path, shuffled=False, confirmed=4)
    assert (alert.metric, alert.cause["kind"]) == ("labeled_positives", "unclear")
    sentence = alert.cause["sentence"]
    assert sentence.startswith("0.1")
    assert "times as many of all rows are confirmed in the alert's window." in sentence


@pytest.mark.slow
def test_the_interval_of_auc_allows_for_labels_that_may_be_mistaken(tmp_path):
    """Three days of reference have a third of a day's variance, and it is in the difference."""
    alert = first_alert(tmp_path, shuffled=True, purity=0.6)
    auc = alert.cause["sizes"]["auc"]
    assert auc["now"] == pytest.approx(alert.value, abs=1e-12)
    assert (auc["high"] - auc["low"]) / (alert.high - alert.low) > np.sqrt(4 / 3)


def test_confirmations_with_propensities_count_as_the_rows_that_they_are(plain, tmp_path):
    weighted = first_alert(tmp_path, shuffled=True, propensity=0.25)
    (alone, with_chance) = (one.cause["sizes"]["auc"] for one in (plain, weighted))
    assert with_chance["high"] - with_chance["low"] == pytest.approx(
        alone["high"] - alone["low"], rel=0.05
    )
