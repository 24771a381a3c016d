"""A monitor that knows what each row is worth, run as a user runs it."""

from __future__ import annotations

import json
import re
from contextlib import closing
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.special import expit
from typer.testing import CliRunner

import pumonitor
from pumonitor.cli.app import app
from pumonitor.errors import InputError
from pumonitor.monitor.config.file import read_configuration, read_configuration_text
from pumonitor.monitor.windows.collect import request_at
from pumonitor.monitor.windows.opening import open_monitor_source
from pumonitor.names import VALUE
from pumonitor.sources.counted.rows import rows_of
from pumonitor.sources.counted.schema import CountedSettings
from tests.values.valued_rows import shop

SHOP = shop(5)
SCORES = expit(SHOP.scores)
THRESHOLD = float(expit(2.0))
FLAGGED = SCORES >= THRESHOLD
PREDICTIONS = "source: payments.parquet, id: payment_id, time: paid_at, score: score"
CONFIGURATION = f"""\
state: sqlite:///state.db
monitors:
  fair:
    predictions: {{{PREDICTIONS}, segments: [shop], value: {{column: amount, unit: EUR}}}}
    positives: {{source: confirmed.parquet, id: payment_id, known_at: reported_at}}
    class_prior: 0.03
    window: 1w
    maturity: 30d
    panes: []
    threshold: {THRESHOLD!r}
    rules:
      - {{metric: missed_value, above: 100}}
      - {{metric: recall_value, below: 0.01}}
  reviewed:
    predictions: {{{PREDICTIONS}, value: amount}}
    positives: {{source: chargebacks.parquet, id: payment_id, known_at: reported_at}}
    reviews:
      {{source: reviews.parquet, id: payment_id, decided_at: decided_at, verdict: verdict,
        blocks: true}}
    window: 1w
    maturity: 30d
    panes: []
    threshold: {THRESHOLD!r}
"""


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """A folder with the tables of one week, whose windows have been evaluated."""
    folder = tmp_path_factory.mktemp("team")
    number = np.arange(len(SCORES))
    paid = pd.Timestamp("2026-01-05", tz="UTC") + pd.to_timedelta(60 * number, "s")
    payments = pd.DataFrame({"payment_id": number, "paid_at": paid, "score": SCORES})
    payments["amount"] = SHOP.amounts
    payments["shop"] = np.where(number % 3 == 0, "a", "b")
    payments.to_parquet(folder / "payments.parquet")
    reported = pd.DataFrame({"payment_id": number, "reported_at": paid + pd.Timedelta(days=9)})
    reported[SHOP.confirmed].to_parquet(folder / "confirmed.parquet")
    reported[SHOP.complained].to_parquet(folder / "chargebacks.parquet")
    looked_at = ~np.isnan(SHOP.verdicts)
    pd.DataFrame(
        {
            "payment_id": number[looked_at],
            "decided_at": paid[looked_at] + pd.Timedelta(days=1),
            "verdict": SHOP.verdicts[looked_at].astype(int),
        }
    ).to_parquet(folder / "reviews.parquet")
    (folder / "pumonitor.yaml").write_text(CONFIGURATION)
    for name in ("fair", "reviewed"):
        done = run(folder, "backfill", name, "--from", "2026-01-05", "--to", "2026-01-12")
        assert done.exit_code == 0, done.output
    return folder


def run(folder, command, *options):
    return CliRunner().invoke(
        app, [command, *options, "--config", str(folder / "pumonitor.yaml")], env={"COLUMNS": "200"}
    )


def results_of(folder, name, segment=""):
    rows = json.loads(run(folder, "results", name, "--format", "json").stdout)
    return {row["metric"]: row for row in rows if row["segment"] == segment}


EVALUATIONS = {
    "fair": lambda: pumonitor.evaluate(
        SHOP.confirmed, SCORES, threshold=THRESHOLD, class_prior=0.03, value=SHOP.amounts
    ),
    "reviewed": lambda: pumonitor.evaluate(
        SHOP.complained,
        SCORES,
        threshold=THRESHOLD,
        reviews=SHOP.reviews,
        value=SHOP.amounts,
    ),
}


@pytest.mark.parametrize("name", ["fair", "reviewed"])
def test_a_window_has_the_numbers_of_an_evaluation_of_its_rows(team, name):
    found, evaluation = results_of(team, name), EVALUATIONS[name]()
    for metric in VALUE:
        row, whole = found[metric], evaluation[metric]
        width = whole.high - whole.low
        # Values are counted in 32 steps a doubling, and draws have another seed.
        for end in ("value", "low", "high"):
            assert row[end] == pytest.approx(
                getattr(whole, end), abs=0.12 * width + 0.01 * whole.value
            ), (metric, end)


@pytest.mark.parametrize("name", ["fair", "reviewed"])
def test_intervals_hold_the_truth(team, name):
    found = results_of(team, name)
    caught, missed = SHOP.worth(FLAGGED), SHOP.worth(~FLAGGED)
    truth = (caught / (caught + missed), caught / SHOP.amounts[FLAGGED].sum(), caught, missed)
    for metric, true in zip(VALUE, truth, strict=True):
        assert found[metric]["low"] * 0.99 <= true <= found[metric]["high"] * 1.01, metric


def test_segments_add_up(team):
    whole = results_of(team, "fair")
    parts = [results_of(team, "fair", f"shop={value}") for value in "ab"]
    for metric in ("caught_value", "missed_value"):
        assert parts[0][metric]["value"] != parts[1][metric]["value"]
        total = sum(part[metric]["value"] for part in parts)
        assert total == pytest.approx(whole[metric]["value"], rel=0.3)


def test_a_rule_on_what_is_missed_fires(team):
    alerts = json.loads(run(team, "alerts", "list", "--json").stdout)
    assert {alert["metric"]: alert["state"] for alert in alerts} == {
        "missed_value": "firing",
        "recall_value": "ok",
    }


def test_counts_of_a_job_give_the_same_results(team, tmp_path):
    monitor = read_configuration(team / "pumonitor.yaml").configuration.monitors["reviewed"]
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
            value=source.value,
        )
        counted = rows_of(source.counts(request), request, settings, counted_at=datetime.now(UTC))
    pq.write_table(counted, tmp_path / "counts.parquet")
    text = CONFIGURATION.replace("  reviewed:", "  counted:").replace("fair:", "fair-too:")
    for table in ("payments", "chargebacks", "reviews"):
        text = text.replace(f"{table}.parquet", f"counts://{tmp_path}/counts.parquet")
    text = text.replace("confirmed.parquet", f"counts://{tmp_path}/counts.parquet")
    (tmp_path / "pumonitor.yaml").write_text(text)
    done = run(tmp_path, "backfill", "counted", "--from", "2026-01-05", "--to", "2026-01-12")
    assert done.exit_code == 0, done.output
    counted, read = results_of(tmp_path, "counted"), results_of(team, "reviewed")
    for metric in (*VALUE, "recall"):
        assert [counted[metric][end] for end in ("value", "low", "high")] == [
            read[metric][end] for end in ("value", "low", "high")
        ]


def test_values_that_cannot_be_used_leave_all_else(team, tmp_path):
    payments = pd.read_parquet(team / "payments.parquet")
    payments.loc[payments.payment_id.isin([3, 4]), "amount"] = -1.0
    payments.loc[payments.payment_id == 7, "amount"] = np.nan
    payments.to_parquet(tmp_path / "payments.parquet")
    for table in ("confirmed", "chargebacks", "reviews"):
        (tmp_path / f"{table}.parquet").write_bytes((team / f"{table}.parquet").read_bytes())
    (tmp_path / "pumonitor.yaml").write_text(CONFIGURATION)
    done = run(tmp_path, "backfill", "fair", "--from", "2026-01-05", "--to", "2026-01-12")
    assert done.exit_code == 0, done.output
    found = results_of(tmp_path, "fair")
    assert found["missed_value"]["value"] is None
    assert found["recall"]["value"] == pytest.approx(results_of(team, "fair")["recall"]["value"])
    told = run(tmp_path, "results", "fair", "--metric", "missed_value").output
    assert "in 3 of 6,000 rows" in " ".join(told.split())


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("value: {column: amount, unit: EUR}", "", "which needs what each row is worth"),
        ("value: amount", "value: score", "uses the column 'score' both as score and as value"),
        ("blocks: true", "blocks: true, ranked_by: amount2", "does not go with ranked_by in"),
        (
            "class_prior: 0.03",
            "label_purity: 0.9",
            "predictions.value does not go with label_purity yet",
        ),
    ],
)
def test_what_does_not_go_together_is_said(before, after, message):
    assert before in CONFIGURATION
    with pytest.raises(InputError, match=re.escape(message)):
        read_configuration_text(CONFIGURATION.replace(before, after))
