"""KM1 and KM2: the distance to the nearest mixture, its slope, units and weights."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from pumonitor.prior import METHODS
from pumonitor.prior.estimators.published.kernel_mean import DistanceCurve, nearest_mixture
from pumonitor.prior.samples.feature_samples import FeatureSamples
from tests.prior.feature_rows import as_samples, one_informative


def by_general_solver(points, target):
    """The same nearest point by sequential quadratic programming over the weights."""
    found = optimize.minimize(
        lambda weight: np.sum((weight @ points - target) ** 2),
        np.full(len(points), 1 / len(points)),
        jac=lambda weight: 2 * points @ (weight @ points - target),
        bounds=[(0, 1)] * len(points),
        constraints={"type": "eq", "fun": lambda weight: weight.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.x


@pytest.mark.parametrize("reach", [0.1, 1.0, 3.0])
def test_nearest_mixture_is_what_a_general_solver_finds(reach):
    rng = np.random.default_rng(4)
    for _ in range(5):
        points = rng.normal(size=(9, 4))
        target = reach * rng.normal(size=4)
        weight = nearest_mixture(points, target)
        assert weight.min() >= 0
        assert weight.sum() == pytest.approx(1)
        expected = by_general_solver(points, target) @ points
        assert weight @ points == pytest.approx(expected, abs=1e-5)


def test_the_slope_is_the_derivative_of_the_distance_and_rises():
    rng = np.random.default_rng(5)
    points = rng.normal(size=(20, 3))
    weight = rng.dirichlet(np.ones(20), size=2)
    curve = DistanceCurve(points=points, component=weight[0] @ points, mixture=weight[1] @ points)
    slopes = []
    for stretch in (1.0, 5.0, 10.0, 20.0, 40.0):
        _, slope = curve.at(stretch)
        before, after = curve.at(stretch - 1e-4)[0], curve.at(stretch + 1e-4)[0]
        slopes.append(slope)
        if before > 0:
            assert slope == pytest.approx((after - before) / 2e-4, rel=1e-3)
    assert slopes == sorted(slopes)
    assert 0 < slopes[-1] <= curve.steepest + 1e-12


@pytest.mark.parametrize(("method", "prior"), [("km1", 0.3), ("km2", 0.3), ("km2", 0.05)])
def test_kernel_means_by_brute_force(method, prior):
    """Full kernel matrix, general solver: the slope passes the threshold at the estimate."""
    labels, scores, features = one_informative(
        prior, n_labeled=10, n_unlabeled=12, columns=2, separation=3.0, seed=6
    )
    weight = np.where(labels == 1, 0.5 / 10, 0.5 / 12)
    centred = features - weight @ features
    centred /= np.sqrt(weight @ centred**2)
    distances = np.sum((centred[:, np.newaxis] - centred) ** 2, axis=2)
    order = np.argsort(distances, axis=None)
    reached = np.cumsum(np.outer(weight, weight).ravel()[order])
    median = np.sqrt(distances.ravel()[order][np.searchsorted(reached, 0.5)])
    difference = np.where(labels == 1, -1 / 10, 1 / 12)
    kernels = [
        np.exp(-distances / (2 * (factor * median) ** 2))
        for factor in 10.0 ** np.array([-1, -0.5, 0, 0.5, 1])
    ]
    kernel = max(kernels, key=lambda k: difference @ k @ difference)
    strength, directions = np.linalg.eigh(kernel)
    root = directions * np.sqrt(np.maximum(strength, 0))

    def distance(stretch):
        target = (
            np.where(labels == 1, (1 - stretch) / 10, 0) + np.where(labels == 0, stretch / 12, 0)
        ) @ root
        return np.linalg.norm(target - by_general_solver(root, target) @ root)

    greatest = np.sqrt(difference @ kernel @ difference)
    second = 0.8 * distance(1.05) / 0.05 + 0.2 * greatest
    first = 1 / np.sqrt(10)
    threshold = {"km1": first if first <= 0.9 * greatest else second, "km2": second}[method]
    found = METHODS[method](as_samples(labels, scores, features))[0]

    def slope(share):
        stretch = 1 / (1 - share)
        return (distance(stretch + 1e-3) - distance(stretch - 1e-3)) / 2e-3

    assert slope(found - 0.01) < threshold < slope(found + 0.01)


def test_kernel_means_do_not_depend_on_units():
    labels, scores, features = one_informative(0.3, n_labeled=60, n_unlabeled=80, columns=3, seed=7)
    for method in ("km1", "km2"):
        first, second = (
            METHODS[method](as_samples(labels, scores, values))[0]
            for values in (features, 5 - features * [1.0, 1e-8, 1e200])
        )
        assert first == pytest.approx(second, abs=2e-3)


def test_a_row_of_weight_three_is_three_rows():
    labels, scores, features = one_informative(0.3, n_labeled=40, n_unlabeled=60, columns=2, seed=8)
    weight = np.where(np.arange(100) % 5 == 0, 3, 1)
    weighted = FeatureSamples.from_arrays(features, labels, scores, sample_weight=weight)
    repeated = [np.repeat(part, weight, axis=0) for part in (labels, scores, features)]
    sample = as_samples(labels, scores)
    one, other = (
        METHODS["km2"](replace(sample, features=part))[0]
        for part in (weighted, as_samples(*repeated).features)
    )
    assert one == pytest.approx(other, abs=2e-3)
