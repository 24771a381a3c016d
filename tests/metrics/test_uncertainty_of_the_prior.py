"""An uncertain prior widens what depends on it, and nothing else."""

import numpy as np
import pytest

import pumonitor
from pumonitor import ClassPriorEstimate, metrics


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    is_positive = rng.random(20_000) < 0.1
    return is_positive & (rng.random(20_000) < 0.5), rng.normal(1.8 * is_positive)


def test_known_prior_adds_no_uncertainty(rows):
    ev = pumonitor.evaluate(*rows, threshold=1.0, class_prior=0.1)
    assert ev["precision"].se_prior == 0
    assert ev["precision"].se == ev["precision"].se_sampling


def test_interval_of_the_prior_is_carried_through(rows):
    known = pumonitor.evaluate(*rows, threshold=1.0, class_prior=0.1)
    wide = pumonitor.evaluate(*rows, threshold=1.0, class_prior=(0.1, 0.08, 0.125))
    for name in ("precision", "f1", "auc", "average_precision", "specificity"):
        assert wide[name].high - wide[name].low > known[name].high - known[name].low, name
        assert wide[name].se_prior > 0
        assert wide[name].se_sampling == pytest.approx(known[name].se_sampling, rel=0.05)
    for name in ("aul", "recall"):
        assert (wide[name].low, wide[name].high) == (known[name].low, known[name].high)


def test_precision_is_proportional_to_the_prior(rows):
    """Ends of a tight-sampling interval are the formula at the ends of the prior."""
    labels, scores = np.tile(rows[0], 50), np.tile(rows[1], 50)
    wide = pumonitor.evaluate(labels, scores, threshold=1.0, class_prior=(0.1, 0.08, 0.125))
    assert wide["precision"].low == pytest.approx(0.8 * wide["precision"].value, rel=0.01)
    assert wide["precision"].high == pytest.approx(1.25 * wide["precision"].value, rel=0.01)


@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_average_precision_at_the_ends_of_the_prior(rows, purity):
    """Ends of a tight-sampling interval are its values there."""
    many = [np.tile(one, 50) for one in rows]

    def found(prior):
        return metrics.average_precision(*many, class_prior=prior, label_purity=purity)

    wide = found((0.1, 0.08, 0.125))
    assert wide.low == pytest.approx(found(0.08).value, rel=0.01)
    assert wide.high == pytest.approx(found(0.125).value, rel=0.01)


def test_prior_intervals_are_read_as_given():
    both = ClassPriorEstimate.given((0.01, 0.04))
    assert (both.low, both.high) == (0.01, 0.04)
    assert 0.01 < both.value < 0.04
    assert ClassPriorEstimate.given(0.3).is_known


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (0.0, "class_prior must satisfy 0 < class_prior < 1, got 0"),
        (1.2, "class_prior must satisfy 0 < class_prior < 1, got 1.2"),
        ((0.3, 0.1), "an interval for class_prior must satisfy 0 < low < high < 1"),
        ((0.9, 0.1, 0.2), r"class_prior must lie within its interval \[0.1, 0.2\], got 0.9"),
        ((0.1, 0.2, 0.3, 0.4), "class_prior must be a number, .* got 4 numbers"),
    ],
)
def test_impossible_priors_are_refused(prior, message):
    with pytest.raises(ValueError, match=message):
        ClassPriorEstimate.given(prior)
    with pytest.raises(TypeError, match="class_prior must be a number"):
        ClassPriorEstimate.given(True)


def test_prior_as_pure_as_the_labels_is_refused(rows):
    with pytest.raises(ValueError, match="class_prior must satisfy class_prior < label_purity"):
        pumonitor.evaluate(*rows, class_prior=0.6, label_purity=0.5)


def test_infeasible_values_are_kept_and_flagged(rows):
    ev = pumonitor.evaluate(*rows, threshold=1.0, class_prior=0.4)
    assert ev["precision"].value > 1
    assert ev["precision"].infeasible
    assert ev["precision"].displayed[0] == 1
    assert any(finding.name == "infeasible" for finding in ev.warnings)
    assert ev.to_dict()["estimates"]["precision"]["value"] > 1


def test_undefined_values_have_a_reason(rows):
    ev = pumonitor.evaluate(*rows, threshold=99.0, class_prior=0.1)
    assert np.isnan(ev["precision"].value)
    assert ev["precision"].undefined_reason == "no row scores at or above the threshold"
    assert ev["recall"].value == 0
    assert ev["f1"].value == 0
    assert ev.to_dict()["estimates"]["precision"]["value"] is None
    assert any(finding.name == "one_sided_decision" for finding in ev.warnings)


def test_label_frequency_has_no_meaning_in_case_control(rows):
    ev = pumonitor.evaluate(*rows, class_prior=0.1, scenario="case-control")
    assert "case-control" in ev["label_frequency"].undefined_reason
    assert ev["unlabeled_prior"].value == 0.1


def test_sampling_and_prior_are_independent_parts(rows):
    """Variances add where the metric is nearly linear: draws share no random numbers."""
    ev = pumonitor.evaluate(*rows, threshold=1.0, class_prior=(0.1, 0.09, 0.111))
    for name in ("auc", "specificity", "f1", "mcc", "average_precision", "label_frequency"):
        parts = np.hypot(ev[name].se_sampling, ev[name].se_prior)
        assert ev[name].se == pytest.approx(parts, rel=0.05), name
