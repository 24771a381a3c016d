"""A folder with tables and a configuration, as `pumonitor check` finds it."""

import json
from pathlib import Path
from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from pumonitor.cli.app import app
from tests.monitor.onboarding_tables import tables

TEXT = """\
state: sqlite:///state.db
tracking: {uri: sqlite:///mlflow.db}
monitors:
  fraud:
    predictions:
      source: predictions.parquet
      id: prediction_id
      time: scored_at
      time_zone: UTC
      score: score
      segments: [country]
    positives:
      source: confirmed.csv
      id: prediction_id
      known_at: confirmed_at
      time_zone: UTC
    window: 1w
    maturity: 14d
    threshold: 0.5
    reference: {start: 2026-01-05, end: 2026-01-26}
"""


def run(*arguments: str) -> Result:
    runner = CliRunner(env={"COLUMNS": "140", "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, ["check", *arguments])


def write_tables(folder: Path) -> None:
    predictions, positives = tables(rows=4000)
    predictions.to_parquet(folder / "predictions.parquet")
    positives.to_csv(folder / "confirmed.csv", index=False)


def checked(folder: Path, text: str = TEXT, *, status: int = 0) -> dict[str, Any]:
    (folder / "pumonitor.yaml").write_text(text, encoding="utf-8")
    done = run("--json")
    assert done.exit_code == status, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found
