"""Curves, average precision, best thresholds and the top of the list, by the draws of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pumonitor.audit.posterior import AuditPosterior
from pumonitor.metrics.curves import by_threshold, lift_curve, precision_recall_curve, roc_curve
from pumonitor.metrics.maxima import MAXIMIZED
from pumonitor.metrics.problem import Problem
from pumonitor.metrics.rates import Rates
from pumonitor.metrics.resampled import resample
from pumonitor.metrics.threshold_metric import ThresholdMetric
from pumonitor.metrics.top_k import share_of_k
from pumonitor.results import Curve, Estimate
from pumonitor.stats.quantiles import quantiles
from pumonitor.tables import ScoreTable

__all__ = ["audited_curves", "audited_estimates"]

FloatArray = NDArray[np.float64]

_CELLS: Final = 400
_CURVE_CELLS: Final = 200
_SEED: Final = 23
_ROUNDS: Final = 6
_ANY: Final = (-np.inf, np.inf)


def audited_estimates(
    problem: Problem, posterior: AuditPosterior, *, threshold: float, top_k: float
) -> dict[str, Estimate]:
    """What an audit says of the ranking beyond AUC, for the rows of the window.

    How many positives a score bin has the audit tells; where in it they score is taken from its
    confirmed ones, who are a fair sample of them. A best value is too high by what chance adds at
    the best of many thresholds (.015 of F1 at 300 cases). Where the ranking is nearly perfect,
    recall in the top of the list is too low (by .01 of .985 at AUC .99), since of the few
    positives in the lowest bins nothing tells where they lie.

    Parameters
    ----------
    problem : Problem
        Of the table that the audit was read with.
    posterior : AuditPosterior
    threshold : float
    top_k : float
        As in `pumonitor.evaluate`.

    Returns
    -------
    dict of str to Estimate
        "average_precision", "<metric>_max" with its threshold, "precision_at_k", "recall_at_k",
        "lift_at_k"; intervals are about these very rows.
    """
    edges = posterior.counts.bins.edges
    at = _Positives.of(
        problem.table.compress(_CELLS, thresholds=(threshold, *edges.tolist())), posterior
    )

    def estimate(
        name: str, draws: ArrayLike, value_range: tuple[float, float] = (0.0, 1.0)
    ) -> Estimate:
        drawn, tail = np.asarray(draws, dtype=float), 0.5 * (1 - problem.confidence_level)
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

    found = [estimate("average_precision", at.average_precision())]
    rates = at.rates
    for metric in MAXIMIZED:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(metric.formula(rates))
        # Only MCC lacks a value, where all rows are flagged or none: as a decision worth 0.
        values = np.where(np.isfinite(values), values, 0.0)
        value_range = metric.value_range(problem.class_prior.value)
        found += [
            estimate(f"{metric.name}_max", values.max(axis=1), value_range),
            estimate(f"{metric.name}_max_threshold", at.thresholds[values.argmax(axis=1)], _ANY),
        ]
    share = share_of_k(top_k, rows=float(at.rows.sum()))
    recall = at.recall_in_top(share)
    prior = rates.class_prior[:, 0]
    highest = 1.0 / max(share, problem.class_prior.value)
    found += [
        estimate("precision_at_k", recall * prior / share),
        estimate("recall_at_k", recall),
        estimate("lift_at_k", recall / share, (0.0, highest)),
    ]
    return {one.name: one for one in found}


def audited_curves(
    problem: Problem,
    posterior: AuditPosterior,
    *,
    threshold: float,
    metrics: tuple[ThresholdMetric, ...],
) -> dict[str, Curve]:
    """The curves of an evaluation by the draws of an audit, with their bands.

    Parameters
    ----------
    problem, posterior, threshold
        As in `audited_estimates`.
    metrics : tuple of ThresholdMetric
        Those with a curve by threshold.
    """
    seen = resample(problem, cells=_CURVE_CELLS, thresholds=(threshold,))
    at = _Positives.of(problem.table.compress(_CURVE_CELLS, thresholds=(threshold,)), posterior)
    size = len(seen.labeled_draws)
    drawn = at.rates.recall[:size]
    mean = at.counts.mean(axis=0)
    redrawn = replace(
        seen,
        labeled_above=_above(mean) / mean.sum(),
        labeled_draws=drawn,
        population_draws=np.broadcast_to(seen.population_above, drawn.shape),
        prior_draws=at.rates.class_prior[:size],
    )
    return {
        "roc": roc_curve(problem, redrawn),
        "precision_recall": precision_recall_curve(problem, redrawn),
        "lift": lift_curve(problem, redrawn),
        **_with_medians(by_threshold(problem, redrawn, metrics), at.rates, metrics),
    }


def _with_medians(
    curves: Mapping[str, Curve], rates: Rates, metrics: Sequence[ThresholdMetric]
) -> dict[str, Curve]:
    """Curves by threshold whose points are medians of the draws, as the estimates are."""
    found = dict(curves)
    for metric in metrics:
        curve = curves[f"{metric.name}_by_threshold"]
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = np.broadcast_to(metric.formula(rates), rates.recall.shape)[:, : len(curve.x)]
        # Where nothing or everything is flagged MCC has no value.
        middle = np.where(np.isnan(drawn).any(axis=0), curve.y, np.median(drawn, axis=0))
        low, high = np.minimum(curve.low, middle), np.maximum(curve.high, middle)
        found[curve.name] = replace(curve, y=middle, low=low, high=high)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Positives:
    """Positives in each cell of a table, by draw of an audit.

    Attributes
    ----------
    thresholds : ndarray of shape (cells + 1,)
        Lowest score of each cell, then one above the highest score.
    rows : ndarray of shape (cells,)
    tied : ndarray of shape (cells,) of bool
        Whether all rows of the cell have one score.
    counts : ndarray of shape (draws, cells)
    """

    thresholds: FloatArray
    rows: FloatArray
    tied: NDArray[np.bool_]
    counts: FloatArray

    @classmethod
    def of(cls, table: ScoreTable, posterior: AuditPosterior) -> _Positives:
        bins = posterior.counts.bins
        # A cell across an edge goes to the bin of its middle.
        place = bins.bin_of(0.5 * (table.lower + table.upper))
        rows = np.asarray(table.labeled + table.unlabeled + table.negative)
        counts = np.zeros((len(posterior.positives), len(rows)))
        rng = np.random.default_rng(_SEED)
        for at, positives in enumerate(posterior.positives.T):
            cells = np.flatnonzero(place == at)
            if len(cells) > 0:
                counts[:, cells] = _spread(positives, table.labeled[cells], rows[cells], rng)
        return cls(
            thresholds=np.concatenate([table.lower, [np.nextafter(table.upper[-1], np.inf)]]),
            rows=rows,
            tied=table.lower == table.upper,
            counts=counts,
        )

    @property
    def rates(self) -> Rates:
        """At every threshold: class prior (draws, 1), recall and false-positive rate by draw."""
        positives, rows = _above(self.counts), _above(self.rows)
        negatives = rows - positives
        # A draw in which all rows are positive has none that could be false.
        false = np.divide(
            negatives, negatives[:, :1], out=np.zeros_like(negatives), where=negatives[:, :1] > 0
        )
        return Rates(
            class_prior=positives[:, :1] / rows[0],
            recall=positives / positives[:, :1],
            false_positive_rate=false,
            predicted_positive_rate=rows / rows[0],
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
        return np.asarray((precision * self.counts).sum(axis=1) / positives[:, 0])

    def recall_in_top(self, share: float) -> FloatArray:
        """By draw: share of the positives among this share of the rows, the highest scores."""
        rows = _above(self.rows)
        flagged = rows[::-1] / rows[0]
        found = self.rates.recall[:, ::-1]
        after = int(np.clip(np.searchsorted(flagged, share), 1, len(flagged) - 1))
        width = flagged[after] - flagged[after - 1]
        part = (share - flagged[after - 1]) / width if width > 0 else 0.0
        return np.asarray(found[:, after - 1] + part * (found[:, after] - found[:, after - 1]))


def _spread(
    positives: FloatArray, labeled: FloatArray, rows: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Positives of a bin over its cells, a draw a row.

    As its labeled rows lie, of which there is one more, spread as all rows are; with their
    sampling error, less that part of the positives which is labeled. No cell has fewer positives
    than labeled rows or more than rows.
    """
    total, one_more = float(labeled.sum()), rows / rows.sum()
    size = (len(positives), 1)
    middle = (labeled + one_more) / (total + 1)
    drawn = rng.standard_gamma(np.broadcast_to(labeled + one_more, (len(positives), len(rows))))
    drawn /= drawn.sum(axis=1, keepdims=True)
    unseen = np.sqrt(np.maximum(1 - total / np.maximum(positives, 1e-9), 0)).reshape(size)
    wanted = positives.reshape(size)
    found = wanted * np.maximum(middle + (drawn - middle) * unseen, 0)
    for _ in range(_ROUNDS):
        found = np.clip(found, labeled, rows)
        missing = wanted - found.sum(axis=1, keepdims=True)
        room = np.where(missing > 0, rows - found, found - labeled)
        found += room * np.clip(missing / np.maximum(room.sum(axis=1, keepdims=True), 1e-12), -1, 1)
    return np.asarray(found)


def _above(counts: FloatArray) -> FloatArray:
    """Sum over each cell and all higher ones, and 0 after the last."""
    running = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]
    return np.concatenate([running, np.zeros((*running.shape[:-1], 1))], axis=-1)
