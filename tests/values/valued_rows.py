"""Rows with values that tests share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pumonitor import Reviews


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """Payments of which everything is known."""

    scores: np.ndarray
    is_positive: np.ndarray
    amounts: np.ndarray
    complained: np.ndarray
    verdicts: np.ndarray
    confirmed: np.ndarray

    @property
    def reviews(self) -> Reviews:
        return Reviews(self.verdicts, blocks=True)

    def worth(self, rows: np.ndarray) -> float:
        """Of the positives among some rows."""
        return float(self.amounts[rows & self.is_positive].sum())


def shop(seed: int, *, rows: int = 6000, class_prior: float = 0.03) -> Shop:
    """Positives score higher and are dearer; the highest 5% were reviewed."""
    rng = np.random.default_rng(seed)
    is_positive = rng.random(rows) < class_prior
    scores = rng.normal(2.3 * is_positive)
    reviewed = scores >= np.quantile(scores, 0.95)
    return Shop(
        scores=scores,
        is_positive=is_positive,
        amounts=np.exp(3 + 1.2 * (rng.normal(size=rows) + 0.8 * is_positive)),
        complained=is_positive & ~reviewed & (rng.random(rows) < 0.6),
        verdicts=np.where(reviewed, is_positive, np.nan),
        confirmed=is_positive & (rng.random(rows) < 0.4),
    )
