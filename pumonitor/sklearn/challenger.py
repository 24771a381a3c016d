"""The learner of `pumonitor challenge --train`: shrunken trees and PU_AUL, ranks averaged."""

from __future__ import annotations

from numbers import Real
from typing import Any, Final, Self

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pumonitor._arrays import FloatArray
from pumonitor.sklearn.pairwise import PUAULClassifier
from pumonitor.sklearn.rows import ConfirmedClassifier, feature_rows, training_rows

_HALF_UP_TO: Final = 200
"""Confirmed positives up to which either ranking counts half; beyond, PU_AUL counts less."""
_MOST_LEVELS: Final = 20_001
"""Scores that are kept of the training rows, to tell the rank of others."""


class ChallengerClassifier(ConfirmedClassifier):
    """Boosted trees of confirmed against other rows, strongly shrunken, averaged with PU_AUL.

    Few confirmed positives decide what such trees learn, and no loss helps as much as shrinkage
    does: leaves that hold a handful of them say next to nothing. The two rankings err in different
    rows, so the mean of their ranks errs less than either; trees go on learning where PU_AUL has
    learned what it can, so from 200 confirmed positives on it counts less, in inverse proportion to
    their number (`python -m benchmarks.challengers --only learners`). It is wrong where confirmed
    positives are no fair sample of the positives.

    Parameters
    ----------
    l2_regularization : float
        Of the trees' leaves.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    trees_ : HistGradientBoostingClassifier
    ranking_ : PUAULClassifier
    ranking_share_ : float
        What PU_AUL counts for, at most one half.
    levels_ : tuple of two ndarray
        Scores of training rows by either, ascending.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(2000) < 0.3
    >>> rows = rng.normal(positive[:, np.newaxis], size=(2000, 2))
    >>> confirmed = positive & (rng.random(2000) < 0.1)
    >>> model = ChallengerClassifier(random_state=0).fit(rows, confirmed)
    >>> scores = model.decision_function(rows)
    >>> round(float((scores[positive][:, np.newaxis] > scores[~positive]).mean()), 2)
    0.79
    """

    def __init__(self, *, l2_regularization: float = 10.0, random_state: Any = None) -> None:
        self.l2_regularization = l2_regularization
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows, of which those of the greater label are confirmed positives.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            NaN where a value is missing.
        y : array-like of shape (rows,)
            1 confirmed positive, 0 unlabeled; -1 counts as 0.
        sample_weight : array-like of shape (rows,), optional

        Raises
        ------
        TooFewPositivesError
            If there is no confirmed positive.
        """
        if not isinstance(self.l2_regularization, Real) or self.l2_regularization < 0:
            msg = f"l2_regularization must be a number >= 0, got {self.l2_regularization!r}"
            raise ValueError(msg)
        rows, labeled, weight = training_rows(self, X, y, sample_weight)
        seed = check_random_state(self.random_state).randint(2**31)
        self.trees_: Any = HistGradientBoostingClassifier(
            l2_regularization=self.l2_regularization, early_stopping=False, random_state=seed
        ).fit(rows, labeled, sample_weight=weight)
        self.ranking_: PUAULClassifier = PUAULClassifier(random_state=seed).fit(
            rows, labeled, weight
        )
        confirmed = int((labeled & (weight > 0)).sum())
        self.ranking_share_: float = 0.5 * min(1.0, _HALF_UP_TO / confirmed)
        counted = rows[weight > 0]
        self.levels_: tuple[FloatArray, ...] = tuple(
            _levels(scores) for scores in self._scores(counted)
        )
        # Midway between confirmed and other rows, as of PU_AUL.
        ranks = self._ranks(counted)
        share, kept = weight[weight > 0], labeled[weight > 0]
        both = [np.average(ranks[side], weights=share[side]) for side in (kept, ~kept)]
        self.offset_: float = float(np.mean(both))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """The weighted mean of both ranks among training rows, less what lies midway; -1 to 1."""
        check_is_fitted(self)
        return np.asarray(self._ranks(feature_rows(self, X)) - self.offset_)

    def _scores(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.trees_.decision_function(rows), self.ranking_.decision_function(rows)

    def _ranks(self, rows: FloatArray) -> FloatArray:
        both = [
            _rank(scores, levels)
            for scores, levels in zip(self._scores(rows), self.levels_, strict=True)
        ]
        share = self.ranking_share_
        return np.asarray(np.average(both, axis=0, weights=[1 - share, share]))


def _levels(scores: FloatArray) -> FloatArray:
    ordered: FloatArray = np.sort(scores)
    if len(ordered) <= _MOST_LEVELS:
        return ordered
    places = np.linspace(0, len(ordered) - 1, _MOST_LEVELS).round().astype(int)
    return np.asarray(ordered[places])


def _rank(scores: FloatArray, levels: FloatArray) -> FloatArray:
    """Share of the training rows below, those alike counted half.

    Between two rows it rises with the score: no two scores are alike that the learner tells apart.
    """
    below = np.searchsorted(levels, scores, side="left")
    upto = np.searchsorted(levels, scores, side="right")
    before = levels[np.maximum(below - 1, 0)]
    after = levels[np.minimum(upto, len(levels) - 1)]
    apart = np.where(after > before, after - before, 1.0)
    within = np.clip((scores - before) / apart, 0, 1) - 0.5
    between = np.where((below == upto) & (below > 0) & (upto < len(levels)), within, 0.0)
    return np.asarray((0.5 * (below + upto) + between) / len(levels))
