"""Days of predictions with features, and a monitor that follows them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import select

from pumonitor.evaluation import evaluate_table
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import configuration_hash, read_configuration
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.database import schema
from pumonitor.monitor.ledger.records.claims import window_key
from pumonitor.monitor.ledger.results.auxiliary import stored_auxiliary
from pumonitor.monitor.windows.auxiliary.auxiliary import PaneAuxiliary
from pumonitor.ports import Pane, Window

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


DAYS = 15


BREAK = 13


PRIOR = 0.06


END = FIRST + timedelta(days=DAYS)


SETTLED = END + timedelta(days=4)


MATURE = 1


CONFIGURATION = """\
state: sqlite:///state.db
monitors:
  card-fraud:
    predictions:
      source: {source}
      id: prediction_id
      time: scored_at
      score: score
{segments}      features: [amount, hour, shop, country]
      group: customer
    positives:
      source: confirmations.parquet
      id: prediction_id
      known_at: confirmed_at
    window: 1d
    maturity: 2d
    panes: [0d]
    threshold: 0.5
"""


def write_days(
    folder: Path, *, days: int = DAYS, kind: str = "parquet", with_segments: bool = False
) -> Path:
    """900 predictions a day, of whose positives a half is confirmed within two days."""
    rng = np.random.default_rng(3)
    rows = 900 * days
    scored_at = FIRST + pd.to_timedelta(np.sort(rng.uniform(0, days * 86_400, rows)), unit="s")
    day = ((scored_at - FIRST) // timedelta(days=1)).to_numpy()
    is_positive = rng.random(rows) < PRIOR
    amount = rng.normal(2.2 * is_positive)
    logit = 1.6 * amount - 2
    shop = np.where(rng.random(rows) < 0.2 + 0.5 * is_positive, "online", "till").astype(object)
    shop[rng.random(rows) < 0.05] = None
    frame = pd.DataFrame(
        {
            "prediction_id": [f"p{one}" for one in range(rows)],
            "scored_at": scored_at,
            "score": 1 / (1 + np.exp(-np.where(day < BREAK, logit, -logit))),
            "amount": np.where(rng.random(rows) < 0.05, np.nan, amount),
            "hour": scored_at.hour,
            "shop": shop,
            "country": np.where(rng.random(rows) < 0.7, "DE", "FR"),
            "customer": rng.integers(0, rows // 4, rows),
        }
    )
    if kind == "csv":
        frame.to_csv(folder / "predictions.csv", index=False)
    else:
        frame.to_parquet(folder / "predictions.parquet")
    confirmed = np.flatnonzero(is_positive & (rng.random(rows) < 0.5))
    delay = pd.to_timedelta(rng.uniform(0, 2 * 86_400, len(confirmed)), unit="s")
    pd.DataFrame(
        {
            "prediction_id": frame["prediction_id"][confirmed],
            "confirmed_at": scored_at[confirmed] + delay,
        }
    ).to_parquet(folder / "confirmations.parquet")
    path = folder / "pumonitor.yaml"
    segments = "      segments: [country]\n" if with_segments else ""
    path.write_text(CONFIGURATION.format(source=f"predictions.{kind}", segments=segments))
    return path


@contextmanager
def jobs_at(path: Path, now: datetime) -> Iterator[Jobs]:
    with open_jobs(
        read_configuration(path).configuration, clock=lambda: now, deliver=False
    ) as jobs:
        yield jobs


def of_pane(jobs: Jobs, day: int, number: int = MATURE) -> tuple[PaneAuxiliary, Any]:
    """What is seen as of a look at a day, and the series of that look."""
    monitor = jobs.monitors["card-fraud"]
    start = FIRST + timedelta(days=day)
    window = Window(start=start, end=start + timedelta(days=1), index=day)
    states: Any = ("provisional", "mature", "final")
    pane = Pane(
        window=window,
        number=number,
        state=states[number],
        as_of=window.end + timedelta(days=2 * number),
    )
    configuration = configuration_hash(monitor)
    key = window_key(monitor.name, configuration, window.start, window.end)
    series = {one.segment: one for one in jobs.ledger.series(key, number)}
    auxiliary = PaneAuxiliary(
        monitor=monitor, configuration=configuration, pane=pane, ledger=jobs.ledger
    )
    return auxiliary, series


def auc(table: Any) -> float:
    found = evaluate_table(table, threshold=float(table.lower[0]), class_prior=PRIOR, curves=False)
    return found["auc"].value


def stored(jobs: Jobs) -> tuple[Any, dict[Any, Any]]:
    """The score, and all that is seen by it."""
    monitor = jobs.monitors["card-fraud"]
    with jobs.ledger.database.reading() as connection:
        score = stored_auxiliary(connection, monitor.name, configuration_hash(monitor))
        rows = connection.execute(
            select(schema.windows.c.window_start, schema.auxiliary_series).join(
                schema.auxiliary_series,
                schema.auxiliary_series.c.window_key == schema.windows.c.window_key,
            )
        )
        looks = {
            (row.window_start, row.pane, row.model_version, row.segment): (
                row.hash,
                row.reason,
                row.table_bytes,
            )
            for row in rows
        }
    return score, looks


def look(jobs: Jobs, day: int) -> None:
    auxiliary, series = of_pane(jobs, day)
    jobs.windows.priors.auxiliary.prepare(
        auxiliary.monitor,
        auxiliary.configuration,
        series[""].window_key,
        [auxiliary.pane],
        lambda: jobs._tables.of("card-fraud"),
    )
