"""Two normals on the scores' own scale: the likeliest, and where they are trusted."""

import numpy as np
import pytest
from scipy import optimize, special, stats

from pumonitor import ScoreTable
from pumonitor.prior import TwoSamples
from pumonitor.prior.auto.normal_mixture import fit_normal_mixture, on_the_line


def two_normals(prior, *, n_labeled, n_unlabeled, separation=2.0, spread=1.0, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.concatenate([np.ones(n_labeled), rng.random(n_unlabeled) < prior])
    labels = np.repeat([1, 0], [n_labeled, n_unlabeled])
    return labels, rng.normal(separation * positive, np.where(positive == 1, spread, 1.0))


def fitted(labels, scores):
    sample = TwoSamples.from_table(ScoreTable.from_arrays(labels, scores))
    return fit_normal_mixture(
        on_the_line(sample.scores)[np.newaxis],
        sample.labeled,
        sample.unlabeled,
        np.array([sample.n_labeled]),
        np.array([sample.n_unlabeled]),
    )


@pytest.mark.parametrize(("prior", "spread"), [(0.1, 1.0), (0.4, 0.7), (0.3, 1.4)])
def test_it_is_the_maximum_of_the_likelihood_of_the_rows(prior, spread):
    labels, scores = two_normals(
        prior, n_labeled=400, n_unlabeled=4000, separation=2.5, spread=spread, seed=2
    )

    def minus_log_likelihood(parameters):
        share = special.expit(parameters[0])
        up, down = np.exp(parameters[3:])
        of_positive = stats.norm.pdf(scores, parameters[1], up)
        of_negative = stats.norm.pdf(scores, parameters[2], down)
        mixed = share * of_positive + (1 - share) * of_negative
        return -np.sum(np.log(np.where(labels == 1, of_positive, mixed)))

    start = [special.logit(prior), 2.5, 0.0, np.log(spread), 0.0]
    best = optimize.minimize(minus_log_likelihood, start, method="BFGS").x
    found = fitted(labels, scores)
    assert found.unlabeled_prior[0] == pytest.approx(special.expit(best[0]), abs=0.006)
    # In standard deviations of the even mixture of both samples.
    even = np.where(labels == 1, 1 / 400, 1 / 4000) / 2
    unit = np.sqrt(even @ scores**2 - (even @ scores) ** 2)
    assert found.distance[0] * unit == pytest.approx(best[1] - best[2], abs=0.05)
    assert found.positive_spread[0] * unit == pytest.approx(np.exp(best[3]), abs=0.03)
    assert found.negative_spread[0] * unit == pytest.approx(np.exp(best[4]), abs=0.03)


def test_chances_are_read_on_the_scale_of_their_logits():
    labels, scores = two_normals(0.2, n_labeled=500, n_unlabeled=5000, seed=3)
    as_chances = fitted(labels, special.expit(scores)).unlabeled_prior[0]
    assert as_chances == pytest.approx(fitted(labels, scores).unlabeled_prior[0], abs=1e-3)
    assert np.array_equal(on_the_line(scores), scores)


def test_normals_are_trusted_where_they_fit_and_not_where_they_do_not():
    labels, scores = two_normals(0.3, n_labeled=1000, n_unlabeled=10_000, seed=4)
    assert fitted(labels, scores).trust[0] > 0.5
    assert fitted(labels, np.exp(scores)).trust[0] < 1e-6


def test_normals_are_trusted_in_a_million_rows():
    labels, scores = two_normals(0.2, n_labeled=100_000, n_unlabeled=1_000_000, seed=5)
    found = fitted(labels, scores)
    assert found.trust[0] > 0.8
    assert found.unlabeled_prior[0] == pytest.approx(0.2, abs=0.005)


@pytest.mark.parametrize(("scale", "shift"), [(1e300, 0.0), (1e-12, 0.0), (1.0, 1e9)])
def test_neither_scale_nor_origin_of_the_scores_matters(scale, shift):
    """Nor do they overflow: squares of scores of 1e300 would."""
    labels, scores = two_normals(0.3, n_labeled=200, n_unlabeled=1000)
    found, moved = (fitted(labels, own) for own in (scores, scale * scores + shift))
    assert moved.unlabeled_prior[0] == pytest.approx(found.unlabeled_prior[0], abs=1e-6)
