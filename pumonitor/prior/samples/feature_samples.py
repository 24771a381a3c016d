"""The labeled and the unlabeled sample as weighted points in the space of their features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor._validate import as_labels, as_scores, row_weights
from pumonitor.errors import InputError

# Equal data give equal estimates: what is drawn or dealt inside always starts from here.
_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FeatureSamples:
    """The labeled and the unlabeled sample as shares of points, one or many resamples at once.

    A resample gives the same points other shares, so that distances between points are computed
    once for all of them.

    Attributes
    ----------
    points : ndarray of shape (points, features)
        Standardised: mean 0 and standard deviation 1 in the even mixture of both samples. A
        column without spread is 0.
    scores : ndarray of shape (points,)
        Score of each point.
    labeled, unlabeled : ndarray of shape (samples, points)
        Shares; each row sums to 1.
    n_labeled, n_unlabeled : float
        (Effective) numbers of rows behind the shares.
    are_rows : bool
        Whether a point is one row, so that resampled copies of it belong together, or a cell of
        many rows.
    """

    points: FloatArray
    scores: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray
    n_labeled: float
    n_unlabeled: float
    are_rows: bool = True

    @classmethod
    def from_arrays(
        cls,
        features: Any,
        labels: Any,
        scores: Any,
        *,
        against_population: bool = False,
        sample_weight: Any = None,
        propensity: Any = None,
        detection_rate: float = 1.0,
        min_propensity: float = 0.0,
    ) -> FeatureSamples:
        """The data themselves.

        Parameters
        ----------
        features : array-like of shape (n, d)
            Numbers, finite in the rows that are used.
        labels, scores, sample_weight, propensity, detection_rate, min_propensity
            As in `pumonitor.ScoreTable.from_arrays`.
        against_population : bool
            Whether all rows make the unlabeled sample, not those with label 0 alone. Otherwise
            confirmed negatives (-1) are not used.

        Raises
        ------
        InputError
            If features cannot be used; the message says which columns, what, how often.
        """
        label_values, score_values = as_labels(labels), as_scores(scores)
        weight, represented = row_weights(
            label_values,
            sample_weight,
            propensity,
            detection_rate=detection_rate,
            min_propensity=min_propensity,
        )
        is_unlabeled = (label_values == 0) | against_population
        used = is_unlabeled | (label_values == 1)
        matrix = as_features(features, used=used)[used]
        labeled = np.where(label_values == 1, represented, 0.0)[used]
        unlabeled = np.where(is_unlabeled, weight, 0.0)[used]
        even = 0.5 * (labeled / labeled.sum() + unlabeled / unlabeled.sum())
        return cls(
            points=_standardised(matrix, even),
            scores=score_values[used].astype(np.float64),
            labeled=(labeled / labeled.sum())[np.newaxis],
            unlabeled=(unlabeled / unlabeled.sum())[np.newaxis],
            n_labeled=_effective(labeled),
            n_unlabeled=_effective(unlabeled),
        )

    def at_most(self, rows: int) -> FeatureSamples:
        """The data cut down to `rows` labeled and `rows` unlabeled rows where there are more.

        Rows are drawn with probability proportional to their weight (systematic sampling), so
        that those drawn count alike; a row heavier than a draw is drawn more than once.
        """
        rng = np.random.default_rng(_SEED)
        labeled = _drawn(self.labeled[0], rows, rng=rng)
        unlabeled = _drawn(self.unlabeled[0], rows, rng=rng)
        kept = (labeled > 0) | (unlabeled > 0)
        return replace(
            self,
            points=self.points[kept],
            scores=self.scores[kept],
            labeled=labeled[np.newaxis, kept],
            unlabeled=unlabeled[np.newaxis, kept],
            n_labeled=min(self.n_labeled, _effective(labeled)),
            n_unlabeled=min(self.n_unlabeled, _effective(unlabeled)),
        )

    @property
    def rows(self) -> tuple[int, int]:
        """Points in the labeled and in the unlabeled sample."""
        return int(np.count_nonzero(self.labeled[0])), int(np.count_nonzero(self.unlabeled[0]))

    def drawn_from(
        self, labeled: FloatArray, unlabeled: FloatArray, *, rng: np.random.Generator
    ) -> FeatureSamples:
        """Samples of the same sizes, one from each pair of distributions over the points.

        Parameters
        ----------
        labeled, unlabeled : ndarray of shape (samples, points)
            Not negative; need not sum to 1.
        """

        def shares(chances: FloatArray, rows: float) -> FloatArray:
            total = max(round(rows), 1)
            chances = chances / chances.sum(axis=1, keepdims=True)
            return np.asarray(rng.multinomial(total, chances) / total)

        return replace(
            self,
            labeled=shares(labeled, self.n_labeled),
            unlabeled=shares(unlabeled, self.n_unlabeled),
        )

    def dealt(self, folds: int) -> tuple[FloatArray, FloatArray]:
        """Labeled and unlabeled numbers of rows per fold, shape (samples, folds, points) each.

        Rows fall into folds at random; copies of a row fall into the same one. The rows of a cell
        are shared out among all, fractions of a row being rounded up or down at random.
        """
        if self.are_rows:
            fold = np.random.default_rng(_SEED).permutation(len(self.points)) % folds
            mine = np.arange(folds)[:, np.newaxis] == fold
            return (
                self.labeled[:, np.newaxis] * self.n_labeled * mine,
                self.unlabeled[:, np.newaxis] * self.n_unlabeled * mine,
            )
        return (
            np.stack([_shared_out(share * self.n_labeled, folds) for share in self.labeled]),
            np.stack([_shared_out(share * self.n_unlabeled, folds) for share in self.unlabeled]),
        )


def as_features(features: Any, *, used: NDArray[np.bool_]) -> FloatArray:
    """Features as a matrix of numbers, finite in all rows that are used.

    Parameters
    ----------
    features : array-like of shape (n, d) or (n,)
        numpy, or a data frame of numbers.
    used : ndarray of bool, shape (n,)
        Rows that will be read; what other rows hold does not matter.

    Raises
    ------
    InputError
        If it is not a matrix of numbers with one row per label, or has no columns, or a used row
        has a missing or infinite value; the message names columns and counts.

    Examples
    --------
    >>> as_features([[1.0, 2.0], [3.0, float("nan")]], used=np.array([True, True]))
    Traceback (most recent call last):
    ...
    pumonitor.errors.InputError: features has missing or infinite values in 1 of 2 columns: \
column 1 (1 of 2 rows, first at row 1); fill them in, or leave those columns or rows out
    """
    names = [str(name) for name in getattr(features, "columns", ())]
    try:
        matrix = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError):
        msg = "features must be a matrix of numbers: encode text and categories as numbers first"
        raise InputError(msg) from None
    if matrix.ndim == 1:
        matrix = matrix[:, np.newaxis]
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        msg = f"features must be of shape (rows, columns), got {matrix.shape}"
        raise InputError(msg)
    if len(matrix) != len(used):
        msg = f"features must have one row per label: got {len(matrix)} rows for {len(used)} labels"
        raise InputError(msg)
    wrong = ~np.isfinite(matrix) & used[:, np.newaxis]
    columns = np.flatnonzero(wrong.any(axis=0))
    if len(columns):
        described = ", ".join(
            f"column {names[column] if len(names) == matrix.shape[1] else column} "
            f"({np.count_nonzero(wrong[:, column])} of {np.count_nonzero(used)} rows, "
            f"first at row {np.argmax(wrong[:, column])})"
            for column in columns[:3]
        )
        more = ", ..." if len(columns) > 3 else ""
        msg = (
            f"features has missing or infinite values in {len(columns)} of {matrix.shape[1]} "
            f"columns: {described}{more}; fill them in, or leave those columns or rows out"
        )
        raise InputError(msg)
    return matrix


def _standardised(features: FloatArray, weight: FloatArray) -> FloatArray:
    # Halved by the largest value first: squares of finite numbers may overflow.
    largest = np.max(np.abs(features), axis=0)
    scaled = features / np.where(largest > 0, largest, 1.0)
    centred = scaled - weight @ scaled
    spread = np.sqrt(weight @ centred**2)
    varies = spread > 1e-12
    return np.asarray(np.where(varies, centred / np.where(varies, spread, 1.0), 0.0))


def _effective(weight: FloatArray) -> float:
    """Number of equal weights that would be as exact."""
    return float(weight.sum() ** 2 / np.sum(weight**2))


def _drawn(share: FloatArray, rows: int, *, rng: np.random.Generator) -> FloatArray:
    """Shares of what is drawn, systematically along a random order of the rows."""
    if np.count_nonzero(share) <= rows:
        return share
    order = rng.permutation(len(share))
    reached = np.cumsum(share[order])
    ticks = (np.arange(rows) + rng.random()) / rows * reached[-1]
    taken = order[np.minimum(np.searchsorted(reached, ticks), len(share) - 1)]
    return np.bincount(taken, minlength=len(share)) / rows


def _shared_out(rows: FloatArray, folds: int) -> FloatArray:
    """Rows of cells shared out among folds, in the same way whatever other samples there are."""
    rng = np.random.default_rng(_SEED)
    # A whole number short of itself by rounding error must not lose a row.
    whole = np.floor(rows + 1e-9 + (1 - 2e-9) * rng.random(len(rows))).astype(np.int64)
    return rng.multinomial(whole, np.full(folds, 1 / folds)).T.astype(np.float64)
