"""TIcE: the bound on the label frequency, and the trees that look for it."""

import numpy as np
import pytest

from pumonitor.errors import NoBoundWarning
from pumonitor.prior import METHODS
from pumonitor.prior.estimators.published.tice import label_frequency_bounds
from tests.prior.feature_rows import as_samples


def test_label_frequency_bound_by_hand():
    """Four quarters, 40 of 100 rows labeled in the last.

    With c = .5 and d = .2 its bound is .4 - sqrt(.5 .5 .8 / (.2 100)) = .3; the third's is
    .5 - sqrt(1 / 16) = .25 and does not count, 16 rows being fewer than 10 / .5.
    """
    places = np.array([[0], [16], [32], [48]])
    total = np.array([[400.0, 300.0, 16.0, 100.0]])
    labeled = np.array([[0.0, 0.0, 8.0, 40.0]])
    tree = (labeled / 4, total / 4)
    [bound] = label_frequency_bounds(
        places, tree=tree, others=(labeled, total), frequency=np.array([0.5])
    )
    assert bound == pytest.approx(0.3)


def test_the_tree_splits_by_the_feature_that_separates_and_then_within():
    """Labels are in one of 16 cells of two features; neither alone holds a pure quarter."""
    first, second = np.meshgrid(np.arange(4), np.arange(4), indexing="ij")
    places = 16 * np.stack([first.ravel(), second.ravel()], axis=1)
    total = np.full((1, 16), 400.0)
    labeled = np.where((places == [48, 16]).all(axis=1), 200.0, 0.0)[np.newaxis]
    [bound] = label_frequency_bounds(
        places, tree=(labeled / 4, total / 4), others=(labeled, total), frequency=np.array([0.5])
    )
    assert bound == pytest.approx(0.5 - np.sqrt(1 / 400))


def test_trees_grown_together_are_each_alone():
    rng = np.random.default_rng(9)
    places = rng.integers(64, size=(300, 3))
    total = rng.integers(1, 30, size=(4, 300)).astype(float)
    labeled = np.floor(total * rng.random((4, 300)) ** 3)
    frequency = np.array([0.2, 0.4, 0.3, 0.6])

    def bounds(part):
        return label_frequency_bounds(
            places,
            tree=(labeled[part] / 4, total[part] / 4),
            others=(labeled[part], total[part]),
            frequency=frequency[part],
        )

    together = bounds(slice(None))
    alone = [bounds(slice(i, i + 1))[0] for i in range(4)]
    assert together.tolist() == alone
    assert (together >= labeled.sum(axis=1) / total.sum(axis=1)).all()


def test_tice_does_not_silently_return_one():
    rng = np.random.default_rng(10)
    labels = np.repeat([1, 0], [10, 50])
    with pytest.warns(NoBoundWarning, match=r"tice found no subset .* is 1, which carries no"):
        found = METHODS["tice"](as_samples(labels, rng.normal(size=60)))
    assert found[0] == pytest.approx(1.0)
