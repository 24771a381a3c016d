"""KM1 and KM2: mixture proportion by the distance of kernel means (Ramaswamy et al. 2016)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.prior.samples.points import points_of
from pumonitor.prior.samples.two_samples import TwoSamples

_BINS = 80
_WIDTHS = np.logspace(-1, 1, 5)
# Directions of the kernel matrix below this share of its first are left out.
_RANK = 1e-5
_RANK_OF_CELLS = 1e-12
_NOTHING = 1e-5
_PRECISION = 1e-3
_LARGEST = 0.99


def km1(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows, where the kernel distance rises by sampling's rate.

    What is left of the unlabeled sample when a share a of positives is taken out is a
    distribution as long as a is at most the unlabeled prior. Its distance to the nearest
    distribution on the data is near 0 until then and rises afterwards; the estimate is the a at
    which the slope of the distance exceeds 1 / sqrt(n). Biased upwards where no group of
    negatives is unlike the positives, and with features that say nothing beside those that do.

    Reads `TwoSamples.features`, at most 400 labeled and 400 unlabeled rows, or, without features,
    the scores' ranks.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 0.99].

    Notes
    -----
    With kernel means F of the unlabeled and H of the labeled sample, d(l) is the distance of
    l F + (1 - l) H to the convex hull of the points, l = 1 / (1 - a). It is convex; its slope
    <F - H, r> / d, r the vector from the nearest point of the hull, comes with the nearest point.
    The kernel is Gaussian, its width one of .1, .32, 1, 3.2, 10 times the median distance: the one
    with the greatest distance of F and H. The threshold is that of `km2` where 1 / sqrt(n), n the
    smaller of the two numbers of rows, is above .9 of that distance, which the slope never
    exceeds.

    References
    ----------
    Ramaswamy, Scott, Tewari (2016), Mixture proportion estimation via kernel embeddings of
    distributions, Algorithms 1 and 2, section 6.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.ones(1000), np.arange(10_000) < 3000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(2 * positive))
    >>> bool(abs(km1(TwoSamples.from_table(table))[0] - 0.3) < 0.05)
    True
    """
    found = []
    for curve, rows in _curves(sample):
        usual = 1 / math.sqrt(rows)
        too_steep = usual > 0.9 * curve.steepest
        found.append(curve.crossing(_km2_threshold(curve) if too_steep else usual))
    return np.array(found)


def km2(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows, where the kernel distance nears its final rise.

    As `km1`, with another threshold of the slope: .8 of the slope at the beginning plus .2 of the
    greatest there is. It does not fall with the number of rows, so that a bias upwards remains
    however many there are.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 0.99].

    Notes
    -----
    The slope at the beginning is d(1.05) / .05, the greatest slope is the distance of the two
    kernel means.

    References
    ----------
    Ramaswamy, Scott, Tewari (2016), Mixture proportion estimation via kernel embeddings of
    distributions, section 6.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.ones(1000), np.arange(10_000) < 3000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(2 * positive))
    >>> bool(abs(km2(TwoSamples.from_table(table))[0] - 0.3) < 0.05)
    True
    """
    return np.array([curve.crossing(_km2_threshold(curve)) for curve, _ in _curves(sample)])


def _km2_threshold(curve: DistanceCurve) -> float:
    beginning, _ = curve.at(1.05)
    return 0.8 * beginning / 0.05 + 0.2 * curve.steepest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DistanceCurve:
    """Distance d(l) of l F + (1 - l) H to the hull of the points.

    Attributes
    ----------
    points : ndarray of shape (points, rank)
        Coordinates in the space of the kernel.
    component, mixture : ndarray of shape (rank,)
        Kernel means H of the labeled, F of the unlabeled sample.
    """

    points: FloatArray
    component: FloatArray
    mixture: FloatArray

    @property
    def steepest(self) -> float:
        """The greatest slope there can be: the distance of the two means."""
        return float(np.linalg.norm(self.mixture - self.component))

    def at(self, stretch: float) -> tuple[float, float]:
        """Distance and slope at l = stretch."""
        target = stretch * self.mixture + (1 - stretch) * self.component
        residual = target - nearest_mixture(self.points, target) @ self.points
        distance = float(np.linalg.norm(residual))
        if distance < _NOTHING:  # inside the hull: what is left is rounding error
            return 0.0, 0.0
        return distance, float((self.mixture - self.component) @ residual) / distance

    def crossing(self, threshold: float) -> float:
        """The a = 1 - 1 / l at which the slope first exceeds the threshold."""
        from scipy import optimize

        def excess(share: float) -> float:
            # The ends are known: d begins at 0 and rises at last as steeply as it can. Points of
            # the hull, where d is 0, take longest to find, so they are asked for last.
            if share == 0.0:
                return -threshold
            slope = self.steepest if share == _LARGEST else self.at(1 / (1 - share))[1]
            return slope - threshold

        if excess(_LARGEST) <= 0:
            return _LARGEST
        return float(optimize.toms748(excess, 0.0, _LARGEST, xtol=_PRECISION, rtol=_PRECISION, k=1))


def nearest_mixture(points: FloatArray, target: FloatArray) -> FloatArray:
    """Weights, not negative and summing to 1, of the mixture of points nearest to the target.

    Notes
    -----
    Seen from the target the nearest point is the point of least norm of the hull of z_i =
    points_i - target. With w = t v, sum v = 1, minimising |sum w_i z_i|^2 + (1 - sum w_i)^2 over
    w >= 0 is minimising t^2 |sum v_i z_i|^2 + (1 - t)^2: least at the v of least norm, whatever t.
    So non-negative least squares, an active-set method, solves it exactly.
    """
    from scipy import optimize

    seen = np.vstack([(points - target).T, np.ones(len(points))])
    wanted = np.zeros(len(seen))
    wanted[-1] = 1.0
    weight, _ = optimize.nnls(seen, wanted, maxiter=30 * len(points))
    return np.asarray(weight / weight.sum())


def _curves(sample: TwoSamples) -> list[tuple[DistanceCurve, float]]:
    """The distance curve of each sample and the smaller of its two numbers of rows."""
    data = points_of(sample, bins=_BINS)
    squares = np.sum(data.points**2, axis=1)
    distances = np.maximum(squares[:, np.newaxis] + squares - 2 * data.points @ data.points.T, 0.0)
    labeled, unlabeled = data.labeled[0], data.unlabeled[0]
    median = _median(distances, 0.5 * (labeled + unlabeled))
    kernels = [np.exp(-distances / (2 * width**2 * median)) for width in _WIDTHS]
    difference = labeled - unlabeled
    kernel = max(kernels, key=lambda matrix: float(difference @ matrix @ difference))
    coordinates = _coordinates(kernel, _RANK if data.are_rows else _RANK_OF_CELLS)
    rows = min(data.n_labeled, data.n_unlabeled)
    return [
        (DistanceCurve(points=coordinates, component=component, mixture=mixture), rows)
        for component, mixture in zip(
            data.labeled @ coordinates, data.unlabeled @ coordinates, strict=True
        )
    ]


def _median(distances: FloatArray, weight: FloatArray) -> float:
    """Median squared distance of two points drawn with these weights."""
    order = np.argsort(distances, axis=None)
    reached = np.cumsum(np.outer(weight, weight).ravel()[order])
    middle = float(distances.ravel()[order[np.searchsorted(reached, 0.5 * reached[-1])]])
    return middle if middle > 0 else float(distances.max()) or 1.0


def _coordinates(kernel: FloatArray, rank: float) -> FloatArray:
    """Points whose inner products are the kernel, in as few dimensions as it takes."""
    strength, directions = np.linalg.eigh(kernel)
    kept = strength > rank * strength[-1]
    return np.asarray(directions[:, kept] * np.sqrt(strength[kept]))
