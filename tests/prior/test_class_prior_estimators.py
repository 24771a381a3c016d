"""Every estimator, discovered; then auto and its interval."""

import numpy as np
import pytest

import pumonitor
from pumonitor import ScoreTable
from pumonitor.prior import METHODS, TwoSamples
from pumonitor.prior.samples.reference import Reference
from pumonitor.results import ClassPriorEstimate


def case_control(unlabeled_prior, *, n_labeled, n_unlabeled, separation, seed):
    rng = np.random.default_rng(seed)
    positive = np.concatenate([np.ones(n_labeled), rng.random(n_unlabeled) < unlabeled_prior])
    labels = np.repeat([1, 0], [n_labeled, n_unlabeled])
    return labels, rng.normal(separation * positive)


def two_samples(*arguments, **keywords):
    return TwoSamples.from_table(ScoreTable.from_arrays(*case_control(*arguments, **keywords)))


RANKING_METHODS = sorted(name for name, method in METHODS.items() if method.reads == "ranks")


@pytest.mark.parametrize("method", RANKING_METHODS)
@pytest.mark.parametrize("prior", [0.05, 0.2, 0.5])
def test_well_separated_classes_give_the_prior(method, prior):
    sample = two_samples(prior, n_labeled=3000, n_unlabeled=30_000, separation=5.0, seed=1)
    assert METHODS[method](sample)[0] == pytest.approx(prior, abs=0.02)


@pytest.mark.parametrize("method", RANKING_METHODS)
def test_no_positives_among_unlabeled_is_nearly_nothing(method):
    sample = two_samples(0.0, n_labeled=2000, n_unlabeled=20_000, separation=4.0, seed=2)
    assert METHODS[method](sample)[0] < 0.025


@pytest.mark.parametrize("method", RANKING_METHODS)
def test_only_the_order_of_scores_matters(method):
    labels, scores = case_control(0.3, n_labeled=300, n_unlabeled=2000, separation=2.0, seed=3)
    first, second = (
        METHODS[method](TwoSamples.from_table(ScoreTable.from_arrays(labels, values)))[0]
        for values in (scores, np.exp(scores))
    )
    assert first == pytest.approx(second, abs=1e-9)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_many_samples_at_once_are_each_alone(method):
    one = two_samples(0.3, n_labeled=500, n_unlabeled=3000, separation=2.0, seed=4)
    one = TwoSamples(
        scores=np.linspace(0.0, 1.0, len(one.scores)),
        labeled=one.labeled,
        unlabeled=one.unlabeled,
        n_labeled=one.n_labeled,
        n_unlabeled=one.n_unlabeled,
        reference=Reference(
            unlabeled=one.unlabeled,
            n_unlabeled=one.n_unlabeled,
            prior=ClassPriorEstimate(value=0.3, low=0.3, high=0.3, unlabeled_prior=0.3),
        ),
    )
    # They differ in their priors, and end at different scores: elkan_noto_e3 reads nothing else.
    added = np.array([[0.0], [0.15], [0.3]])
    cells = np.arange(len(one.scores))
    ends = np.where(cells < len(cells) - np.array([[100], [200], [300]]), 1.0, 0.0)
    many = one.drawn_from(
        one.labeled * ends,
        ((1 - added) * one.unlabeled + added * one.labeled) * ends,
        size=3,
        rng=np.random.default_rng(0),
    )
    found = METHODS[method](many)
    assert found.shape == (3,)
    assert ((found >= 0) & (found <= 1)).all()
    assert len(set(found.tolist())) == 3


def test_bbe_by_hand():
    """Two cells: q_u / q_p is 0.15 / 0.9 above and 1 below; the upper one has the least bound."""
    table = ScoreTable.from_counts([100, 900], [8500, 1500], edges=[0.0, 0.5, 1.0])
    assert METHODS["bbe"](TwoSamples.from_table(table))[0] == pytest.approx(0.15 / 0.9)


def test_elkan_noto_by_hand():
    # c = mean score of labeled = 0.4; a = 2 (1 - 0.4) / (0.4 * 6) = 0.5.
    labels = [1, 1, 0, 0, 0, 0, 0, 0]
    table = ScoreTable.from_arrays(labels, [0.5, 0.3, 0.5, 0.3, 0.1, 0.1, 0.1, 0.0])
    assert METHODS["elkan_noto"](TwoSamples.from_table(table))[0] == pytest.approx(0.5)


def test_elkan_noto_needs_probabilities():
    labels, scores = case_control(0.3, n_labeled=50, n_unlabeled=100, separation=2.0, seed=5)
    with pytest.raises(ValueError, match="elkan_noto needs scores that are probabilities"):
        pumonitor.estimate_class_prior(labels, scores, method="elkan_noto")


def test_unknown_methods_are_refused():
    with pytest.raises(
        ValueError, match=r"no class-prior method 'km9'; did you mean 'km[12]'\? \(there are auto, "
    ):
        pumonitor.evaluate([1, 1, 0, 0], [0.1, 0.2, 0.3, 0.4], class_prior="km9")


def test_auto_is_nearer_than_what_it_is_shown_beside():
    errors = []
    for prior in (0.05, 0.1, 0.3, 0.5):
        for seed in range(8):
            data = case_control(
                prior, n_labeled=1000, n_unlabeled=10_000, separation=2.0, seed=seed
            )
            found = pumonitor.estimate_class_prior(*data, scenario="case-control")
            beside = (found.diagnostics[name] for name in ("dedpul", "pulscar", "tilt"))
            errors.append([abs(found.value - prior), *(abs(part - prior) for part in beside)])
    own, *others = np.mean(errors, axis=0)
    assert own < min(others)
    assert own < 0.014


def test_interval_of_auto_covers():
    held = 0
    for seed in range(60):
        data = case_control(0.15, n_labeled=200, n_unlabeled=4000, separation=2.0, seed=100 + seed)
        found = pumonitor.estimate_class_prior(*data, scenario="case-control")
        held += found.low <= 0.15 <= found.high
        assert 0 < found.low <= found.value <= found.high < 1
    assert held >= 51


def test_prior_of_population_and_of_unlabeled_rows_belong_together():
    rng = np.random.default_rng(6)
    positive = rng.random(30_000) < 0.2
    labels = (positive & (rng.random(30_000) < 0.5)).astype(int)
    labels[~positive & (rng.random(30_000) < 0.05)] = -1
    found = pumonitor.estimate_class_prior(labels, rng.normal(2.5 * positive))
    share = {label: np.mean(labels == label) for label in (1, 0)}
    assert found.value == pytest.approx(share[1] + share[0] * found.unlabeled_prior)
    assert found.label_frequency == pytest.approx(share[1] / found.value)
    assert found.low < positive.mean() < found.high


def test_same_data_same_interval_and_another_seed_another():
    data = case_control(0.2, n_labeled=200, n_unlabeled=2000, separation=2.0, seed=7)
    first, again, other = (
        pumonitor.estimate_class_prior(*data, method="dedpul", rng=seed) for seed in (None, None, 1)
    )
    assert first == again
    assert first.low != other.low


def test_auto_draws_nothing_at_random():
    data = case_control(0.2, n_labeled=200, n_unlabeled=2000, separation=2.0, seed=7)
    assert pumonitor.estimate_class_prior(*data, rng=1) == pumonitor.estimate_class_prior(*data)


def test_evaluate_says_that_an_estimated_prior_is_an_upper_bound():
    data = case_control(0.2, n_labeled=200, n_unlabeled=2000, separation=2.0, seed=7)
    ev = pumonitor.evaluate(*data, threshold=1.0)
    assert ev.class_prior.method == "auto"
    assert "prior_is_upper_bound" in {finding.name for finding in ev.warnings}


def test_complete_separation_is_a_prior_near_nothing():
    """Forty positives all confirmed at 1, four hundred others at 0."""
    labels = np.repeat([1, 0], [40, 400])
    found = pumonitor.estimate_class_prior(labels, labels.astype(float))
    assert found.unlabeled_prior < 0.01
    assert found.unlabeled_prior_interval[1] < 0.03
    assert found.value == pytest.approx(40 / 440, abs=0.01)


def test_an_estimate_from_another_window_carries_its_prior_over():
    data = case_control(0.2, n_labeled=200, n_unlabeled=2000, separation=2.0, seed=7)
    reference = pumonitor.estimate_class_prior(*data)
    fewer = (data[0][50:], data[1][50:])
    ev = pumonitor.evaluate(*fewer, threshold=1.0, class_prior=reference)
    assert (ev["class_prior"].low, ev["class_prior"].high) == (reference.low, reference.high)
    assert ev.class_prior.method == "given by auto"
    share = np.mean(fewer[0])
    expected = (reference.value - share) / (1 - share)
    assert ev["unlabeled_prior"].value == pytest.approx(expected)
