"""Windows with a queue and complaints whose truth is known, of normal and of real scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from benchmarks.challengers.learning import LARGE, task
from pumonitor.reviews.bins import (
    count_rows,
    edges_of_queue,
    kinds_of_rows,
    labels_of_kinds,
)
from pumonitor.reviews.counts import ReviewCounts
from pumonitor.reviews.given import Reviews
from pumonitor.tables import ScoreTable

__all__ = [
    "METRICS",
    "MODELS",
    "SETS",
    "Cell",
    "Window",
    "counts_of",
    "draw_window",
    "positives_of_entities",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

METRICS: Final = ("class_prior", "recall", "f1", "auc")
SETS: Final = LARGE
MODELS: Final = ("trees", "forest", "logistic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One setting of which runs are made.

    Attributes
    ----------
    scores : str
        "normal" or the name of a data set.
    model : str
        One of `MODELS`; for normal scores the AUC, as text.
    class_prior, reviewed : float
        Shares of the rows.
    complains : float
        Share of the positives that complain, in the middle of the scores of positives.
    shape : {"flat", "rising", "falling", "tenfold"}
        Whether the highest positives complain three times as often as the lowest, or a third as
        often; "tenfold": below the cut a tenth as often as above it.
    rows : int
    blocks : bool
    detection_rate : float
        Share of the positives it sees that review finds.
    undecided : float
        Share of the reviewed that stay undecided, of positives three times as often.
    by_rule : float
        Share of the rows that a rule reviews, of positives ten times as often.
    declined : float
        Share of the reviewed that is stopped instead.
    most : int
        Positives of one entity: 1 to so many, which complain together or not at all; above 1 with
        normal scores alone.
    alike : float
        Correlation of their scores.
    days : int
        The queue takes equally many of each, though they differ in rows and in positives by up to
        a factor of four.
    """

    scores: str = "normal"
    model: str = "0.95"
    class_prior: float = 0.01
    reviewed: float = 0.02
    complains: float = 0.5
    shape: str = "flat"
    rows: int = 20_000
    blocks: bool = True
    detection_rate: float = 1.0
    undecided: float = 0.0
    by_rule: float = 0.0
    declined: float = 0.0
    most: int = 1
    alike: float = 0.5
    days: int = 1

    def __str__(self) -> str:
        parts = [
            self.scores,
            self.model,
            f"prior {self.class_prior:g}",
            f"top {self.reviewed:g}",
            f"{self.complains:g} {self.shape}",
            f"{self.rows:,} rows",
            "blocks" if self.blocks else "does not block",
        ]
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """Rows with what is known of them, and which are positive."""

    score: FloatArray
    positive: BoolArray
    complained: BoolArray
    reviews: Reviews
    threshold: float
    entity: NDArray[np.intp] | None = None

    def truth(self) -> dict[str, float]:
        """The metrics of these very rows."""
        flagged, found = self.score >= self.threshold, float(self.positive.sum())
        hits = float((flagged & self.positive).sum())
        ranks = stats.rankdata(self.score)[self.positive]
        won = (ranks.mean() - 0.5 * (found + 1)) / (len(self.score) - found)
        return {
            "class_prior": found / len(self.score),
            "recall": hits / found,
            "f1": 2 * hits / (found + flagged.sum()),
            "precision": hits / flagged.sum(),
            "auc": float(won),
        }


@lru_cache(maxsize=32)
def _pool(name: str, model: str) -> tuple[FloatArray, FloatArray]:
    """Scores of positives and negatives of the half that the model has not seen."""
    known = task(name)
    train, rest = known.halves(np.random.default_rng(0))
    fitted = _model(model).fit(known.features[train], known.positive[train])
    score = special.logit(np.clip(fitted.predict_proba(known.features[rest])[:, 1], 1e-6, 1 - 1e-6))
    positive = known.positive[rest]
    return score[positive], score[~positive]


def _model(name: str) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    if name == "trees":
        return HistGradientBoostingClassifier(max_iter=100, random_state=0)
    if name == "forest":
        return RandomForestClassifier(200, min_samples_leaf=5, random_state=0)
    return LogisticRegression(max_iter=1000)


def draw_window(cell: Cell, rng: np.random.Generator) -> Window:
    """Rows of a cell; the threshold is where the queue begins."""
    day, times = _days(cell, rng)
    positive = rng.random(cell.rows) < cell.class_prior * times[day]
    entity = np.arange(cell.rows)
    if cell.most > 1:
        positive, entity = positives_of_entities(cell, rng)
    if cell.scores == "normal":
        apart = np.sqrt(2) * special.ndtri(float(cell.model))
        score = rng.normal(apart * positive)
        if cell.most > 1:
            shared = np.sqrt(cell.alike) * rng.normal(size=cell.rows)[entity]
            own = np.sqrt(1 - cell.alike) * (score - apart)
            score = np.where(positive, apart + shared + own, score)
        height = special.ndtr(score - apart)
    else:
        highs, lows = _pool(cell.scores, cell.model)
        score = np.where(positive, rng.choice(highs, cell.rows), rng.choice(lows, cell.rows))
        height = np.searchsorted(np.sort(highs), score, side="right") / len(highs)
    queue = _highest_of_each(day, score, taken=max(round(cell.reviewed * cell.rows / cell.days), 1))
    bent = {"flat": 0.0, "rising": 1.0, "falling": -1.0, "tenfold": 0.0}[cell.shape]
    chance = np.clip(cell.complains * 3 ** (bent * (height - 0.5)), 0, 1)
    if cell.shape == "tenfold":
        chance = np.where(queue, chance, chance / 10)
    by_rule = rng.random(cell.rows) < cell.by_rule * np.where(positive, 10, 1)
    stopped = queue & (rng.random(cell.rows) < cell.declined)
    seen = (queue | by_rule) & ~stopped
    found = positive & (rng.random(cell.rows) < cell.detection_rate)
    verdict = np.where(found, 1.0, 0.0)
    left = rng.random(cell.rows) < cell.undecided * np.where(positive, 3, 1)
    verdicts = np.where(seen, verdict, np.nan).astype(object)
    verdicts[seen & left] = "undecided"
    blocked = stopped | (cell.blocks & seen & found & ~left)
    return Window(
        score=score,
        positive=positive,
        complained=positive & (rng.random(cell.rows)[entity] < chance) & ~blocked,
        reviews=Reviews(
            verdicts,
            blocks=cell.blocks,
            chosen_by=np.where(by_rule, "velocity", "score"),
            stopped=stopped,
        ),
        threshold=float(np.sort(score)[-max(round(cell.reviewed * cell.rows), 1)]),
        entity=entity,
    )


def positives_of_entities(
    cell: Any, rng: np.random.Generator
) -> tuple[BoolArray, NDArray[np.intp]]:
    """Positives that come so many at a time, and whose each row is; negatives are their own.

    `cell` has rows, class_prior and most.
    """
    entities = rng.poisson(cell.rows * cell.class_prior / ((1 + cell.most) / 2))
    of_positive = np.repeat(np.arange(entities), rng.integers(1, cell.most + 1, size=entities))
    entity = np.arange(cell.rows)
    entity[: len(of_positive)] = of_positive
    return np.arange(cell.rows) < len(of_positive), entity


def _days(cell: Cell, rng: np.random.Generator) -> tuple[NDArray[np.intp], FloatArray]:
    """The day of each row, and how many times as frequent positives are on each day."""
    if cell.days == 1:
        return np.zeros(cell.rows, dtype=np.intp), np.ones(1)
    size, times = 4 ** rng.uniform(-0.5, 0.5, (2, cell.days))
    day = rng.choice(cell.days, cell.rows, p=size / size.sum())
    return day, times / times.mean()


def _highest_of_each(day: NDArray[np.intp], score: FloatArray, *, taken: int) -> BoolArray:
    """Whether a row is among so many of the highest of its day."""
    order = np.lexsort([-score, day])
    first = np.searchsorted(day[order], day[order])
    is_taken = np.zeros(len(score), dtype=bool)
    is_taken[order] = np.arange(len(score)) - first < taken
    return is_taken


def counts_of(window: Window) -> ReviewCounts:
    """Rows of a window by score bin and by what is known of them."""
    _, edges = edges_of_queue(window.score, window.reviews)
    kinds = kinds_of_rows(window.complained, window.reviews)
    table = table_of(window)
    return count_rows(
        table,
        window.score,
        kinds,
        threshold=window.threshold,
        cuts=edges,
        blocks=window.reviews.blocks,
    )


def table_of(window: Window) -> ScoreTable:
    """Known positives against all other rows, by score and entity."""
    _, edges = edges_of_queue(window.score, window.reviews)
    kinds = kinds_of_rows(window.complained, window.reviews)
    return ScoreTable.from_arrays(
        labels_of_kinds(kinds),
        window.score,
        thresholds=(window.threshold, *edges),
        entity=window.entity,
    )
