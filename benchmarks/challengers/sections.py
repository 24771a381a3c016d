"""What `python -m benchmarks.challengers` measures, one function for each claim."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.challengers.learning import LARGE, LEARNERS, NINE, Task, auc, scores_of, task
from pumonitor.errors import InputError
from pumonitor.sklearn import PUAUCClassifier, PUAULClassifier

__all__ = ["SECTIONS", "Extent", "Row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much is run."""

    seeds: int
    sets: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A result: what, measured, claimed."""

    what: str
    measured: str
    claimed: str = ""


def size(extent: Extent) -> Iterator[Row]:
    """1: a million rows of 20 features."""
    del extent
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1_000_000, 20))
    labeled = rng.random(1_000_000) < 0.002
    rows[labeled] += 0.5
    for one in (PUAULClassifier(random_state=0), PUAUCClassifier(class_prior=0.1, random_state=0)):
        began = time.process_time()
        one.fit(rows, labeled)
        took = time.process_time() - began
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        yield Row(
            what=f"{type(one).__name__}: to fit",
            measured=f"{took:.1f} s of the processor, {memory:.2f} GB in all",
            claimed="60 s, 1 GB",
        )


_OFF: Final = 0.1


def figure_3(extent: Extent) -> Iterator[Row]:
    """2: PU_AUL and PU_AUC at a label frequency of .1, by AUC of held-out rows."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for name in [one for one in NINE if one in extent.sets]:
        known = task(name)
        for seed in range(extent.seeds):
            rng = np.random.default_rng([seed, 3])
            train, rest = known.halves(rng)
            labeled = known.positive[train] & (rng.random(len(train)) < 0.1)
            prior = float(known.positive[train].mean())
            models = (
                PUAULClassifier(random_state=seed),
                PUAUCClassifier(class_prior=prior, random_state=seed),
                PUAUCClassifier(class_prior=min(prior + _OFF, 0.999), random_state=seed),
            )
            found.setdefault(name, []).append(
                tuple(_judged(model, known, train, labeled, rest) for model in models)
            )
        means = np.mean(found[name], axis=0)
        yield Row(
            what=f"{name}: AUC of PU_AUL, PU_AUC with the true class prior and with .1 more",
            measured=", ".join(map(_number, means)),
        )
    means = np.array([np.mean(one, axis=0) for one in found.values()])
    for at, what in ((1, "the true class prior"), (2, "a class prior .1 higher")):
        won = (means[:, 0] > means[:, at]) | np.isnan(means[:, at])
        yield Row(
            what=f"sets on which PU_AUL is above PU_AUC with {what}, or that has no least loss",
            measured=f"{int(won.sum())} of {len(means)}",
            claimed="8 of 9",
        )
    both = means[~np.isnan(means).any(axis=1)]
    gaps = means[:, 0] - means[:, 1]
    widest = int(np.nanargmax(gaps))
    yield Row(
        what=f"mean AUC of the three on the {len(both)} sets where all have a least loss, and the "
        "largest gap there",
        measured=", ".join(map(_number, both.mean(axis=0)))
        + f"; {list(found)[widest]} {gaps[widest]:.3f}",
        claimed=".924, .902, .886; Pageblock .16, on all sets",
    )


def _number(auc_of_rest: float) -> str:
    return "no least loss" if np.isnan(auc_of_rest) else f"{auc_of_rest:.3f}"


def _judged(
    model: PUAULClassifier | PUAUCClassifier,
    known: Task,
    train: NDArray[np.intp],
    labeled: NDArray[np.bool_],
    rest: NDArray[np.intp],
) -> float:
    """AUC of held-out rows; NaN where the loss has no minimum."""
    try:
        model.fit(known.features[train], labeled)
    except InputError:
        return float("nan")
    return auc(model.decision_function(known.features[rest]), known.positive[rest])


def learners(extent: Extent) -> Iterator[Row]:
    """3: twelve learners at 20, 100 and 1000 confirmed positives, by AUC of held-out rows."""
    names = [one for one in (*NINE, *LARGE) if one in extent.sets]
    found: dict[tuple[str, int], dict[str, list[float]]] = {}
    for name in names:
        known = task(name)
        for confirmed in (20, 100, 1000):
            for seed in range(extent.seeds):
                rng = np.random.default_rng([seed, 4])
                train, rest = known.halves(rng)
                positives = np.flatnonzero(known.positive[train])
                if len(positives) < 2 * confirmed:
                    continue
                labeled = np.zeros(len(train), dtype=bool)
                labeled[rng.choice(positives, confirmed, replace=False)] = True
                at = found.setdefault((name, confirmed), {})
                for learner, make in LEARNERS.items():
                    reached = float("nan")
                    with suppress(InputError):  # a loss without a minimum
                        scores = scores_of(make, known, train, labeled, seed)
                        reached = auc(scores[rest], known.positive[rest])
                    at.setdefault(learner, []).append(reached)
        yield Row(what=f"{name}: 20, 100, 1000 confirmed", measured=_best(found, name))
    for confirmed in (20, 100, 1000):
        cells = [one for (_, count), one in found.items() if count == confirmed]
        if not cells:
            continue
        means = {
            learner: float(np.nanmean([_mean(cell[learner]) for cell in cells]))
            for learner in LEARNERS
        }
        for learner, mean in sorted(means.items(), key=lambda one: -one[1]):
            yield Row(
                what=f"{confirmed} confirmed, mean of {len(cells)} sets: {learner}",
                measured=f"{mean:.3f}",
                claimed=_CLAIMED.get((learner, confirmed), ""),
            )


_CLAIMED: Final[Mapping[tuple[str, int], str]] = {
    ("trees, scikit-learn's defaults", 20): ".763",
    ("trees, scikit-learn's defaults", 100): ".877",
    ("trees, l2 10", 20): ".844",
    ("trees, l2 10", 100): ".900",
    ("PU_AUL", 20): ".827",
    ("PU_AUL", 100): ".892",
    ("challenger", 20): ".855, at most .002 below shrunken trees",
    ("challenger", 100): ".909, at most .002 below shrunken trees",
    ("challenger", 1000): "at most .002 below shrunken trees",
}


def _mean(values: Sequence[float]) -> float:
    """Over seeds with a least loss; NaN where none has."""
    known = [one for one in values if not np.isnan(one)]
    return float(np.mean(known)) if known else float("nan")


def _best(found: Mapping[tuple[str, int], Mapping[str, Sequence[float]]], name: str) -> str:
    told = []
    for confirmed in (20, 100, 1000):
        cell = found.get((name, confirmed))
        if cell is None:
            told.append("too few positives")
            continue
        means = {learner: _mean(values) for learner, values in cell.items()}
        best = max(means, key=lambda one: np.nan_to_num(means[one]))
        shown = ("challenger", "trees, l2 10", "PU_AUL")
        told.append(
            ", ".join(f"{one} {means[one]:.3f}" for one in shown)
            + f" (best: {best} {means[best]:.3f})"
        )
    return "; ".join(told)


SECTIONS: Final[Mapping[str, Callable[[Extent], Iterator[Row]]]] = {
    "size": size,
    "figure3": figure_3,
    "learners": learners,
}
