"""The configurations of the cookbooks, on tables as such a team has them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from pumonitor.cli.app import app

COOKBOOKS = Path(__file__).parents[3] / "docs" / "cookbook"
WEEKS, ROWS = 10, 3_000
RUNNER = CliRunner()


def configuration_of(name):
    text = (COOKBOOKS / f"{name}.md").read_text()
    (block,) = re.findall(r"```yaml\n(.*?)```", text, flags=re.DOTALL)
    # Braces of ${NAME} are those of a mapping to YAML.
    configuration = yaml.safe_load(re.sub(r"\$\{\w+\}", "json://localhost", block))
    return {"monitors": configuration["monitors"], "state": "sqlite:///state.db"}


def in_files(monitor):
    """Sources that are queries of a warehouse become files of the same columns."""
    for name in ("predictions", "positives", "reviews"):
        if isinstance(monitor.get(name, {}).get("source"), dict):
            monitor[name]["source"] = f"{name}.parquet"


def written(frame, columns, folder, source):
    """The rows under a pattern of the configuration, with its names of columns."""
    place = folder / source.replace("*", "part")
    place.parent.mkdir(parents=True, exist_ok=True)
    kept = frame.rename(columns=columns)[list(columns.values())]
    kept.to_csv(place, index=False) if place.suffix == ".csv" else kept.to_parquet(place)


@pytest.mark.parametrize(
    ("name", "scale", "share_reviewed", "score_that_is_flagged"),
    [
        ("fraud", 0.02, 0.03, 0.8),
        ("content-moderation", 0.03, 0.04, 0.7),
        ("medical", 0.02, 0.04, 0.3),
    ],
)
def test_recall_holds_the_truth_in_each_window(
    name, scale, share_reviewed, score_that_is_flagged, tmp_path
):
    rng = np.random.default_rng(12)
    configuration = configuration_of(name)
    ((_, monitor),) = configuration["monitors"].items()
    # Few windows will do, of one length.
    monitor |= {"window": "1w", "panes": [], "rules": [], "maturity": "60d"}
    for key in ("reference", "zone"):
        monitor.pop(key, None)
    in_files(monitor)
    monitor["predictions"].pop("segments", None)
    start = pd.Timestamp("2026-01-05", tz="UTC")
    week = np.repeat(np.arange(WEEKS), ROWS)[: 3 * ROWS]
    is_positive = rng.random(len(week)) < scale
    rank_score = rng.normal(2.6 * is_positive)
    rows = pd.DataFrame(
        {
            "id": np.arange(len(week)),
            "score": 1 / (1 + np.exp(-1.6 * (rank_score - 1.2))),
            "is_positive": is_positive,
            "week": week,
        }
    )
    rows["time"] = start + pd.to_timedelta(7 * 86_400 * (week + rng.random(len(week))), unit="s")
    rank = rows.groupby("week")["score"].rank(ascending=False)
    blocks = monitor["reviews"]["blocks"]
    stops = "action" in monitor["predictions"]
    rows["action"] = np.where(stops & (rank <= 4), "declined", "approved")
    reviewed = (rank <= share_reviewed * ROWS) & (rows["action"] != "declined")
    finds = is_positive & (rng.random(len(week)) < (0.9 if not blocks else 1.0))
    verdicts = monitor["reviews"]["verdict"]
    rows["verdict"] = np.where(finds, verdicts["positive"][0], verdicts["negative"][0])
    rows["reason"] = monitor["reviews"]["chosen_by"]["score"][0]
    rows["who"] = rng.choice(["ann", "bob"], len(week))
    rows["decided"] = rows["time"] + pd.Timedelta(days=1)
    rows["known"] = rows["time"] + pd.Timedelta(days=9)
    stopped = rows["action"] == "declined"
    complains = is_positive & ~stopped & ~(blocks & reviewed & finds)
    complains &= rng.random(len(week)) < 0.6

    made, known, decided = (monitor[key] for key in ("predictions", "positives", "reviews"))
    columns = {"id": made["id"], "time": made["time"], "score": made["score"]}
    columns |= {"action": made["action"]["column"]} if stops else {}
    if "value" in made:
        rows["amount"] = np.exp(np.random.default_rng(3).normal(3, 1.2, len(week)))
        columns |= {"amount": made["value"]["column"]}
    written(rows, columns, tmp_path, made["source"])
    complaints = {"id": known["id"], "known": known["known_at"]}
    written(rows[complains], complaints, tmp_path, known["source"])
    written(
        rows[reviewed],
        {
            "id": decided["id"],
            "decided": decided["decided_at"],
            "verdict": verdicts["column"],
            "reason": decided["chosen_by"]["column"],
            "who": decided["reviewer"],
        },
        tmp_path,
        decided["source"],
    )
    assert_recall_holds(tmp_path, configuration, rows, score_that_is_flagged, narrower_than=0.6)


def assert_recall_holds(folder, configuration, rows, threshold, *, narrower_than):
    """Evaluate three weeks, each of which has the truth in its interval of recall."""
    file = folder / "pumonitor.yaml"
    file.write_text(yaml.safe_dump(configuration))
    done = RUNNER.invoke(
        app, ["backfill", "--from", "2026-01-01", "--to", "2026-02-01", "--config", str(file)]
    )
    assert done.exit_code == 0, done.output
    (monitor_name,) = configuration["monitors"]
    answer = RUNNER.invoke(
        app, ["results", monitor_name, "--format", "json", "--config", str(file)]
    )
    found = [row for row in json.loads(answer.stdout) if row["metric"] == "recall"]
    found = [row for row in found if row["value"] is not None]
    assert len(found) == 3
    for number, row in enumerate(sorted(found, key=lambda one: one["window_start"])):
        own = rows[rows["week"] == number]
        flagged = own["score"] >= threshold
        recall = (flagged & own["is_positive"]).sum() / own["is_positive"].sum()
        assert row["low"] <= recall <= row["high"]
        # An interval of everything would hold it too.
        assert row["high"] - row["low"] < narrower_than


def test_recall_by_cancellations_of_customers_without_an_offer(tmp_path):
    """Churn: the file is read for those who got none, whose cancellations are a fair sample."""
    rng = np.random.default_rng(7)
    configuration = configuration_of("churn")
    (monitor,) = configuration["monitors"].values()
    assert monitor["label_origin"] == "complaints"
    monitor |= {"window": "1w", "panes": [], "rules": [], "maturity": "60d", "zone": "UTC"}
    for key in ("segments", "features", "group"):
        monitor["predictions"].pop(key)
    week = np.repeat(np.arange(3), ROWS)
    leaves = rng.random(len(week)) < 0.1
    start = pd.Timestamp("2026-01-05", tz="UTC")
    rows = pd.DataFrame(
        {
            "id": np.arange(len(week)),
            "score": 1 / (1 + np.exp(1.8 - rng.normal(2.0 * leaves))),
            "is_positive": leaves,
            "week": week,
            "time": start + pd.to_timedelta(7 * 86_400 * (week + rng.random(len(week))), unit="s"),
        }
    )
    rows["known"] = (rows["time"] + pd.Timedelta(days=30)).dt.tz_localize(None).dt.floor("s")
    made, known = monitor["predictions"], monitor["positives"]
    columns = {"id": made["id"], "time": made["time"], "score": made["score"]}
    written(rows, columns, tmp_path, made["source"])
    cancels = leaves & (rng.random(len(week)) < 0.5)
    confirmed = {"id": known["id"], "known": known["known_at"]}
    written(rows[cancels], confirmed, tmp_path, known["source"])
    assert_recall_holds(tmp_path, configuration, rows, monitor["threshold"], narrower_than=0.3)
    (name,) = configuration["monitors"]
    shown = RUNNER.invoke(app, ["results", name, "--config", str(tmp_path / "pumonitor.yaml")])
    assert shown.stdout.startswith("Complaints are taken for a fair sample")
