"""An index of the scores that is high where positives are: what the filter follows the mean of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray

_QUANTILES: Final = np.linspace(0.0, 1.0, 31)[1:-1]
_MOST: Final = 60.0
_RIDGE: Final = 1.0
_ITERATIONS: Final = 30
_CONVERGED: Final = 1e-8


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreIndex:
    """A rising step function of the score, close to the density of confirmed rows over all rows'.

    It is learned once, in the reference, and frozen: what a window's mean index says is then a
    matter of that window alone. Any function of the score would do for the filter's equations. This
    one lets a change of the class prior stand out most: with both densities known, the best
    function to tell the share of one of them from is their ratio. It is wrong for no scores, only
    less telling where the ratio is not smooth.

    Attributes
    ----------
    edges : ndarray of shape (cells - 1,)
        Cell k holds scores in [edges[k - 1], edges[k]).
    values : ndarray of shape (cells,)
        The index of each cell, never falling, at most 60.

    Notes
    -----
    exp of a quadratic logistic regression (ridge 1) on the normal scores of the cells' ranks, of
    confirmed rows against all rows at equal total weight; its running maximum.
    """

    edges: FloatArray
    values: FloatArray

    @classmethod
    def learned(cls, scores: FloatArray, labeled: FloatArray, rows: FloatArray) -> ScoreIndex:
        """From the cells of a reference.

        Parameters
        ----------
        scores : ndarray of shape (cells,)
            Of each cell, rising.
        labeled, rows : ndarray of shape (cells,)
            How many of its rows are confirmed, and how many it has.

        Raises
        ------
        ValueError
            Without confirmed rows.

        Examples
        --------
        >>> scores = np.linspace(0.0, 1.0, 101)
        >>> index = ScoreIndex.learned(scores, labeled=100 * scores**3, rows=np.full(101, 1000.0))
        >>> low, high = index.of(np.array([0.1, 0.9]))
        >>> bool(low < 0.3 < 2 < high)
        True
        """
        if not labeled.sum() > 0:
            msg = "an index cannot be learned without confirmed rows"
            raise ValueError(msg)
        edges = np.unique(np.concatenate([_quantiles(scores, labeled), _quantiles(scores, rows)]))
        cells = np.searchsorted(edges, scores, side="right")
        of_labeled = _summed(cells, labeled, len(edges) + 1)
        of_rows = _summed(cells, rows, len(edges) + 1)
        log_ratio = _regression(of_labeled, of_rows)
        values = np.exp(np.minimum(log_ratio, np.log(_MOST)))
        return cls(edges=edges, values=np.maximum.accumulate(values))

    def of(self, scores: FloatArray) -> FloatArray:
        """The index of scores, in their shape."""
        return np.asarray(self.values[np.searchsorted(self.edges, scores, side="right")])

    def moments(self, scores: FloatArray, rows: FloatArray) -> tuple[float, float]:
        """Mean and variance of the index over rows that are counted in cells; NaN without rows."""
        total = float(rows.sum())
        if total == 0:
            return np.nan, np.nan
        values = self.of(scores)
        mean = float(rows @ values) / total
        return mean, float(rows @ (values - mean) ** 2) / total


def _summed(cells: NDArray[np.intp], counts: FloatArray, size: int) -> FloatArray:
    return np.bincount(cells, counts, minlength=size).astype(np.float64)


def _quantiles(scores: FloatArray, counts: FloatArray) -> FloatArray:
    reached = np.cumsum(counts) / counts.sum()
    return np.asarray(scores[np.minimum(np.searchsorted(reached, _QUANTILES), len(scores) - 1)])


def _regression(labeled: FloatArray, rows: FloatArray) -> FloatArray:
    """Log odds of being among the labeled, of each cell, by Newton's method."""
    ranks = (np.cumsum(rows) - 0.5 * rows) / rows.sum()
    normal = special.ndtri(np.clip(ranks, 1e-6, 1 - 1e-6))
    design = np.stack([np.ones_like(normal), normal, normal**2], axis=1)
    others = rows * (labeled.sum() / rows.sum())
    ridge = np.diag([0.0, _RIDGE, _RIDGE])
    slopes = np.zeros(3)
    for _ in range(_ITERATIONS):
        chance = special.expit(design @ slopes)
        weight = (labeled + others) * chance * (1 - chance)
        gradient = design.T @ (labeled - (labeled + others) * chance) - ridge @ slopes
        step = np.linalg.solve(design.T @ (weight[:, np.newaxis] * design) + ridge, gradient)
        slopes = slopes + step
        if np.abs(step).max() < _CONVERGED:
            break
    return np.asarray(design @ slopes)
