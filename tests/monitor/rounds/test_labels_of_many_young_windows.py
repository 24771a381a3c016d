"""Labels of a monitor with more young windows than the page of labels lists."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_ledger, utc_now
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from tests.monitor.rounds.retried import run_again

START = pd.Timestamp("2026-01-05", tz="UTC")
WINDOWS, YOUNG, ROWS = 68, 64, 200
CONFIGURATION = f"""\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions: {{source: payments.parquet, id: id, time: at, score: score}}
    positives: {{source: chargebacks.parquet, id: id, known_at: known}}
    window: 1h
    maturity: {YOUNG}h
    panes: [0h]
    threshold: 0.5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Hours of payments, of which the four oldest are mature."""
    folder, rng = tmp_path_factory.mktemp("young"), np.random.default_rng(5)
    number = np.arange(WINDOWS * ROWS)
    is_fraud = rng.random(len(number)) < 0.2
    rows = pd.DataFrame({"id": number, "at": START + pd.to_timedelta(3600 / ROWS * number, "s")})
    rows["score"] = 1 / (1 + np.exp(2 - rng.normal(2 * is_fraud)))
    rows.to_parquet(folder / "payments.parquet")
    known = rows.loc[is_fraud, ["id"]].assign(known=rows["at"] + pd.Timedelta(hours=30))
    known.to_parquet(folder / "chargebacks.parquet")
    (folder / "pumonitor.yaml").write_text(CONFIGURATION)
    now = START + pd.Timedelta(hours=WINDOWS, minutes=1)
    done, _, _ = run_again(folder / "pumonitor.yaml", now.to_pydatetime())
    assert done.failures == []
    return folder


def test_the_newest_mature_window_has_its_labels(folder):
    done = CliRunner().invoke(
        app, ["insights", "--json", "--config", str(folder / "pumonitor.yaml")]
    )
    (insight,) = json.loads(done.stdout)
    labels = insight["labels"]
    newest = START + pd.Timedelta(hours=WINDOWS - YOUNG - 1)
    assert pd.Timestamp(labels["window_start"]) == newest
    assert labels["predictions"] == ROWS
    assert labels["known_positives"] > 20
    at_end, mature = labels["arrivals"]
    assert (at_end["complaints"]["value"], mature["complaints"]["value"]) == (0, 1)
    assert len(labels["windows"]) == 60


def test_the_page_of_labels_says_how_they_arrive(folder):
    configuration = read_configuration(folder / "pumonitor.yaml").configuration
    with open_ledger(configuration) as ledger:
        site = Site(monitors=configuration.monitors, ledger=ledger, clock=utc_now)
        client = make_app(site, is_host=lambda _: True).test_client()
        page = client.get("/monitors/card-fraud/labels").text
    assert f"predictions: <b>{ROWS}</b>" in page
    assert "No window has reached the maturity" not in page
