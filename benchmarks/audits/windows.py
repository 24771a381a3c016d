"""Windows of real scores whose truth is known, and audits of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.reproduce.data import as_numbers
from pumonitor.audit.allocation import design_audit
from pumonitor.audit.bins import score_bins
from pumonitor.audit.counts import AuditCounts, AuditDesign
from pumonitor.tables import ScoreTable

__all__ = [
    "METRICS",
    "ROWS",
    "SETS",
    "Cell",
    "Pool",
    "Window",
    "audited",
    "designed",
    "pool",
    "window",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

SETS: Final = ("casp", "bank", "covertype_16pct", "spambase")
METRICS: Final = ("class_prior", "precision", "recall", "f1", "auc")
ROWS: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One setting of which runs are made.

    `favoured`: how many times as often the highest positives are confirmed as the lowest, log
    linear in their rank. `flagged`: how many times as often those above the threshold as those
    below it, as where people review what is flagged. `planned_off`: by what the odds of c that the
    plan assumes are too high.
    `above`: share of the cases at or above the threshold, or as the metrics want it.
    """

    name: str = "bank"
    class_prior: float = 0.05
    label_frequency: float = 0.2
    cases: int = 300
    favoured: float = 1.0
    flagged: float = 1.0
    planned_off: float = 1.4
    above: float | None = None

    def __str__(self) -> str:
        return (
            f"{self.name}, prior {self.class_prior:g}, c {self.label_frequency:g}, "
            f"{self.cases} cases"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """Scores of the half of a data set that the model was not trained on."""

    positives: FloatArray
    negatives: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """Rows in ascending order of their scores; above the threshold are as many as positives."""

    score: FloatArray
    positive: BoolArray
    confirmed: BoolArray
    threshold: float

    def truth(self) -> dict[str, float]:
        """The metrics of the window's own rows."""
        above = self.score >= self.threshold
        hits, found = float((above & self.positive).sum()), float(self.positive.sum())
        negatives = float((~self.positive).sum())
        start = np.searchsorted(self.score, self.score, side="left")
        stop = np.searchsorted(self.score, self.score, side="right")
        below = np.append(0, np.cumsum(~self.positive))
        won = 0.5 * (below[start] + below[stop])[self.positive].sum()
        return {
            "class_prior": found / len(above),
            "precision": hits / above.sum(),
            "recall": hits / found,
            "f1": 2 * hits / (found + above.sum()),
            "auc": float(won) / (found * negatives),
        }


@lru_cache(maxsize=8)
def pool(name: str) -> Pool:
    """Score the half of a data set that gradient-boosted trees were not trained on.

    "normal" is of no data set: scores are normal, positives two standard deviations higher.
    """
    if name == "normal":
        drawn = np.random.default_rng(0).standard_normal((2, 100_000))
        return Pool(positives=drawn[0] + 2, negatives=drawn[1])
    from sklearn.ensemble import HistGradientBoostingClassifier

    table = datasets.load_table(name)
    if name == "bank":  # how long the call took is known only after it
        table = table.drop(columns=["duration"])
    known = as_numbers(name, table)
    numbers, positive = known.features, _positive(name, known.target)
    order = np.random.default_rng(0).permutation(len(numbers))
    train, rest = np.array_split(order, 2)
    model = HistGradientBoostingClassifier(max_iter=100, random_state=0)
    model.fit(numbers[train], positive[train])
    score = model.predict_proba(numbers[rest])[:, 1]
    return Pool(positives=score[positive[rest]], negatives=score[~positive[rest]])


def _positive(name: str, target: NDArray[Any]) -> BoolArray:
    match name:
        case "casp":
            return np.asarray(target < np.quantile(target, 0.1))
        case "bank":
            return np.asarray(target == "yes")
        case "covertype_16pct":
            return np.asarray(target == 3)
        case _:
            return np.asarray(target == 1)


def window(cell: Cell, rng: np.random.Generator) -> Window:
    """Draw a window: rows with replacement, positives and confirmations at random."""
    rows = pool(cell.name)
    threshold = float(_threshold(cell.name, cell.class_prior))
    count = int(rng.binomial(ROWS, cell.class_prior))
    score = np.concatenate(
        [rng.choice(rows.positives, count), rng.choice(rows.negatives, ROWS - count)]
    )
    order = np.argsort(score, kind="stable")
    positive = order < count
    chance = np.zeros(ROWS)
    share = (np.arange(count) + 0.5) / count
    weight = cell.favoured**share * np.where(score[order][positive] >= threshold, cell.flagged, 1)
    chance[positive] = np.minimum(cell.label_frequency * weight / weight.mean(), 0.98)
    return Window(
        score=score[order],
        positive=positive,
        confirmed=rng.random(ROWS) < chance,
        threshold=threshold,
    )


@lru_cache(maxsize=64)
def _threshold(name: str, class_prior: float) -> float:
    """Above it lie as many rows as there are positives."""
    rows = pool(name)
    levels = np.unique(np.concatenate([rows.positives, rows.negatives]))
    above = class_prior * _above(rows.positives, levels)
    above = above + (1 - class_prior) * _above(rows.negatives, levels)
    return float(levels[np.argmin(np.abs(above - class_prior))])


def _above(scores: FloatArray, levels: FloatArray) -> FloatArray:
    return 1 - np.searchsorted(np.sort(scores), levels, side="left") / len(scores)


def designed(cell: Cell, rows: Window, metrics: tuple[str, ...] = ("f1",)) -> AuditDesign:
    """The audit as planned with odds of c that are wrong."""
    table = ScoreTable.from_arrays(
        rows.confirmed.astype(int), rows.score, thresholds=[rows.threshold]
    )
    found = float(rows.confirmed.sum() / max(rows.positive.sum(), 1))
    odds = cell.planned_off * np.clip(found, 0.01, 0.95) / (1 - np.clip(found, 0.01, 0.95))
    return design_audit(
        score_bins(table, threshold=rows.threshold),
        cases=cell.cases,
        label_frequency=float(odds / (1 + odds)),
        metrics=metrics,
        above=cell.above,
    )


def audited(
    design: AuditDesign,
    rows: Window,
    rng: np.random.Generator,
    *,
    specificity: float = 1.0,
    skipped: tuple[float, float] = (0.0, 0.0),
) -> AuditCounts:
    """Draw and review the audit's rows: `skipped` are shares of positives and of negatives."""
    place = design.bins.bin_of(rows.score)
    found = np.zeros((3, len(design.planned)), dtype=np.int64)
    for at, cases in enumerate(design.planned):
        unlabeled = np.flatnonzero((place == at) & ~rows.confirmed)
        truth = rows.positive[rng.choice(unlabeled, cases, replace=False)]
        decided = rng.random(cases) >= np.where(truth, *skipped)
        said = truth | (rng.random(cases) >= specificity)
        found[:, at] = decided.sum(), (decided & said).sum(), (~decided).sum()
    return AuditCounts.of(design.bins, decided=found[0], positive=found[1], undecided=found[2])
