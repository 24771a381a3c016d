"""Predictions and confirmations as teams have them, for tests of onboarding."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pandas as pd

START = datetime(2026, 1, 1)  # noqa: DTZ001


def tables(*, days=60, rows=6000, delay_days=4.0, confirmed=0.6, seed=3):
    """Predictions over some days, and the positives confirmed by their end."""
    rng = np.random.default_rng(seed)
    at = np.sort(rng.uniform(0, days * 86400, rows))
    positive = rng.random(rows) < 0.1
    score = 1 / (1 + np.exp(-(rng.normal(-3, 1, rows) + 3 * positive)))
    predictions = pd.DataFrame(
        {
            "prediction_id": [f"p{number}" for number in range(rows)],
            "scored_at": pd.Timestamp(START) + pd.to_timedelta(at, unit="s"),
            "amount": np.round(rng.lognormal(3, 1, rows), 2),
            "score": np.round(score, 4),
            "country": rng.choice(["DE", "FR", "US"], rows),
        }
    )
    predictions["scored_at"] = predictions["scored_at"].dt.floor("ms")
    found = predictions[positive & (rng.random(rows) < confirmed)]
    delay = pd.to_timedelta(rng.exponential(delay_days * 86400, len(found)), unit="s")
    confirmations = pd.DataFrame(
        {
            "prediction_id": found["prediction_id"],
            "confirmed_at": (found["scored_at"] + delay).dt.floor("ms"),
        }
    )
    until = pd.Timestamp(START) + timedelta(days=days)
    return predictions, confirmations[confirmations["confirmed_at"] < until].reset_index(drop=True)
