"""The ranking of least squared pairwise loss, from means and covariances of a basis alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from pumonitor.errors import InputError
from pumonitor.sklearn.gaussian_basis import GaussianBasis

FloatArray = NDArray[np.float64]


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
