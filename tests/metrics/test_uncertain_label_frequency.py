"""Tabatabaei et al. (2020), sections 4.1 and 4.3: the label frequency given, known or uncertain."""

import numpy as np
import pytest
from scipy.stats import norm

import pumonitor
from pumonitor import ScoreTable, metrics
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.prior_draws import population_prior, prior_at_frequency
from pumonitor.metrics.prior_quantities import class_prior_estimate
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.rates import at_threshold
from pumonitor.prior.labels.label_frequency import prior_from_label_frequency
from pumonitor.stats.confidence_draws import split_normal_logit_draws


def window(seed=0, rows=4000, frequency=0.4):
    rng = np.random.default_rng([3, seed])
    positive = rng.random(rows) < 0.15
    labels = positive & (rng.random(rows) < frequency)
    return labels, rng.normal(1.6 * positive), positive


def test_estimates_are_tabatabaeis_formulas():
    labels, scores, _ = window()
    ev = pumonitor.evaluate(labels, scores, threshold=1.2, label_frequency=0.4)
    flagged = scores >= 1.2
    found, labeled, predicted = (labels & flagged).sum(), labels.sum(), flagged.sum()
    assert ev["precision"].value == pytest.approx(found / (0.4 * predicted))
    assert ev["f1"].value == pytest.approx(2 * found / (0.4 * predicted + labeled))
    recall, precision = found / labeled, found / (0.4 * predicted)
    assert ev["f_beta"].value == pytest.approx(5 * recall * precision / (4 * precision + recall))
    assert ev.class_prior.method == "given label frequency"
    assert ev.class_prior.label_frequency == 0.4


@pytest.mark.slow
def test_with_a_known_frequency_the_prior_still_varies_with_the_labels_drawn():
    """Unlike with a known prior: pi = q / c, and q is of this sample."""
    recall, false_positive_rate = norm.sf(1.2 - 1.6), norm.sf(1.2)
    flagged = 0.15 * recall + 0.85 * false_positive_rate
    truth = {
        "class_prior": 0.15,
        "precision": 0.15 * recall / flagged,
        "f1": 2 * 0.15 * recall / (0.15 + flagged),
    }
    runs, held = 250, dict.fromkeys(truth, 0)
    for run in range(runs):
        labels, scores, _ = window(run, rows=2500)
        table = ScoreTable.from_arrays(labels, scores, thresholds=(1.2,), density_edges=0)
        problem = make_problem(table, prior_from_label_frequency(0.4, table), rng=run)
        at = at_threshold(problem, 1.2)
        for found in (class_prior_estimate(problem), PRECISION.estimate(at), F1.estimate(at)):
            held[found.name] += found.low <= truth[found.name] <= found.high
    for name, count in held.items():
        assert 0.95 - 3 * 0.0138 <= count / runs <= 0.995, name


def test_a_prior_of_few_labels_that_are_mostly_found_stays_below_their_purity():
    """More were confirmed than there may be: a class prior at the purity leaves no negatives."""
    fraction = np.array([0.03, 0.5])
    found = prior_at_frequency(fraction, np.full(2, 0.3), label_purity=0.9)
    assert found[0] == pytest.approx(0.03 * 0.9 / 0.3)
    assert 0.899 < found[1] < 0.9
    both = population_prior(fraction, np.array([0.1, 0.95]), label_purity=0.9)
    assert both[0] == pytest.approx(0.03 * 0.9 + 0.97 * 0.1)
    assert 0.899 < both[1] < 0.9


def test_bias_is_jensens_and_is_taken_off_on_request():
    labels, scores, _ = window()
    frequency = (0.4, 0.2, 0.6)
    plain = metrics_of(labels, scores, frequency)
    flagged = scores >= 1.2
    found, labeled, predicted = (labels & flagged).sum(), labels.sum(), flagged.sum()
    draws = split_normal_logit_draws(
        *frequency, confidence_level=0.95, order=np.random.default_rng(0).permutation(200_000)
    )
    expected = {
        "precision": np.mean(found / (draws * predicted)) - found / (0.4 * predicted),
        "f1": np.mean(2 * found / (draws * predicted + labeled))
        - 2 * found / (0.4 * predicted + labeled),
    }
    corrected = metrics_of(labels, scores, frequency, correct_prior_bias=True)
    for name, bias in expected.items():
        assert bias > 0.01
        assert plain[name].prior_bias == pytest.approx(bias, rel=0.02)
        assert corrected[name].value == pytest.approx(plain[name].value - plain[name].prior_bias)
    # Recall does not involve it.
    assert plain["recall"].prior_bias == 0
    assert corrected["recall"].value == plain["recall"].value


def metrics_of(labels, scores, frequency, **settings):
    return pumonitor.evaluate(
        labels, scores, threshold=1.2, label_frequency=frequency, **settings
    ).estimates


def test_correction_brings_the_mean_back_to_the_truth():
    """A frequency estimated with error: F1 is too high on average, and not after correction."""
    rng = np.random.default_rng(9)
    labels, scores, _ = window(1, rows=20_000)
    truth = metrics.f1(
        labels, scores, threshold=1.2, class_prior=labels.mean() / 0.4, target="window"
    ).value
    table = ScoreTable.from_arrays(labels, scores, thresholds=(1.2,))
    plain, corrected = [], []
    for _ in range(200):
        # Normal on the logit scale, as an interval is read, with median c.
        spread = 0.45
        logit = np.log(0.4 / 0.6) + spread * rng.standard_normal()
        value, low, high = (1 / (1 + np.exp(-logit - k * 1.96 * spread)) for k in (0, -1, 1))
        prior = prior_from_label_frequency((value, low, high), table)
        problem = make_problem(table, prior, target="window", rng=len(plain))
        found = F1.estimate(at_threshold(problem, 1.2))
        plain.append(found.value)
        corrected.append(found.value - found.prior_bias)
    error = np.std(plain) / np.sqrt(200)
    assert abs(np.mean(corrected) - truth) < abs(np.mean(plain) - truth) + error
    assert abs(np.mean(corrected) - truth) < 3 * error


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"label_frequency": 40}, r"0 < label_frequency <= 1, got 40; did you mean 0\.4\?"),
        (
            {"label_frequency": (30, 40)},
            r"0 < low <= value <= high <= 1, got low=30, .*; did you mean \(0\.3, 0\.4\)\?",
        ),
        ({"label_frequency": 0.01}, "label_frequency=0.01 is impossible: 6.68% of all rows"),
        ({"label_frequency": (0.5, 0.3)}, "got low=0.5"),
        ({"label_frequency": 0.4, "class_prior": 0.1}, "give class_prior or label_frequency"),
        ({"label_frequency": 0.4, "scenario": "case-control"}, "label_frequency has no meaning"),
    ],
)
def test_impossible_frequencies_are_refused(settings, message):
    labels, scores, _ = window()
    with pytest.raises(ValueError, match=message):
        pumonitor.evaluate(labels, scores, **settings)


def test_numbers_only():
    table = ScoreTable.from_arrays([1, 1, 0, 0], [0.9, 0.8, 0.4, 0.1])
    with pytest.raises(TypeError, match="label_frequency must be a number"):
        prior_from_label_frequency("auto", table)
