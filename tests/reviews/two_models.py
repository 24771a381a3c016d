"""Rows that two or three models scored, and a queue that the champion's score filled."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.metrics import roc_auc_score

METRICS = ("recall", "precision", "f1", "auc")
ROWS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """Rows of which everything is known."""

    scores: dict[str, np.ndarray]
    thresholds: dict[str, float]
    is_positive: np.ndarray
    complained: np.ndarray
    verdicts: np.ndarray
    blocks: bool

    def with_verdicts(self, verdicts: np.ndarray) -> Shop:
        return replace(self, verdicts=verdicts)

    def truth(self) -> dict[str, dict[str, float]]:
        """By model and metric, of these very rows."""
        found = {}
        for name, score in self.scores.items():
            flagged = score >= self.thresholds[name]
            hits, positives = (flagged & self.is_positive).sum(), self.is_positive.sum()
            found[name] = {
                "recall": hits / positives,
                "precision": hits / flagged.sum(),
                "f1": 2 * hits / (positives + flagged.sum()),
                "auc": roc_auc_score(self.is_positive, score),
            }
        return found

    def truth_of(self, first: str, second: str, metric: str) -> float:
        truth = self.truth()
        return truth[first][metric] - truth[second][metric]


def shop(
    seed: int,
    *,
    strength: tuple[float, float] = (1.9, 2.5),
    alike: float = 0.6,
    blocks: bool = True,
    third: bool = False,
) -> Shop:
    """Normal scores; the champion's highest 2% are reviewed, and half of the rest complain.

    A third model is the challenger with a little noise, and a little weaker.
    """
    rng = np.random.default_rng(seed)
    is_positive = rng.random(ROWS) < 0.02
    noise = rng.normal(size=(3, ROWS))
    noise[1] = alike * noise[0] + np.sqrt(1 - alike**2) * noise[1]
    scores = {
        "champion": noise[0] + strength[0] * is_positive,
        "challenger": noise[1] + strength[1] * is_positive,
    }
    if third:
        scores["third"] = 0.98 * noise[1] + 0.2 * noise[2] + (strength[1] - 0.1) * is_positive
    thresholds = {name: float(np.quantile(score, 0.98)) for name, score in scores.items()}
    in_queue = scores["champion"] >= thresholds["champion"]
    return Shop(
        scores=scores,
        thresholds=thresholds,
        is_positive=is_positive,
        complained=is_positive & (rng.random(ROWS) < 0.5) & ~(in_queue & blocks),
        verdicts=np.where(in_queue, is_positive.astype(float), np.nan),
        blocks=blocks,
    )
