"""Positives over the rows of a window by the draws of an audit, and what follows at a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pumonitor._arrays import FloatArray
from pumonitor.audit.posterior import PositivesByBin
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import Rates
from pumonitor.results import Estimate
from pumonitor.stats.quantiles import quantiles
from pumonitor.tables import ScoreTable

_SEED: Final = 23
_ROUNDS: Final = 6
_NOTHING: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditedPositives:
    """Positives in each cell of a table, by draw of an audit.

    Attributes
    ----------
    thresholds : ndarray of shape (cells + 1,)
        Lowest score of each cell, then one above the highest score.
    rows : ndarray of shape (cells,)
    tied : ndarray of shape (cells,) of bool
        Whether all rows of the cell have one score.
    counts : ndarray of shape (draws, cells)
        Positives.
    rows_above : ndarray of shape (cells + 1,)
        Rows at or above each threshold.
    counts_above : ndarray of shape (draws, cells + 1)
        Positives at or above each threshold.
    """

    thresholds: FloatArray
    rows: FloatArray
    tied: NDArray[np.bool_]
    counts: FloatArray
    rows_above: FloatArray
    counts_above: FloatArray

    @classmethod
    def of(cls, table: ScoreTable, posterior: PositivesByBin) -> AuditedPositives:
        """Spread the positives of each score bin over its cells.

        How many there are in a bin the audit tells. Where in it they score is taken from its
        confirmed ones: wrong where inside a bin some scores are confirmed more often than others.

        Parameters
        ----------
        table : ScoreTable
            Of the rows that the audit was read with. A cell across an edge of the bins goes to the
            bin of its middle.
        posterior : AuditPosterior
        """
        bins = posterior.bins
        place = bins.bin_of(0.5 * (table.lower + table.upper))
        rows = np.asarray(table.labeled + table.unlabeled + table.negative)
        counts = np.zeros((len(posterior.positives), len(rows)))
        rng = np.random.default_rng(_SEED)
        for at, positives in enumerate(posterior.positives.T):
            cells = np.flatnonzero(place == at)
            if len(cells) > 0:
                labeled = table.labeled[cells]
                counts[:, cells] = spread(
                    positives,
                    labeled,
                    least=labeled,
                    most=rows[cells],
                    unseen=1 - labeled.sum() / np.maximum(positives, 1e-9),
                    rng=rng,
                )
        return cls(
            thresholds=np.concatenate([table.lower, [np.nextafter(table.upper[-1], np.inf)]]),
            rows=rows,
            tied=table.lower == table.upper,
            counts=counts,
            rows_above=_above(rows),
            counts_above=_above(counts),
        )

    @property
    def rates(self) -> Rates:
        """At every threshold: class prior (draws, 1), recall and false-positive rate by draw."""
        return self.rates_at(slice(None))

    def rates_at(self, places: slice) -> Rates:
        """The same at some of the thresholds."""
        total, rows = self.counts_above[:, :1], self.rows_above[places]
        positives = self.counts_above[:, places]
        negatives, all_negatives = rows - positives, self.rows_above[0] - total
        # A draw in which all rows are positive has none that could be false.
        false = np.divide(
            negatives, all_negatives, out=np.zeros_like(negatives), where=all_negatives > 0
        )
        return Rates(
            class_prior=total / self.rows_above[0],
            recall=positives / total,
            false_positive_rate=false,
            predicted_positive_rate=rows / self.rows_above[0],
        )

    def average_precision(self) -> FloatArray:
        """By draw: the mean over positives of the precision at their score.

        Those of a cell are taken to be at its middle, and those of one score to be flagged all
        together.
        """
        positives, rows = _above(self.counts), _above(self.rows)
        part = np.where(self.tied, 1.0, 0.5)
        reached = positives[:, 1:] + part * self.counts
        flagged = rows[1:] + part * self.rows
        precision = np.divide(
            reached,
            flagged,
            out=np.zeros_like(reached),
            where=np.broadcast_to(flagged, reached.shape) > 0,
        )
        return np.asarray((precision * self.counts).sum(axis=1) / self.counts_above[:, 0])

    def recall_in_top(self, share: float) -> FloatArray:
        """By draw: share of the positives among this share of the rows, the highest scores."""
        flagged = self.rows_above[::-1] / self.rows_above[0]
        found = self.rates.recall[:, ::-1]
        after = int(np.clip(np.searchsorted(flagged, share), 1, len(flagged) - 1))
        width = flagged[after] - flagged[after - 1]
        part = (share - flagged[after - 1]) / width if width > 0 else 0.0
        return np.asarray(found[:, after - 1] + part * (found[:, after] - found[:, after - 1]))


def estimate_of_draws(
    problem: Problem,
    name: str,
    draws: ArrayLike,
    value_range: tuple[float, float] = (0.0, 1.0),
    *,
    undefined_reason: str = "the draws have no value",
) -> Estimate:
    """Median and equal-tailed interval of a quantity by the draws of an audit.

    Parameters
    ----------
    problem : Problem
        Whose confidence level and rows are stated.
    name : str
    draws : array-like of shape (draws,)
    value_range : (float, float)
        What the quantity can be.
    undefined_reason : str
        Said where a draw has no value.
    """
    drawn, tail = np.asarray(draws, dtype=float), 0.5 * (1 - problem.confidence_level)
    if np.isnan(drawn).any():
        return problem.undefined(name, undefined_reason)
    low, value, high = quantiles(drawn, [tail, 0.5, 1 - tail])
    return Estimate(
        name=name,
        value=float(value),
        low=float(low),
        high=float(high),
        confidence_level=problem.confidence_level,
        method="audit",
        n_labeled=problem.table.n_labeled,
        n_unlabeled=problem.table.n_unlabeled,
        se=float(drawn.std()),
        range=value_range,
    )


def spread(
    drawn: FloatArray,
    labeled: FloatArray,
    *,
    least: FloatArray,
    most: FloatArray,
    unseen: ArrayLike = 1.0,
    rng: np.random.Generator,
) -> FloatArray:
    """Positives of a bin, or what they are worth, over its cells, a draw a row.

    As its labeled rows lie, of which there is one more, spread as `most` is; with their sampling
    error.

    Parameters
    ----------
    drawn : ndarray of shape (draws,)
        Of the bin.
    labeled, least, most : ndarray of shape (cells,)
        Labeled rows, and between what each cell is.
    unseen : array-like of shape (draws,)
        The part of the sampling variance that is left: which positives are labeled is known.
    rng : numpy Generator
    """
    counted = labeled + most / most.sum()
    size = (len(drawn), 1)
    middle = counted / (float(labeled.sum()) + 1)
    shares = rng.standard_gamma(np.broadcast_to(counted, (len(drawn), len(counted))))
    shares /= shares.sum(axis=1, keepdims=True)
    left = np.sqrt(np.maximum(np.broadcast_to(unseen, len(drawn)), 0)).reshape(size)
    wanted = drawn.reshape(size)
    found = wanted * np.maximum(middle + (shares - middle) * left, 0)
    for _ in range(_ROUNDS):
        found = np.clip(found, least, most)
        missing = wanted - found.sum(axis=1, keepdims=True)
        if not (np.abs(missing) > _NOTHING * wanted).any():
            break
        room = np.where(missing > 0, most - found, found - least)
        found += room * np.clip(missing / np.maximum(room.sum(axis=1, keepdims=True), 1e-12), -1, 1)
    return np.asarray(found)


def _above(counts: FloatArray) -> FloatArray:
    """Sum over each cell and all higher ones, and 0 after the last."""
    running = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]
    return np.concatenate([running, np.zeros((*running.shape[:-1], 1))], axis=-1)
