"""Windows with a queue and complaints that tests share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from pumonitor.audit.bins import ScoreBins
from pumonitor.reviews import KINDS, ReviewCounts, ReviewedEstimates, Reviews
from pumonitor.reviews.counts import POSITIVE
from pumonitor.reviews.front_door import reviewed_models

BLOCKED = {
    "open_complained": [1, 3, 5, 6, 0, 0, 0],
    "open_silent": [5999, 2797, 895, 194, 0, 0, 0],
    "positive_silent": [0, 0, 0, 0, 21, 24, 19],
    "cleared_silent": [0, 0, 0, 0, 59, 26, 5],
}
"""Seven bins of 10,054 rows; the highest three were reviewed, and a positive verdict blocks."""

NOT_BLOCKED = {
    "open_complained": [1, 3, 5, 6, 0, 0, 0],
    "open_silent": [5999, 2797, 895, 194, 0, 0, 0],
    "positive_complained": [0, 0, 0, 0, 9, 12, 11],
    "positive_silent": [0, 0, 0, 0, 12, 12, 8],
    "cleared_silent": [0, 0, 0, 0, 59, 26, 5],
}

MISTAKEN = {"cleared_complained": [0, 0, 0, 0, 2, 1, 1]}

ALL_KINDS = {
    "open_complained": [2, 3, 5],
    "open_silent": [391, 97, 13],
    "positive_complained": [1, 4, 9],
    "positive_silent": [2, 7, 3],
    "cleared_complained": [1, 2, 6],
    "cleared_silent": [30, 17, 11],
    "undecided_complained": [1, 3, 2],
    "undecided_silent": [19, 8, 5],
    "drawn_positive": [1, 2, 4],
    "drawn_negative": [23, 12, 7],
    "known_positive": [2, 9, 1],
    "known_negative": [6, 5, 14],
    "stopped": [3, 1, 8],
}
"""No two numbers of a bin that stand for different things are the same by their nature."""


def counts_of(rows: dict[str, Any], *, blocks: bool, flagged: int = 4) -> ReviewCounts:
    """From rows by kind; the highest `flagged` bins lie above the threshold."""
    size = len(next(iter(rows.values())))
    table = np.array([rows.get(kind, np.zeros(size)) for kind in KINDS], dtype=np.int64)
    labeled = table[[KINDS.index(kind) for kind in POSITIVE]].sum(axis=0)
    edges = np.arange(1.0, size)
    bins = ScoreBins.counted(
        edges=edges, threshold=float(size - flagged), rows=table.sum(axis=0), labeled=labeled
    )
    return ReviewCounts.of_table(bins, table, blocks=blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Rows of which everything is known."""

    scores: np.ndarray
    is_positive: np.ndarray
    complained: np.ndarray
    verdicts: np.ndarray


def window(
    seed: int,
    *,
    rows: int = 20_000,
    auc: float = 0.95,
    class_prior: float = 0.01,
    reviewed: float = 0.02,
    complaint_rate: float = 0.5,
    blocks: bool = True,
    found: float = 1.0,
) -> Window:
    """Two normals; the highest scores are reviewed, and positives complain by chance."""
    rng = np.random.default_rng(seed)
    is_positive = rng.random(rows) < class_prior
    scores = rng.normal(np.sqrt(2) * stats.norm.ppf(auc) * is_positive)
    in_queue = scores >= np.quantile(scores, 1 - reviewed)
    called = is_positive & (rng.random(rows) < found)
    complained = is_positive & (rng.random(rows) < complaint_rate)
    if blocks:
        complained &= ~(in_queue & called)
    return Window(
        scores=scores,
        is_positive=is_positive,
        complained=complained,
        verdicts=np.where(in_queue, called.astype(float), np.nan),
    )


def read(
    complained: Any, scores: Any, reviews: Reviews, *, threshold: float = 2.0, **settings: Any
) -> ReviewedEstimates:
    """What `evaluate` reads of the rows, without all that it makes of them."""
    models = reviewed_models(
        complained,
        {"scores": np.asarray(scores, dtype=float)},
        reviews=reviews,
        thresholds={"scores": (threshold,)},
        **{
            "complaint_rate": None,
            "confidence_level": 0.95,
            "class_prior": "auto",
            "scenario": "single-training-set",
            "label_purity": 1.0,
            "given": {},
            **settings,
        },
    )
    return models.readings["scores"]


def logit(draws: Any) -> np.ndarray:
    """Of shares that may be 0 or 1."""
    return special.logit(np.clip(draws, 1e-6, 1 - 1e-6))
