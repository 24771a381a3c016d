"""Challengers of a monitor with reviews: who is reviewed depends on the deployed score."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_ledger, utc_now
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site

WEEKS, ROWS = 5, 5_000
FIRST = pd.Timestamp("2026-01-05", tz="UTC")
CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions: {source: payments.parquet, id: payment_id, time: paid_at, score: score}
    positives: {source: chargebacks.parquet, id: payment_id, known_at: reported_at}
    reviews:
      source: reviews.parquet
      id: payment_id
      decided_at: decided_at
      verdict: verdict
      blocks: false
    window: 1w
    maturity: 30d
    panes: []
    threshold: 0.5
    challengers:
      models: {better: better_score, alike: alike_score}
      gate: {capacity: 0.02}
"""


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """Five weeks: the highest 2% by the deployed score are reviewed, half of the rest complain."""
    folder, rng = tmp_path_factory.mktemp("team"), np.random.default_rng(7)
    rows = WEEKS * ROWS
    week = np.arange(rows) // ROWS
    is_fraud = rng.random(rows) < 0.03
    noise = rng.normal(size=(3, rows))
    score = noise[0] + 1.9 * is_fraud
    paid = FIRST + pd.to_timedelta(week * 7 * 86_400 + rng.random(rows) * 7 * 86_400, "s")
    payments = pd.DataFrame({"payment_id": np.arange(rows), "paid_at": paid, "score": expit(score)})
    payments["better_score"] = expit(0.6 * noise[0] + 0.8 * noise[1] + 2.9 * is_fraud)
    payments["alike_score"] = expit(0.9 * noise[0] + 0.44 * noise[2] + 1.9 * is_fraud)
    payments.to_parquet(folder / "payments.parquet")
    rank = payments.groupby(week)["score"].rank(ascending=False)
    in_queue = (rank <= 0.02 * ROWS).to_numpy()
    pd.DataFrame(
        {
            "payment_id": np.flatnonzero(in_queue),
            "decided_at": paid[in_queue] + pd.Timedelta(days=1),
            "verdict": is_fraud[in_queue].astype(int),
        }
    ).to_parquet(folder / "reviews.parquet")
    complains = is_fraud & (rng.random(rows) < 0.5)
    pd.DataFrame(
        {
            "payment_id": np.flatnonzero(complains),
            "reported_at": paid[complains] + pd.Timedelta(days=9),
        }
    ).to_parquet(folder / "chargebacks.parquet")
    (folder / "pumonitor.yaml").write_text(CONFIGURATION)
    done = run(folder, "backfill", "card-fraud", "--from", "2026-01-05", "--to", "2026-02-09")
    assert done.exit_code == 0, done.output
    payments["is_fraud"], payments["week"] = is_fraud, week
    return folder, payments


def run(folder, command, *options):
    return CliRunner().invoke(
        app, [command, *options, "--config", str(folder / "pumonitor.yaml")], env={"COLUMNS": "200"}
    )


def true_difference(payments, column):
    """Of recall in the highest 2% of each week."""
    caught = 0
    for _, week in payments.groupby("week"):
        for name, sign in ((column, 1), ("score", -1)):
            top = week[name].rank(ascending=False) <= 0.02 * ROWS
            caught += sign * (top & week["is_fraud"]).sum()
    return caught / payments["is_fraud"].sum()


def test_a_better_challenger_is_told_from_one_alike(team):
    folder, payments = team
    answered = run(folder, "challenge", "card-fraud", "--json")
    told = {one["challenger"]: one for one in json.loads(answered.stdout)["challengers"]}

    assert told["better"]["verdict"] == "better"
    assert told["alike"]["verdict"] == "not yet"
    assert "positives known by reviews and complaints" in told["alike"]["reason"]
    for name, column in (("better", "better_score"), ("alike", "alike_score")):
        recall = told[name]["conditions"][0]
        assert recall["metric"] == "recall"
        assert recall["low"] <= true_difference(payments, column) <= recall["high"]
        assert len(told[name]["windows"]) == WEEKS
        assert told[name]["chosen_by"] is None


def test_the_page_of_challengers_shows_them(team):
    folder, _ = team
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    with open_ledger(configuration) as ledger:
        site = Site(monitors=configuration.monitors, ledger=ledger, clock=utc_now)
        client = make_app(site, is_host=lambda _: True).test_client()
        page = client.get("/monitors/card-fraud/challengers")
        assert page.status_code == 200
        assert "positives known by reviews and complaints" in page.text


def test_no_audit_between_models_beside_reviews(team):
    folder, _ = team
    drawn = run(
        folder,
        "audit",
        "draw",
        "card-fraud",
        "--between",
        "champion",
        "better",
        "--windows",
        "2026-01",
        "--out",
        str(folder / "cases.csv"),
    )

    assert drawn.exit_code == 2
    assert "challengers are judged without an audit" in " ".join(drawn.output.split())
