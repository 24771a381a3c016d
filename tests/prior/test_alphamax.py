"""AlphaMax: the closed form against a general solver, and what it estimates."""

import numpy as np
import pytest
from scipy import optimize

import pumonitor
from pumonitor import ScoreTable
from pumonitor.errors import NoBoundWarning
from pumonitor.prior import TwoSamples
from pumonitor.prior.estimators.alphamax import alphamax, alphamax_n, likelihood_by_prior


def samples(unlabeled_prior, *, label_purity=1.0, n_labeled=1000, separation=3.0, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.concatenate(
        [rng.random(n_labeled) < label_purity, rng.random(10 * n_labeled) < unlabeled_prior]
    )
    labels = np.repeat([1, 0], [n_labeled, 10 * n_labeled])
    return TwoSamples.from_table(ScoreTable.from_arrays(labels, rng.normal(separation * positive)))


@pytest.mark.parametrize("share", [0.1, 0.35, 0.8])
def test_likelihood_is_the_greatest_a_general_solver_finds(share):
    component = np.array([0.0, 0.1, 0.25, 0.4, 0.25])
    mixture = np.array([0.35, 0.3, 0.2, 0.15, 0.0])

    def loss(part):
        used, left = component > 0, mixture > 0
        remainder = mixture - part + share * component
        return -np.sum(component[used] * np.log(part[used] / share)) - np.sum(
            mixture[left] * np.log(remainder[left])
        )

    # A bin without mixture has no part of it: the last bin leaves the likelihood at the limit.
    component = np.where(mixture > 0, component, 0.0)
    component /= component.sum()
    found = optimize.minimize(
        loss,
        share * mixture,
        bounds=[(1e-9, max(w, 1e-9)) for w in mixture],
        constraints={"type": "eq", "fun": lambda part: part.sum() - share},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    ours = likelihood_by_prior(component[np.newaxis], mixture[np.newaxis], np.array([share]))
    assert ours[0, 0] == pytest.approx(-found.fun, abs=1e-6)
    assert ours[0, 0] >= -found.fun - 1e-8


def test_likelihood_is_flat_up_to_the_identifiable_prior_and_falls_beyond():
    """Component only in the upper bins; the mixture is 0.3 of it."""
    component = np.array([[0.0, 0.0, 0.4, 0.6]])
    mixture = 0.3 * component + 0.7 * np.array([[0.5, 0.5, 0.0, 0.0]])
    found = likelihood_by_prior(component, mixture, np.array([0.1, 0.2, 0.3, 0.4, 0.6]))[0]
    assert found[:3] == pytest.approx(found[2], abs=1e-6)
    assert found[2] - found[3] > 0.01
    assert found[3] - found[4] > found[2] - found[3]


@pytest.mark.parametrize("prior", [0.05, 0.2, 0.5])
def test_well_separated_classes_give_the_prior(prior):
    found = [alphamax(samples(prior, n_labeled=2000, separation=5.0, seed=s))[0] for s in range(4)]
    assert np.mean(found) == pytest.approx(prior, abs=0.025)


def test_many_samples_at_once_are_each_alone():
    one = samples(0.3, n_labeled=200)
    many = one.drawn_from(one.labeled[0], one.unlabeled[0], size=60, rng=np.random.default_rng(1))
    found = alphamax(many)
    assert found.shape == (60,)
    third = TwoSamples(
        scores=many.scores,
        labeled=np.stack([many.labeled[0], many.labeled[2]]),
        unlabeled=np.stack([many.unlabeled[0], many.unlabeled[2]]),
        n_labeled=many.n_labeled,
        n_unlabeled=many.n_unlabeled,
    )
    assert alphamax(third)[1] == found[2]


def test_alphamax_n_gives_purity_and_prior_where_classes_separate():
    found = [
        alphamax_n(samples(0.25, label_purity=0.7, n_labeled=2000, separation=5.0, seed=s))
        for s in range(4)
    ]
    assert np.mean([one.label_purity for one in found]) == pytest.approx(0.7, abs=0.03)
    assert np.mean([one.unlabeled_prior for one in found]) == pytest.approx(0.25, abs=0.03)


def test_alphamax_n_is_biased_low_on_clean_labels_of_a_middling_ranking():
    """Why label_purity="auto" does not use it: no noise looks like some."""
    purity = [alphamax_n(samples(0.2, separation=1.2, seed=s)).label_purity[0] for s in range(5)]
    assert 0.88 < np.mean(purity) < 0.97


def test_alphamax_n_of_two_samples_alike_is_the_largest_and_says_that_nothing_bounds_it():
    """A = 1 and B = 0 leave 0 / 0; the ends of the grid in their place would make it a half."""
    labels, scores = np.repeat([1, 0], [500, 2000]), np.tile(np.arange(500.0), 5)
    alike = TwoSamples.from_table(ScoreTable.from_arrays(labels, scores))
    with pytest.warns(NoBoundWarning, match="alphamax_n finds labeled and unlabeled rows alike"):
        found = alphamax_n(alike)
    assert found.unlabeled_prior.tolist() == found.label_purity.tolist() == [1.0]
    with pytest.warns(NoBoundWarning):
        prior = pumonitor.estimate_class_prior(labels, scores, method="alphamax_n")
    assert prior.unlabeled_prior_interval[0] < 0.01
    assert prior.unlabeled_prior_interval[1] > 0.99


def test_alphamax_n_of_resamples_alike_is_the_largest_without_a_word():
    labels, scores = np.repeat([1, 0], [500, 2000]), np.tile(np.arange(500.0), 5)
    one = TwoSamples.from_table(ScoreTable.from_arrays(labels, scores))
    two = TwoSamples(
        scores=one.scores,
        labeled=np.vstack([one.labeled, one.labeled]),
        unlabeled=np.vstack([one.unlabeled, one.unlabeled]),
        n_labeled=one.n_labeled,
        n_unlabeled=one.n_unlabeled,
    )
    assert alphamax_n(two).unlabeled_prior.tolist() == [1.0, 1.0]
