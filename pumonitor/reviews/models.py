"""Several models on rows with reviews: what is said of each, and of the difference of any two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.results import ClassPriorEstimate, Estimate
from pumonitor.reviews.estimation import ReviewPosterior
from pumonitor.reviews.queue_score import ModelBins, QueueRows
from pumonitor.reviews.reading import ReviewedEstimates
from pumonitor.stats.quantiles import quantiles
from pumonitor.tables import ScoreTable

__all__ = ["ReviewedModels"]

_RANKING: Final = ("auc", "aul")
_ANY: Final = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewedModels:
    """Models that scored the same rows, some of which a queue reviewed.

    Attributes
    ----------
    tables : mapping of str to ScoreTable
        Of each model, by what is known of its rows.
    readings : mapping of str to ReviewedEstimates
        Of each model, all from one posterior along the score that filled the queue.
    ranked_by : str or None
        The model whose score that is; None where it is the score of none of them.
    by_queue : tuple of ReviewPosterior
        Along that score, by what undecided rows may be.
    rows : QueueRows
        By bin of that score.
    bins_of_row : mapping of str to ndarray of shape (n,)
        By bin of each model's score.
    scores : mapping of str to ndarray of shape (n,)
    kinds : ndarray of shape (n,)
        Index into `pumonitor.reviews.KINDS` of each row.
    """

    tables: Mapping[str, ScoreTable]
    readings: Mapping[str, ReviewedEstimates]
    ranked_by: str | None
    by_queue: tuple[ReviewPosterior, ...]
    rows: QueueRows
    bins_of_row: Mapping[str, NDArray[np.intp]]
    scores: Mapping[str, NDArray[np.float64]]
    kinds: NDArray[np.intp]

    @property
    def class_prior(self) -> ClassPriorEstimate:
        """The one of all models: how many positives there are does not depend on their scores."""
        return self._first.class_prior

    def facts(self) -> dict[str, Any]:
        """What reviews were and how they were read, as settings of results have it."""
        return {"ranked_by": self.ranked_by, "reviews": self._first.to_dict()}

    @property
    def _first(self) -> ReviewedEstimates:
        first = next(iter(self.readings)) if self.ranked_by is None else self.ranked_by
        return self.readings[first]

    def differences(
        self, first: str, second: str, values: Mapping[str, float]
    ) -> dict[str, Estimate]:
        """Differences whose values are given, by metric, with intervals of paired draws.

        Every draw says of all models how many positives there are and where; where rows are
        undecided intervals hold whatever those may be. Models alike in every decision, or in the
        order of their scores, differ by exactly 0.

        Parameters
        ----------
        first, second : str
        values : mapping of str to float
            First less second, by metric.

        Notes
        -----
        ``docs/decisions/reviews.md`` derives why hidden positives of both are placed together.
        """
        reading = self._first
        drawn = self.draws(first, second, tuple(values))
        tail = 0.5 * (1 - reading.confidence_level)
        nothing = replace(
            reading.estimates["auc"], value=0.0, low=0.0, high=0.0, se=0.0, range=_ANY
        )
        differences = {}
        for metric, value in values.items():
            differences[metric] = replace(nothing, name=f"{metric}_difference")
            each = drawn[metric]
            if not any(draws.any() for draws in each):
                continue
            ends = np.array([quantiles(draws, [tail, 1 - tail]) for draws in each])
            differences[metric] = replace(
                differences[metric],
                value=value,
                low=float(min(value, ends.min())),
                high=float(max(value, ends.max())),
                se=float(each[0].std()),
            )
        return differences

    def draws(
        self, first: str, second: str, metrics: Sequence[str]
    ) -> dict[str, list[NDArray[np.float64]]]:
        """Draws of differences, first less second, by metric and by what undecided rows may be."""
        drawn = [
            [posterior.all_metrics(beta=self._first.f_beta) for posterior in pair]
            for pair in self._paired(first, second)
        ]
        decide_alike, rank_alike = self._alike(first, second)
        return {
            metric: [
                np.zeros_like(of_first[metric])
                if (rank_alike if metric in _RANKING else decide_alike)
                else of_first[metric] - of_second[metric]
                for of_first, of_second in drawn
            ]
            for metric in metrics
        }

    def _paired(self, first: str, second: str) -> list[list[ReviewPosterior]]:
        """Draws of both models that go together, by what undecided rows may be."""
        pair = [self.readings[name] for name in (first, second)]
        if self.ranked_by in (first, second):
            # Along its own score a model's positives are the posterior itself, from which those of
            # the other were placed.
            return [list(both) for both in zip(*(each.posteriors for each in pair), strict=True)]
        models = [
            ModelBins(reading.counts, self.bins_of_row[name])
            for name, reading in zip((first, second), pair, strict=True)
        ]
        return [self.rows.along_models(posterior, models) for posterior in self.by_queue]

    def _alike(self, first: str, second: str) -> tuple[bool, bool]:
        """Whether two models decide alike, and whether they order rows alike."""
        flagged, other_flagged = (
            self.readings[name].counts.bins.above[self.bins_of_row[name]]
            for name in (first, second)
        )
        order, other_order = (
            np.unique(self.scores[name], return_inverse=True)[1] for name in (first, second)
        )
        return np.array_equal(flagged, other_flagged), np.array_equal(order, other_order)
