"""Two or three models beside a queue: whether intervals of differences hold the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.reviews.windows import Window, positives_of_entities
from pumonitor.comparison import compare
from pumonitor.reviews.given import Reviews

__all__ = ["COMPARED", "PairCell", "measure_pair", "pair_cells", "pair_cells_of_entities"]

COMPARED: Final = ("recall", "precision", "f1", "auc")
_SHIFTS: Final = {"flat": 0.0, "rising": 1.0, "falling": -1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCell:
    """Normal scores of two models that go together, and the queue that one score filled.

    Attributes
    ----------
    auc, other_auc : float
        Of the models that are compared.
    queue : {"first", "another"}
        Whether the first model's score filled the queue, or that of a third model of AUC .9.
    correlation : float
        Of any two scores, among positives and among negatives.
    class_prior, reviewed, complains : float
        As in `Cell`.
    shape : {"flat", "rising", "falling"}
        As in `Cell`, along the score that filled the queue.
    rows : int
    blocks : bool
    most, alike
        As in `Cell`.
    """

    auc: float = 0.9
    other_auc: float = 0.9
    queue: str = "first"
    correlation: float = 0.6
    class_prior: float = 0.02
    reviewed: float = 0.02
    complains: float = 0.5
    shape: str = "flat"
    rows: int = 20_000
    blocks: bool = True
    most: int = 1
    alike: float = 0.5

    def __str__(self) -> str:
        parts = [
            f"AUC {self.auc:g} and {self.other_auc:g}",
            f"queue of {self.queue}",
            f"correlation {self.correlation:g}",
            f"prior {self.class_prior:g}",
            self.shape,
            "blocks" if self.blocks else "does not block",
            *([] if self.most == 1 else [f"most {self.most}, alike {self.alike:g}"]),
        ]
        return ", ".join(parts)


def pair_cells() -> Iterator[PairCell]:
    """Models equal, the second better, and worse; then other queues and scores."""
    for blocks in (True, False):
        for auc, other in ((0.9, 0.9), (0.8, 0.9), (0.95, 0.88)):
            for prior in (0.01, 0.03):
                yield PairCell(auc=auc, other_auc=other, class_prior=prior, blocks=blocks)
    yield PairCell(correlation=0.95, queue="another")
    yield PairCell(auc=0.85, other_auc=0.92, queue="another", blocks=False)
    yield PairCell(auc=0.85, other_auc=0.92, correlation=0.0)
    yield PairCell(shape="falling")


def pair_cells_of_entities() -> Iterator[PairCell]:
    """The same where positives share entities."""
    for blocks in (True, False):
        for queue in ("first", "another"):
            for most, alike in ((5, 0.5), (20, 0.9)):
                yield PairCell(blocks=blocks, queue=queue, most=most, alike=alike)


def measure_pair(
    cell: PairCell, *, runs: int, seed: int, use_entity: bool = True
) -> tuple[dict[str, float], dict[str, float], dict[str, list[float]]]:
    """Coverage and median width of differences by metric, and shares of verdicts."""
    held: dict[str, list[bool]] = {name: [] for name in COMPARED}
    wide: dict[str, list[float]] = {name: [] for name in COMPARED}
    verdicts: dict[str, list[list[bool]]] = {name: [] for name in COMPARED}
    for run in range(runs):
        windows, ranking = _draw(cell, np.random.default_rng([seed, run]))
        first, second = windows
        comparison = compare(
            first.complained,
            {"first": first.score, "second": second.score},
            threshold={"first": first.threshold, "second": second.threshold},
            reviews=Reviews(first.reviews.given, blocks=cell.blocks, ranked_by=ranking),
            entity=first.entity if cell.most > 1 and use_entity else None,
        ).differences("second", "first", metrics=COMPARED)
        truth, second_truth = first.truth(), second.truth()
        for name in COMPARED:
            low, high = comparison[name].low, comparison[name].high
            held[name].append(low <= second_truth[name] - truth[name] <= high)
            wide[name].append(high - low)
            verdicts[name].append([low > 0, high < 0])
    return (
        {name: float(np.mean(each)) for name, each in held.items()},
        {name: float(np.median(each)) for name, each in wide.items()},
        {name: np.mean(each, axis=0).tolist() for name, each in verdicts.items()},
    )


def _draw(
    cell: PairCell, rng: np.random.Generator
) -> tuple[tuple[Window, Window], NDArray[np.float64] | None]:
    """A window as both models score it, and the third score where that filled the queue."""
    positive, entity = rng.random(cell.rows) < cell.class_prior, np.arange(cell.rows)
    if cell.most > 1:
        positive, entity = positives_of_entities(cell, rng)

    def normal() -> NDArray[np.float64]:
        each = rng.normal(size=cell.rows)
        if cell.most == 1:
            return each
        together = rng.normal(size=cell.rows)[entity]
        return np.where(
            positive, np.sqrt(cell.alike) * together + np.sqrt(1 - cell.alike) * each, each
        )

    shared = np.sqrt(cell.correlation) * normal()
    aucs = (cell.auc, cell.other_auc, 0.9)
    apart = [np.sqrt(2) * special.ndtri(auc) for auc in aucs]
    scores = [
        shared + np.sqrt(1 - cell.correlation) * normal() + shift * positive for shift in apart
    ]
    filled = 0 if cell.queue == "first" else 2
    ranking, size = scores[filled], max(round(cell.reviewed * cell.rows), 1)
    thresholds = [float(np.sort(score)[-size]) for score in scores]
    in_queue = ranking >= thresholds[filled]
    height = special.ndtr(ranking - apart[filled])
    chance = np.clip(cell.complains * 3 ** (_SHIFTS[cell.shape] * (height - 0.5)), 0, 1)
    complained = positive & (rng.random(cell.rows)[entity] < chance) & ~(in_queue & cell.blocks)
    reviews = Reviews(np.where(in_queue, positive, np.nan), blocks=cell.blocks, ranked_by=ranking)
    first, second = (
        Window(
            score=score,
            positive=positive,
            complained=complained,
            reviews=reviews,
            threshold=threshold,
            entity=entity,
        )
        for score, threshold in zip(scores[:2], thresholds[:2], strict=True)
    )
    return (first, second), None if filled == 0 else ranking
