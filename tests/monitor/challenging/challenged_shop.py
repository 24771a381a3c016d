"""A shop with a deployed score, a better challenger, and features of both; a week of orders."""

from __future__ import annotations

import json
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 7
ROWS = 500
SETTLED = FIRST + timedelta(days=DAYS + 4)
CONFIGURATION = """\
state: {state}
{tracking}monitors:
  shop:
    {model}predictions: {{source: predictions.parquet, id: id, time: t, score: score}}
    positives: {{source: positives.parquet, id: id, known_at: known}}
    window: {window}
    maturity: 2d
    panes: []
    threshold: 0.5
    class_prior: 0.2
    audits: {{columns: [amount]}}
    challengers:
      models: {models}
      {more}
"""


def write_challenged_shop(
    folder: Path,
    *,
    models: str = "{v7: score_v7}",
    more: str = "entity: customer",
    state: str = "sqlite:///state.db",
    tracking: str = "",
    model: str = "",
    window: str = "1d",
    reviewed: bool = False,
    seed: int = 0,
) -> Path:
    """Half of the positives are confirmed; or, where reviewed, those of the deployed score's top.

    Customers have two orders each. `truth.parquet` has what nobody knows.
    """
    rng = np.random.default_rng(seed)
    rows = ROWS * DAYS
    positive = rng.random(rows) < 0.2
    features = rng.normal(positive[:, np.newaxis] * [1.0, 1.5], 1.0, (rows, 2))
    score = 1 / (1 + np.exp(-(features[:, 0] - 1)))
    made = FIRST + pd.to_timedelta(np.sort(rng.uniform(0, 86_400 * DAYS, rows)), unit="s")
    day = np.arange(rows) * DAYS // rows
    top = np.zeros(rows, dtype=bool)
    for one in range(DAYS):
        here = np.flatnonzero(day == one)
        top[here] = score[here] >= np.quantile(score[here], 0.9)
    confirmed = positive & (top if reviewed else rng.random(rows) < 0.5)
    pd.DataFrame(
        {
            "id": np.arange(rows),
            "t": made,
            "score": score,
            "score_v7": 1 / (1 + np.exp(-(features.sum(axis=1) - 2))),
            "customer": np.arange(rows) // 2,
            "amount": rng.random(rows).round(2),
        }
    ).to_parquet(folder / "predictions.parquet")
    pd.DataFrame(
        {
            "id": np.arange(rows),
            "first": features[:, 0],
            "second": features[:, 1],
            "kind": np.where(features[:, 1] > 1, "odd", "plain"),
        }
    ).to_parquet(folder / "features.parquet")
    found = np.flatnonzero(confirmed)
    pd.DataFrame({"id": found, "known": made[found] + timedelta(hours=12)}).to_parquet(
        folder / "positives.parquet"
    )
    pd.DataFrame({"id": np.arange(rows), "positive": positive.astype(int)}).to_parquet(
        folder / "truth.parquet"
    )
    path = folder / "pumonitor.yaml"
    path.write_text(
        CONFIGURATION.format(
            models=models, more=more, state=state, tracking=tracking, model=model, window=window
        )
    )
    return path


_EVALUATED: dict[str, Path] = {}


def evaluated_shop(folder: Path, **how: Any) -> Path:
    """As `write_challenged_shop`, with all windows evaluated: once for all tests that ask."""
    key = json.dumps(how, sort_keys=True)
    if key not in _EVALUATED:
        made = Path(tempfile.mkdtemp(dir=folder.parent))
        if (folder / "mlflow.db").exists():
            shutil.copy(folder / "mlflow.db", made)
        evaluated(write_challenged_shop(made, **how))
        _EVALUATED[key] = made
    others = shutil.ignore_patterns("mlflow.db*")
    shutil.copytree(_EVALUATED[key], folder, dirs_exist_ok=True, ignore=others)
    return folder / "pumonitor.yaml"


def evaluated(path: Path) -> None:
    configuration = read_configuration(path).configuration
    with open_jobs(configuration, clock=lambda: SETTLED, deliver=False) as jobs:
        jobs.run()
