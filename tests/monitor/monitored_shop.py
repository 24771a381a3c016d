"""A small card-fraud monitor: predictions, confirmations that come late, and its configuration."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 4
REFERENCE_DAYS = 3
MATURITY = timedelta(days=2)
SETTLED = FIRST + timedelta(days=DAYS) + 2 * MATURITY
"""When the last day is final; the days since have no predictions, and the first of them says so."""

CONFIGURATION = """\
state: {state}
{tracking}monitors:
  card-fraud:
    predictions:
      source: predictions.parquet
      id: prediction_id
      time: scored_at
      score: score
{version}{segments}    positives:
      source: confirmations.parquet
      id: prediction_id
      known_at: confirmed_at
    window: 1d
    maturity: {maturity}
    panes: {panes}
    threshold: 0.5
{class_prior}    reference: {{start: {start}, end: {end}}}
"""


def write_shop(
    folder: Path,
    *,
    state: str = "sqlite:///state.db",
    days: int = DAYS,
    first: datetime = FIRST,
    with_segments: bool = False,
    with_versions: bool = False,
    tracking: str | None = None,
    maturity: timedelta = MATURITY,
    panes: str = "[0d, 1d]",
    seed: int = 0,
    class_prior: float | str | None = None,
) -> Path:
    """600 predictions a day, a tenth of them fraud, half of which is confirmed, a day later.

    The second version of the model takes over after the first day. The class prior is estimated
    unless one is given, with which a window takes half the time; so it does without provisional
    panes.
    """
    rng = np.random.default_rng(seed)
    rows = 600 * days
    is_fraud = rng.random(rows) < 0.1
    scored_at = first + pd.to_timedelta(np.sort(rng.uniform(0, days * 86_400, rows)), unit="s")
    pd.DataFrame(
        {
            "prediction_id": np.arange(rows),
            "scored_at": scored_at,
            "score": 1 / (1 + np.exp(-rng.normal(2.5 * is_fraud - 1.5))),
            "country": rng.choice(["DE", "FR"], rows),
            "version": np.where(scored_at < pd.Timestamp(first + timedelta(days=1)), "1", "2"),
        }
    ).to_parquet(folder / "predictions.parquet")
    confirmed = np.flatnonzero(is_fraud & (rng.random(rows) < 0.5))
    delay = pd.to_timedelta(rng.exponential(86_400, len(confirmed)), unit="s")
    pd.DataFrame(
        {"prediction_id": confirmed, "confirmed_at": scored_at[confirmed] + delay}
    ).to_parquet(folder / "confirmations.parquet")
    path = folder / "pumonitor.yaml"
    segments = "      segments: [country]\n" if with_segments else ""
    days_of_reference = {
        "start": first.date(),
        "end": (first + timedelta(days=REFERENCE_DAYS)).date(),
    }
    version = "      model_version: version\n" if with_versions else ""
    where = f"tracking: {{uri: '{tracking}'}}\n" if tracking else ""
    path.write_text(
        CONFIGURATION.format(
            state=state,
            tracking=where,
            version=version,
            class_prior="" if class_prior is None else f"    class_prior: {class_prior}\n",
            segments=segments,
            maturity=f"{maturity.days}d",
            panes=panes,
            **days_of_reference,
        )
    )
    return path


def recorded(ledger, *, revisions="all"):
    """All results, in order, as plain tuples."""
    return [
        tuple(row.model_dump().values())
        for row in ledger.results("card-fraud", revisions=revisions)
    ]
