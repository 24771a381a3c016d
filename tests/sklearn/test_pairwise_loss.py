"""PU_AUL and PU_AUC minimise the loss that their papers write as sums over pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from pumonitor.errors import InputError, TooFewPositivesError
from pumonitor.sklearn import PUAUCClassifier, PUAULClassifier
from pumonitor.sklearn.gaussian_basis import GaussianBasis
from pumonitor.sklearn.pairwise import Moments, least_loss


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    positive = rng.random(150) < 0.4
    return rng.normal(1.5 * positive[:, np.newaxis], size=(150, 3)), positive, rng


def basis_of(model, rows):
    return np.concatenate([values for _, values in model.basis_.chunks(rows)])


def penalty(model, phi):
    centred = phi - phi.mean(axis=0)
    return model.regularization * (centred**2).mean(axis=0).mean()


def pairs(phi, left, right, weights):
    """Mean of (1 - f(x_i) + f(x_j))^2 over all pairs, each spelled out."""
    score = phi @ weights
    return np.mean((1 - score[left][:, np.newaxis] + score[right][np.newaxis, :]) ** 2)


def least(loss, size):
    return optimize.minimize(loss, np.zeros(size), method="BFGS", options={"gtol": 1e-9}).x


def test_aul_is_the_loss_over_confirmed_and_all_rows(rows):
    features, positive, rng = rows
    labeled = positive & (rng.random(150) < 0.3)
    model = PUAULClassifier(centres=8, random_state=0).fit(features, labeled)
    phi, everybody = basis_of(model, features), np.ones(150, dtype=bool)
    strength = penalty(model, phi)

    def loss(weights):
        return pairs(phi, labeled, everybody, weights) + strength * weights @ weights

    expected = least(loss, 8)
    assert loss(model.weights_) <= loss(expected) + 1e-12
    # At the minimum the gradient is 0; of a quadratic loss central differences are exact.
    steps = 1e-3 * np.eye(8)
    gradient = [(loss(model.weights_ + one) - loss(model.weights_ - one)) / 2e-3 for one in steps]
    assert np.abs(gradient).max() < 1e-9


@pytest.mark.parametrize("class_prior", [0.1, 0.4, 0.6])
def test_auc_takes_off_pairs_of_positives(rows, class_prior):
    features, positive, rng = rows
    labeled = positive & (rng.random(150) < 0.3)
    model = PUAUCClassifier(class_prior=class_prior, centres=8, random_state=0)
    model.fit(features, labeled)
    phi, everybody = basis_of(model, features), np.ones(150, dtype=bool)
    strength = penalty(model, phi)

    def loss(weights):
        over_all = pairs(phi, labeled, everybody, weights)
        among_positives = pairs(phi, labeled, labeled, weights)
        return over_all - class_prior * among_positives + strength * weights @ weights

    steps = 1e-3 * np.eye(8)
    gradient = [(loss(model.weights_ + one) - loss(model.weights_ - one)) / 2e-3 for one in steps]
    assert np.abs(gradient).max() < 1e-9
    assert loss(model.weights_) < loss(np.zeros(8)) - 0.05


def test_without_pairs_of_positives_it_is_ridge_regression_of_labeled_against_all(rows):
    features, positive, rng = rows
    labeled = positive & (rng.random(150) < 0.3)
    basis = GaussianBasis.of(features, np.ones(150), centres=8, width=None, rng=rng)
    phi = np.concatenate([values for _, values in basis.chunks(features)])
    moments = Moments.of(basis, features, labeled, np.ones(150))
    found = least_loss(moments, labeled_weight=0.0, regularization=0.1, unbounded="")
    centred = phi - phi.mean(axis=0)
    strength = 0.1 * (centred**2).mean()
    ridge = np.linalg.solve(
        centred.T @ centred / 150 + strength * np.eye(8),
        centred.T @ (labeled - labeled.mean()) / 150,
    )
    assert np.corrcoef(phi @ found, phi @ ridge)[0, 1] == pytest.approx(1.0, abs=1e-12)


def test_a_class_prior_that_takes_off_too_much_is_refused_by_its_name():
    rng = np.random.default_rng(1)
    rows, labeled = rng.normal(size=(400, 2)), rng.random(400) < 0.05
    # Confirmed rows vary more than all rows do along some direction.
    rows[labeled] *= 3
    with pytest.raises(InputError, match=r"class_prior=0.99 the loss of AUC has no minimum"):
        PUAUCClassifier(class_prior=0.99, regularization=1e-6, random_state=0).fit(rows, labeled)


def test_weights_are_repeated_rows(rows):
    features, positive, _ = rows
    weight = np.arange(150) % 4
    repeated = np.repeat(np.arange(150), weight)
    one = PUAULClassifier(random_state=0).fit(features, positive, sample_weight=weight)
    two = PUAULClassifier(random_state=0).fit(features[repeated], positive[repeated])
    assert one.decision_function(features) == pytest.approx(two.decision_function(features))


def test_confirmed_negatives_are_rows_like_others(rows):
    features, positive, _ = rows
    labels = positive.astype(int)
    given = np.where(np.arange(150) % 5 == 0, -1, 0)
    one = PUAULClassifier(random_state=0).fit(features, np.where(positive, 1, given))
    two = PUAULClassifier(random_state=0).fit(features, labels)
    assert one.decision_function(features).tolist() == two.decision_function(features).tolist()


def test_scale_and_place_of_features_do_not_matter(rows):
    features, positive, _ = rows
    moved = features * [1e-6, 1.0, 1e6] + [1e3, 0.0, -1e9]
    one = PUAULClassifier(random_state=0).fit(features, positive).decision_function(features)
    two = PUAULClassifier(random_state=0).fit(moved, positive).decision_function(moved)
    assert one == pytest.approx(two, abs=1e-6)


def test_missing_values_are_taken_at_the_mean(rows):
    features, positive, _ = rows
    holes = features.copy()
    holes[::7, 1] = np.nan
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    model = PUAULClassifier(random_state=0).fit(holes, positive)
    assert np.isfinite(model.decision_function(holes)).all()
    found, expected = model.decision_function(holes), model.decision_function(filled)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"centres": 0}, "centres must be a whole number >= 1, got 0"),
        ({"width": -1.0}, "width must be a number > 0, got -1.0"),
        ({"regularization": 0.0}, "regularization must be a number > 0, got 0.0"),
    ],
)
def test_settings_out_of_range_are_refused(rows, settings, said):
    features, positive, _ = rows
    with pytest.raises(ValueError, match=said):
        PUAULClassifier(**settings).fit(features, positive)


def test_rows_of_one_class_are_refused(rows):
    features, positive, _ = rows
    with pytest.raises(TooFewPositivesError, match="are of one class"):
        PUAULClassifier().fit(features, np.zeros(150))
    with pytest.raises(TooFewPositivesError, match="are of one class"):
        PUAULClassifier().fit(features, positive, sample_weight=(~positive).astype(float))
    with pytest.raises(ValueError, match=r"class_prior must be a number in \(0, 1\), got 1"):
        PUAUCClassifier(class_prior=1).fit(features, positive)


def test_a_loss_with_a_minimum_is_not_refused_where_the_covariances_alone_have_none():
    """The two means lie so far apart that they make up for what pairs of positives take off."""
    moments = Moments(
        mean=np.array([0.0]),
        labeled_mean=np.array([2.0]),
        covariance=np.array([[1.0]]),
        labeled_covariance=np.array([[4.0]]),
        labeled_share=0.01,
    )
    found = least_loss(moments, labeled_weight=-0.9, regularization=1e-9, unbounded="none")

    def loss(weight):
        return (1 - 3.6 + 4) * weight**2 - 2 * 2 * weight

    assert found[0] == pytest.approx(2 / 1.4)
    assert loss(found[0]) < min(loss(found[0] - 0.01), loss(found[0] + 0.01))


@pytest.mark.parametrize("code", [1e12, 1e15])
def test_a_code_for_missing_values_does_not_stop_it(rows, code):
    """Beside it all other rows are alike in double precision."""
    features, positive, _ = rows
    coded = features.copy()
    coded[0] = code
    scores = PUAULClassifier(random_state=0).fit(coded, positive).decision_function(coded)
    assert np.isfinite(scores).all()
