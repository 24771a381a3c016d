"""A wrong join, from the table to the message: alert, insights, page and API say one cause."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.alerts_shown import alert_views
from pumonitor.monitor.inspection.insights import insight_of

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
DAYS, BROKEN, ROWS = 12, 11, 3_000
NOW = FIRST + (DAYS + 3) * DAY
CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  fraud:
    predictions: {source: rows.parquet, id: id, time: scored_at, score: score}
    positives: {source: labels.parquet, id: id, known_at: known_at}
    window: 1d
    maturity: 1d
    panes: []
    threshold: 0.5
    label_purity: 1.0
    class_prior: {value: 0.02, low: 0.016, high: 0.025, of: {start: 2026-01-01, end: 2026-01-11}}
    rules:
      - {metric: auc, below: 0.8, severity: critical}
"""


def write_fraud(folder: Path) -> Path:
    """AUC .945; on the last day 70% of the scores belong to other rows."""
    rng = np.random.default_rng(5)
    number = DAYS * ROWS
    day = np.repeat(np.arange(DAYS), ROWS)
    positive = rng.random(number) < 0.02
    score = rng.normal(2.26 * positive)
    for broken in range(BROKEN, DAYS):
        chosen = np.flatnonzero((day == broken) & (rng.random(number) < 0.7))
        score[chosen] = score[rng.permutation(chosen)]
    scored_at = FIRST + pd.to_timedelta(86_400 * (day + np.tile(np.arange(ROWS) / ROWS, DAYS)), "s")
    rows = pd.DataFrame(
        {"id": np.arange(number), "scored_at": scored_at, "score": 1 / (1 + np.exp(2 - score))}
    )
    rows.to_parquet(folder / "rows.parquet")
    confirmed = np.flatnonzero(positive & (rng.random(number) < 0.5))
    known_at = scored_at[confirmed] + timedelta(hours=5)
    pd.DataFrame({"id": confirmed, "known_at": known_at}).to_parquet(folder / "labels.parquet")
    path = folder / "pumonitor.yaml"
    path.write_text(CONFIGURATION)
    return path


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = write_fraud(tmp_path_factory.mktemp("fraud"))
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: NOW, deliver=False) as found:
        assert found.run().failures == []
        found.monitors_of_site = configuration.monitors
        yield found


@pytest.fixture(scope="module")
def fired(jobs: Any) -> Any:
    [one] = [
        stored.transition
        for stored in jobs.ledger.alerts.history("fraud")
        if stored.transition.kind == "fired"
    ]
    return one


def test_a_wrong_join_is_no_matter_of_labels(fired: Any) -> None:
    assert fired.window_start == FIRST + BROKEN * DAY
    assert fired.cause["kinds"] == ["ranking"]
    assert fired.cause["sentence"].startswith("The model ranks worse: AUC changed by -0.")


def test_alert_insights_window_page_and_api_say_one_cause(jobs: Any, fired: Any) -> None:
    cause = fired.cause["sentence"]
    [shown] = alert_views(jobs.ledger, now=NOW, monitors=["fraud"], firing=True)
    assert shown.cause == cause
    newest = insight_of(jobs.ledger, "fraud", now=NOW).latest[0]
    assert newest.class_prior_said.endswith(cause)
    site = Site(monitors=jobs.monitors_of_site, ledger=jobs.ledger, clock=lambda: NOW)
    client = make_app(site, is_host=lambda _: True).test_client()
    start = newest.start.strftime("%Y-%m-%dT%H:%M:%SZ")
    answer = client.get(f"/api/v1/monitors/fraud/windows/{start}")
    assert answer.json["class_prior_said"] == newest.class_prior_said
    assert str(escape(cause)) in client.get(f"/monitors/fraud/windows/{start}").text
    # The filter's own words would be a second answer.
    assert "confirmed positives score lower" not in newest.class_prior_said
