"""A monitor of a model whose score did not fill the queue, run as a user runs it."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.special import expit
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.windows.collect import request_at
from pumonitor.monitor.windows.opening import open_monitor_source
from pumonitor.sources.counted.rows import rows_of
from pumonitor.sources.counted.schema import CountedSettings
from tests.reviews.two_models import shop

CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  new-model:
    predictions: {source: payments.parquet, id: payment_id, time: paid_at, score: new_score}
    positives: {source: chargebacks.parquet, id: payment_id, known_at: reported_at}
    reviews:
      source: reviews.parquet
      id: payment_id
      decided_at: decided_at
      verdict: verdict
      ranked_by: old_score
      blocks: true
    window: 1w
    maturity: 30d
    panes: []
    threshold: THRESHOLD
"""


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """A folder with the tables of one week, and the rows."""
    folder, rows = tmp_path_factory.mktemp("team"), shop(11)
    number = np.arange(len(rows.verdicts))
    paid = pd.Timestamp("2026-01-05", tz="UTC") + pd.to_timedelta(30 * number, "s")
    payments = pd.DataFrame({"payment_id": number, "paid_at": paid})
    payments["new_score"] = expit(rows.scores["challenger"])
    payments["old_score"] = expit(rows.scores["champion"])
    payments.to_parquet(folder / "payments.parquet")
    pd.DataFrame({"payment_id": number, "reported_at": paid + pd.Timedelta(days=9)})[
        rows.complained
    ].to_parquet(folder / "chargebacks.parquet")
    looked_at = ~np.isnan(rows.verdicts)
    pd.DataFrame(
        {
            "payment_id": number[looked_at],
            "decided_at": paid[looked_at] + pd.Timedelta(days=1),
            "verdict": rows.verdicts[looked_at].astype(int),
        }
    ).to_parquet(folder / "reviews.parquet")
    threshold = float(expit(rows.thresholds["challenger"]))
    write(folder, threshold, "ranked_by: old_score")
    return folder, rows, threshold


def write(folder, threshold, ranked_by):
    text = CONFIGURATION.replace("THRESHOLD", f"{threshold:.9f}")
    (folder / "pumonitor.yaml").write_text(text.replace("ranked_by: old_score", ranked_by))


def run(folder, command, *options):
    return CliRunner().invoke(
        app, [command, *options, "--config", str(folder / "pumonitor.yaml")], env={"COLUMNS": "200"}
    )


def test_a_week_holds_the_truth_of_the_model(team):
    folder, rows, _ = team
    done = run(folder, "backfill", "new-model", "--from", "2026-01-05", "--to", "2026-01-12")
    assert done.exit_code == 0, done.output
    found = {
        row["metric"]: row
        for row in json.loads(run(folder, "results", "new-model", "--format", "json").stdout)
    }
    truth = {**rows.truth()["challenger"], "class_prior": rows.is_positive.mean()}

    for metric, value in truth.items():
        assert found[metric]["low"] <= value <= found[metric]["high"], metric
    assert found["recall"]["high"] - found["recall"]["low"] < 0.35


def test_counts_of_a_job_give_the_same_results(team, tmp_path):
    folder, _, _ = team
    monitor = read_configuration(folder / "pumonitor.yaml").configuration.monitors["new-model"]
    (window,) = monitor.windows.between(
        datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 12, tzinfo=UTC)
    )
    request = request_at(monitor, window, datetime.now(UTC))
    with closing(open_monitor_source(monitor)) as source:
        settings = CountedSettings.of(
            request,
            score_scale=monitor.score_scale,
            segments=source.segments,
            states=source.states,
            ranked_by=source.ranked_by,
        )
        counted = rows_of(source.counts(request), request, settings, counted_at=datetime.now(UTC))
    pq.write_table(counted, tmp_path / "counts.parquet")
    text = (folder / "pumonitor.yaml").read_text()
    for table in ("payments", "chargebacks", "reviews"):
        text = text.replace(f"{table}.parquet", f"counts://{tmp_path}/counts.parquet")
    (tmp_path / "pumonitor.yaml").write_text(text)

    checked = run(tmp_path, "check")
    assert checked.exit_code == 0, checked.output
    assert results_of(tmp_path) == results_of(folder)


def results_of(folder):
    done = run(folder, "backfill", "new-model", "--from", "2026-01-05", "--to", "2026-01-12")
    assert done.exit_code == 0, done.output
    rows = json.loads(run(folder, "results", "new-model", "--format", "json").stdout)
    return {row["metric"]: (row["value"], row["low"], row["high"]) for row in rows}


def test_without_the_score_of_the_queue_windows_are_refused(team):
    folder, _, threshold = team
    write(folder, threshold, "time_zone: UTC")
    checked = run(folder, "check")
    write(folder, threshold, "ranked_by: old_score")

    told = " ".join(checked.output.split())
    assert "so the queue did not take the highest scores alone" in told
    assert "the score that filled the queue, ranked_by in reviews, if that was another" in told
