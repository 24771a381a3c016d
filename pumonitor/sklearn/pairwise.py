"""PU_AUL and PU_AUC: rankings in closed form from confirmed positives and all rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError
from pumonitor.sklearn.gaussian_basis import GaussianBasis
from pumonitor.sklearn.rows import ConfirmedClassifier, feature_rows, training_rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Of the basis functions, over all rows and over confirmed positives.

    Attributes
    ----------
    mean, labeled_mean : ndarray of shape (centres,)
    covariance, labeled_covariance : ndarray of shape (centres, centres)
        C and C_p.
    labeled_share : float
        Weight of the confirmed rows in that of all.
    """

    mean: FloatArray
    labeled_mean: FloatArray
    covariance: FloatArray
    labeled_covariance: FloatArray
    labeled_share: float

    @classmethod
    def of(
        cls, basis: GaussianBasis, rows: FloatArray, labeled: NDArray[np.bool_], weight: FloatArray
    ) -> Moments:
        """One pass over the rows, a few thousand at a time."""
        size = len(basis.centres)
        # In both, the constant 1 comes first: then one product has the means as well.
        sums = np.zeros((2, size + 1, size + 1))
        for part, values in basis.chunks(rows):
            with_one = np.column_stack([np.ones(len(values)), values])
            weighted = with_one * weight[part, np.newaxis]
            sums[0] += weighted.T @ with_one
            chosen = labeled[part]
            sums[1] += weighted[chosen].T @ with_one[chosen]
        means, covariances = [], []
        for total in sums:
            mean = total[0, 1:] / total[0, 0]
            means.append(mean)
            covariances.append(total[1:, 1:] / total[0, 0] - np.outer(mean, mean))
        return cls(
            mean=means[0],
            labeled_mean=means[1],
            covariance=covariances[0],
            labeled_covariance=covariances[1],
            labeled_share=float(weight[labeled].sum() / weight.sum()),
        )


def least_loss(
    moments: Moments, *, labeled_weight: float, regularization: float, unbounded: str
) -> FloatArray:
    """Weights of the basis whose squared pairwise loss is least.

    Parameters
    ----------
    moments : Moments
    labeled_weight : float
        t: 1 for AUL, 1 - 2 pi for AUC, 0 for ridge regression of labeled against all rows.
    regularization : float
        In units of the mean eigenvalue of C, > 0.
    unbounded : str
        What to say where there is no least loss.

    Raises
    ------
    InputError
        If the loss has no minimum: with t < 0 the matrix need not be positive definite.

    Notes
    -----
    With f = w' phi, d the difference of the means of confirmed rows and all rows, the mean of
    (1 - f(x_i) + f(x_j))^2 over confirmed rows i and all rows j is

        1 - 2 w'd + w' (C_p + C + d d') w,

    and over two confirmed rows 1 + 2 w' C_p w. AUL takes the first. AUC takes the first minus pi
    times the second, over 1 - pi, which is the mean over positives and negatives (Sakai et al.
    2018, section 3). Both are, up to a constant and a factor, w'(C + t C_p + d d') w - 2 w'd. With
    lambda |w|^2 added the minimum is at (A + d d')^-1 d, A = C + t C_p + lambda, which has the
    direction of A^-1 d. With t < 0 there is one even where A alone has none, as long as d makes up
    for it.
    """
    apart = moments.labeled_mean - moments.mean
    matrix = moments.covariance + labeled_weight * moments.labeled_covariance
    matrix += np.outer(apart, apart)
    strength = regularization * np.trace(moments.covariance) / len(apart)
    matrix[np.diag_indices_from(matrix)] += max(strength, np.finfo(np.float64).tiny)
    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(matrix), apart))
    except linalg.LinAlgError:
        raise InputError(unbounded) from None


class _PairwiseClassifier(ConfirmedClassifier):
    """What the two have in common: all but the weight of pairs of confirmed rows."""

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
        InputError
            If there is no confirmed positive, or the loss has no minimum.
        """
        self._check_settings()
        rows, labeled, weight = training_rows(self, X, y, sample_weight)
        seed = check_random_state(self.random_state).randint(2**31)
        self.basis_ = GaussianBasis.of(
            rows,
            weight,
            centres=self.centres,
            width=self.width,
            rng=np.random.default_rng(seed),
        )
        moments = Moments.of(self.basis_, rows, labeled, weight)
        self.weights_ = least_loss(
            moments,
            labeled_weight=self._labeled_weight(),
            regularization=self.regularization,
            unbounded=self._unbounded(),
        )
        share = moments.labeled_share
        rest = (moments.mean - share * moments.labeled_mean) / (1 - share)
        self.offset_ = float(0.5 * self.weights_ @ (moments.labeled_mean + rest))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores, higher = more positive; 0 lies midway between confirmed and other rows."""
        check_is_fitted(self)
        return self.basis_.weighted(feature_rows(self, X), self.weights_) - self.offset_

    def _check_settings(self) -> None:
        if not isinstance(self.centres, Integral) or self.centres < 1:
            msg = f"centres must be a whole number >= 1, got {self.centres!r}"
            raise ValueError(msg)
        for name in ("width", "regularization"):
            given = getattr(self, name)
            if given is None and name == "width":
                continue
            if not isinstance(given, Real) or not 0 < float(given) < float("inf"):
                msg = f"{name} must be a number > 0, got {given!r}"
                raise ValueError(msg)

    @abstractmethod
    def _labeled_weight(self) -> float:
        """t: how much pairs of confirmed rows count."""

    @abstractmethod
    def _unbounded(self) -> str:
        """What to say where the loss has no minimum."""


class PUAULClassifier(_PairwiseClassifier):
    """Ranking of least squared loss over pairs of a confirmed positive and any row (PU_AUL).

    It needs no class prior, and is wrong where confirmed positives are no fair sample of the
    positives: then it learns what confirms as much as what is positive.

    Parameters
    ----------
    centres : int
        Gaussian basis functions, around as many rows.
    width : float, optional
        Of these, in standard deviations of the features; by default the median distance of two
        centres.
    regularization : float
        Lambda in units of the mean eigenvalue of the covariance of the basis.
    random_state : int, RandomState or None
        Which rows are centres, where there are more.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    basis_ : GaussianBasis
    weights_ : ndarray of shape (centres,)
    offset_ : float

    Notes
    -----
    In closed form; time and memory are linear in the number of rows and constant in it.

    References
    ----------
    "AUL is a better optimization metric in PU learning", section 5; Sakai, Niu, Sugiyama (2018),
    Semi-supervised AUC optimization based on positive-unlabeled learning, Machine Learning 107.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(2000) < 0.3
    >>> rows = rng.normal(positive[:, np.newaxis], size=(2000, 2))
    >>> confirmed = positive & (rng.random(2000) < 0.1)
    >>> scores = PUAULClassifier(random_state=0).fit(rows, confirmed).decision_function(rows)
    >>> pairs = scores[positive][:, np.newaxis] > scores[~positive]
    >>> round(float(pairs.mean()), 2)
    0.81
    """

    def __init__(
        self,
        *,
        centres: int = 200,
        width: float | None = None,
        regularization: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.centres = centres
        self.width = width
        self.regularization = regularization
        self.random_state = random_state

    def _labeled_weight(self) -> float:
        return 1.0

    def _unbounded(self) -> str:
        return "the loss has no minimum in double precision: raise regularization"


class PUAUCClassifier(_PairwiseClassifier):
    """Ranking of least squared loss over pairs of a positive and a negative (PU_AUC).

    The loss of negatives is that of all rows less that of positives, as the class prior says. It
    is wrong where that is: a class prior put too high takes off more than there is, and the loss
    has no minimum. `PUAULClassifier` needs none.

    Parameters
    ----------
    class_prior : float
        Share of positives among all rows, in (0, 1); there is no default, as none is right.
    centres, width, regularization, random_state
        As in `PUAULClassifier`.

    References
    ----------
    Sakai, Niu, Sugiyama (2018), Semi-supervised AUC optimization based on positive-unlabeled
    learning, Machine Learning 107, with all rows in place of the unlabeled ones.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(2000) < 0.3
    >>> rows = rng.normal(positive[:, np.newaxis], size=(2000, 2))
    >>> confirmed = positive & (rng.random(2000) < 0.1)
    >>> model = PUAUCClassifier(class_prior=0.3, random_state=0).fit(rows, confirmed)
    >>> model.predict([[3.0, 3.0], [-2.0, -2.0]]).tolist()
    [True, False]
    """

    def __init__(
        self,
        class_prior: float,
        *,
        centres: int = 200,
        width: float | None = None,
        regularization: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.class_prior = class_prior
        self.centres = centres
        self.width = width
        self.regularization = regularization
        self.random_state = random_state

    def _check_settings(self) -> None:
        super()._check_settings()
        if not isinstance(self.class_prior, Real) or not 0 < float(self.class_prior) < 1:
            msg = f"class_prior must be a number in (0, 1), got {self.class_prior!r}"
            raise ValueError(msg)

    def _labeled_weight(self) -> float:
        return 1 - 2 * float(self.class_prior)

    def _unbounded(self) -> str:
        return (
            f"with class_prior={self.class_prior:g} the loss of AUC has no minimum: it takes off "
            "more pairs of positives than there are; give a lower class_prior, raise "
            "regularization, or use PUAULClassifier, which needs no class prior"
        )
