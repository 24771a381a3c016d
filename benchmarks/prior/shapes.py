"""Pairs of score densities that `auto` was trained on: what positives and negatives can look like.

Some are as simple as can be, some nearly so, most are not. Where classes overlap, part of the
negatives is often like the positives; real tasks other than those reported show how much
(`_reducible`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["CELLS", "Pairs", "draw_pairs"]

FloatArray = NDArray[np.float64]

CELLS: Final = 400
_MIDDLES = (np.arange(CELLS) + 0.5) / CELLS


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Densities on cells, one pair per row, ascending by score.

    Attributes
    ----------
    scores, positive, negative : ndarray of shape (pairs, CELLS)
        Middle of each cell; shares of positives and of negatives, rows sum to 1.
    is_plain : ndarray of shape (pairs,)
        Two normals on the scores' own scale, neither bent nor tied.
    """

    scores: FloatArray
    positive: FloatArray
    negative: FloatArray
    is_plain: NDArray[np.bool_]


def draw_pairs(pairs: int, rng: np.random.Generator) -> Pairs:
    """Pairs from all families."""
    parts = []
    counts = rng.multinomial(pairs, [family.share for family in _FAMILIES])
    for family, count in zip(_FAMILIES, counts, strict=True):
        if count == 0:
            continue
        scores, positive, negative = family.densities(count, rng)
        scores = _bent(scores, rng, share=family.bent, by=family.bent_by)
        negative = _reducible(positive, negative, rng, share=family.reducible)
        plain = np.full(count, family.bent == 0)
        parts.append((scores, positive, negative, plain))
    scores, positive, negative, plain = (
        np.concatenate([part[column] for part in parts]) for column in range(4)
    )
    return Pairs(scores=scores, positive=positive, negative=negative, is_plain=plain)


def _normal(scores: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * ((scores - mean) / spread) ** 2) / spread)


def _normalised(density: FloatArray) -> FloatArray:
    return np.asarray(density / density.sum(axis=1, keepdims=True))


def _column(values: FloatArray) -> FloatArray:
    return values[:, np.newaxis]


def _two_normals(
    pairs: int, rng: np.random.Generator, *, alike: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Positives 0 to 5.5 above negatives; a share `alike` with equal spreads."""
    distance = _column(rng.uniform(-0.2, 5.5, pairs))
    spread = np.exp(rng.normal(0, 0.25, (pairs, 1)))
    spread = np.where(rng.random((pairs, 1)) < alike, 1.0, spread)
    lowest = np.minimum(-4.0, distance - 4 * spread)
    highest = np.maximum(4.0, distance + 4 * spread)
    scores = lowest + (highest - lowest) * _MIDDLES
    one = np.ones((pairs, 1))
    return (
        scores,
        _normalised(_normal(scores, distance, spread)),
        _normalised(_normal(scores, 0 * one, one)),
    )


def _mixtures(pairs: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Each class a normal and up to two more, which can lie within the other class."""
    distance = _column(rng.uniform(0.2, 6, pairs))
    spread = np.exp(rng.normal(0, 0.3, (pairs, 1)))
    scores = -5 + (distance + 10) * _MIDDLES
    positive = _normal(scores, distance, spread)
    negative = _normal(scores, np.zeros((pairs, 1)), np.ones((pairs, 1)))

    def another(
        lowest: float, highest: float, weight: FloatArray, centre: FloatArray | float
    ) -> FloatArray:
        mean = centre + rng.uniform(lowest, highest, (pairs, 1)) * (distance + 1)
        width = np.exp(rng.uniform(np.log(0.3), np.log(1.6), (pairs, 1)))
        return weight / (1 - 0.98 * weight) * _normal(scores, mean, width)

    for _ in range(2):
        weight = rng.beta(0.6, 2.0, (pairs, 1))
        positive = positive + another(-1.0, 0.6, weight, distance)
        weight = rng.beta(0.6, 2.0, (pairs, 1))
        weight = np.where(rng.random((pairs, 1)) < 0.5, 0.2 * weight, weight)
        negative = negative + another(-1.0, 0.8, weight, 0.0)
    return scores, _normalised(positive), _normalised(negative)


def _logistic(scores: FloatArray) -> FloatArray:
    falling = np.exp(-np.abs(scores))
    return np.asarray(falling / (1 + falling) ** 2)


def _student(scores: FloatArray) -> FloatArray:
    return np.asarray((1 + scores**2 / 4) ** -2.5)


def _largest(scores: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-scores - np.exp(np.minimum(-scores, 30))))


def _smallest(scores: FloatArray) -> FloatArray:
    return _largest(-scores)


_SHAPES: Final = (_logistic, _student, _largest, _smallest)


def _shifted(pairs: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Logistic, Student t or extreme values, moved and widened; or two betas."""
    kind = rng.integers(len(_SHAPES), size=pairs)
    distance, spread = _column(rng.uniform(1.0, 9.0, pairs)), np.exp(rng.normal(0, 0.3, (pairs, 1)))
    scores = -8 + (distance + 16) * _MIDDLES
    positive, negative = np.empty((2, pairs, CELLS))
    for number, shape in enumerate(_SHAPES):
        of_kind = kind == number
        positive[of_kind] = shape((scores[of_kind] - distance[of_kind]) / spread[of_kind])
        negative[of_kind] = shape(scores[of_kind])
    betas = rng.random(pairs) < 0.4
    count = int(betas.sum())
    # Cells dense at both ends, where betas can be steep.
    chance = np.sin(0.5 * np.pi * _MIDDLES) ** 2
    width = np.sqrt(chance * (1 - chance))

    def beta(first: tuple[float, float], second: tuple[float, float]) -> FloatArray:
        up, down = (
            np.exp(rng.uniform(np.log(least), np.log(most), (count, 1)))
            for least, most in (first, second)
        )
        log_density = (up - 1) * np.log(chance) + (down - 1) * np.log1p(-chance)
        return np.asarray(np.exp(log_density) * width)

    positive[betas] = beta((1.0, 10.0), (0.5, 3.0))
    negative[betas] = beta((0.5, 3.0), (1.5, 20.0))
    scores[betas] = -4 + 8 * _MIDDLES
    return scores, _normalised(positive + 1e-15), _normalised(negative + 1e-15)


def _bent(scores: FloatArray, rng: np.random.Generator, *, share: float, by: float) -> FloatArray:
    """Another scale for a share of the pairs: skewed, and heavier or lighter in the tails."""
    mean, spread = scores.mean(axis=1, keepdims=True), scores.std(axis=1, keepdims=True)
    standardised = 1.7 * (scores - mean) / spread
    skew = rng.normal(0, by, (len(scores), 1))
    tails = np.exp(rng.normal(0, 0.6 * by, (len(scores), 1)))
    bent = np.sinh((np.arcsinh(standardised) + skew) * tails)
    return np.where(rng.random((len(scores), 1)) < share, bent, scores)


def _reducible(
    positive: FloatArray, negative: FloatArray, rng: np.random.Generator, *, share: float
) -> FloatArray:
    """Part of the negatives is like positives: the more, the more the rest is like them.

    The mean of that part is half of 1 - AUC: what was seen on the tasks `CHOSEN_ON`, where all
    estimators that look for the largest possible prior were too high by about that.
    """
    below = np.cumsum(negative, axis=1) - 0.5 * negative
    auc = _column(np.sum(positive * below, axis=1))
    part = rng.exponential(1.0, (len(positive), 1)) * 0.5 * np.clip(1 - auc, 0.002, 0.5)
    part = np.where(rng.random((len(positive), 1)) < share, np.minimum(part, 0.6), 0.0)
    return (1 - part) * negative + part * positive


@dataclass(frozen=True, slots=True, kw_only=True)
class _Family:
    share: float
    bent: float
    bent_by: float
    reducible: float
    densities: Callable[[int, np.random.Generator], tuple[FloatArray, FloatArray, FloatArray]]


_FAMILIES: Final = (
    _Family(
        share=0.2,
        bent=0.0,
        bent_by=0.0,
        reducible=0.03,
        densities=lambda pairs, rng: _two_normals(pairs, rng, alike=0.7),
    ),
    # Nearly normal: few rows cannot tell them from normals, and normals fitted to them mislead.
    _Family(
        share=0.13,
        bent=1.0,
        bent_by=0.15,
        reducible=0.3,
        densities=lambda pairs, rng: _two_normals(pairs, rng, alike=0.5),
    ),
    _Family(
        share=0.15,
        bent=0.8,
        bent_by=0.6,
        reducible=0.2,
        densities=lambda pairs, rng: _two_normals(pairs, rng, alike=0.4),
    ),
    _Family(share=0.3, bent=0.6, bent_by=0.6, reducible=0.6, densities=_mixtures),
    _Family(share=0.22, bent=0.6, bent_by=0.6, reducible=0.6, densities=_shifted),
)
