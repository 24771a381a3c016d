"""penL1 against a direct minimisation of its objective."""

import numpy as np
import pytest
from scipy import optimize

from pumonitor.prior import METHODS
from tests.prior.feature_rows import as_samples, one_informative


def test_pen_l1_by_direct_minimisation():
    """Every width, ten regularisers, coefficients by a bounded solver, for each prior of a grid."""
    labels, scores, features = one_informative(
        0.3, n_labeled=60, n_unlabeled=70, columns=2, separation=3.0, seed=11
    )
    sample = as_samples(labels, scores, features)
    data = sample.features
    positives, unlabeled, every = data.points[:60], data.points[60:], data.points
    fold = np.array([part[0].argmax(axis=0) for part in [data.dealt(5)[0] + data.dealt(5)[1]]])[0]
    distances = np.sqrt(np.sum((unlabeled[:, np.newaxis] - every) ** 2, axis=2))
    # Half the pairs or more: the median distance as the estimator takes it.
    median = np.sort(distances, axis=None)[(70 * 130 - 1) // 2]
    # Half of the 300 bases at either sample's rows.
    share = np.repeat([150 / 60, 150 / 70], [60, 70])

    def bases(rows, width):
        apart = np.sum((rows[:, np.newaxis] - every) ** 2, axis=2)
        return np.sqrt(share) * np.exp(-apart / (2 * (width * median) ** 2))

    def beta(prior, width, part):
        return prior * bases(positives[part[:60]], width).mean(axis=0) - bases(
            unlabeled[part[60:]], width
        ).mean(axis=0)

    def fitted(slopes, regulariser):
        found = optimize.minimize(
            lambda c: 0.5 * regulariser * c @ c - slopes @ c,
            np.zeros(len(slopes)),
            jac=lambda c: regulariser * c - slopes,
            bounds=[(0, None)] * len(slopes),
            method="L-BFGS-B",
            options={"ftol": 1e-16, "gtol": 1e-12},
        )
        return found.x

    everything = np.ones(130, dtype=bool)
    grid = np.arange(0.05, 0.96, 0.1)
    divergences = []
    for prior in grid:
        candidates = []
        for width in np.logspace(-1, 1, 8):
            folds = [
                (beta(prior, width, fold != f), beta(prior, width, fold == f)) for f in range(5)
            ]
            for regulariser in np.logspace(-3, 1, 10):
                held_out = -sum(
                    np.maximum(learned, 0) @ seen / regulariser for learned, seen in folds
                )
                candidates.append((held_out, width, regulariser))
        _, width, regulariser = min(candidates)
        slopes = beta(prior, width, everything)
        divergences.append(1 - prior + slopes @ fitted(slopes, regulariser))
    expected = grid[np.argmin(divergences)]
    assert METHODS["pen_l1"](sample)[0] == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("separation", [3.0, 10.0])
def test_pen_l1_without_a_positive_among_the_unlabeled_rows_is_nearly_nothing(separation):
    """However far apart the classes are: bases are near the labeled rows as well."""
    labels, scores, features = one_informative(
        0.0, n_labeled=200, n_unlabeled=1000, columns=2, separation=separation, seed=13
    )
    assert METHODS["pen_l1"](as_samples(labels, scores))[0] <= 0.03
    assert METHODS["pen_l1"](as_samples(labels, scores, features))[0] <= 0.1
