"""Evaluation.sensitivity: an estimate at other class priors, and which of them are possible."""

import json
import math

import numpy as np
import pytest

import pumonitor
from pumonitor.results import Evaluation
from pumonitor.tables import ScoreTable


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(7)
    is_positive = rng.random(4000) < 0.15
    labels = (is_positive & (rng.random(4000) < 0.3)).astype(int)
    scores = np.round(rng.normal(2.0 * is_positive), 2)
    return labels, scores


@pytest.fixture(scope="module")
def ev(data):
    return pumonitor.evaluate(*data, threshold=1.5, class_prior=(0.15, 0.13, 0.18))


SETTINGS = {
    "process": {},
    "window": {"target": "window"},
    "case-control": {"scenario": "case-control"},
    "mistaken labels": {"label_purity": 0.9},
    "mistaken labels, window": {"label_purity": 0.9, "target": "window"},
}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_every_estimate_at_a_prior_is_that_of_an_evaluation_with_it(data, setting):
    usual = {"threshold": 1.5, "top_k": 0.05, "f_beta": 0.5, "confidence_level": 0.9, "rng": 3}
    ev = pumonitor.evaluate(*data, class_prior=(0.15, 0.13, 0.18), **usual, **setting)
    priors = (0.08, 0.2)
    known = [pumonitor.evaluate(*data, class_prior=p, **usual, **setting) for p in priors]
    for name in ev.estimates:
        swept = ev.sensitivity(name, class_priors=priors)
        for at, other in enumerate(known):
            found, expected = swept.estimates[at], other[name]
            np.testing.assert_array_equal(
                [found.value, found.low, found.high],
                [expected.value, expected.low, expected.high],
                err_msg=name,
            )
            assert (found.range, found.method) == (expected.range, expected.method), name


def test_weights_and_propensities_are_kept(data):
    labels, scores = data
    rng = np.random.default_rng(8)
    weights = {
        "sample_weight": rng.integers(1, 4, len(labels)).astype(float),
        "propensity": rng.uniform(0.2, 0.4, len(labels)),
    }
    ev = pumonitor.evaluate(labels, scores, class_prior="propensity", **weights)
    known = pumonitor.evaluate(labels, scores, class_prior=0.2, **weights)
    for name in ("f1", "auc", "average_precision", "recall_at_k", "f1_max"):
        (found,) = ev.sensitivity(name, class_priors=[0.2]).estimates
        expected = known[name]
        assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)


def test_precision_by_hand():
    # 10 labeled and 20 unlabeled rows above the threshold, 10 and 160 below, all one population:
    # recall is 1/2, 30 of 200 rows are flagged, precision = prior * (1/2) / (30 / 200).
    table = ScoreTable.from_counts([10, 10], [160, 20], edges=[0.0, 0.5, 1.0])
    ev = pumonitor.evaluate_table(table, threshold=0.5, class_prior=0.15)
    priors = [0.12, 0.15, 0.21]
    swept = ev.sensitivity("precision", class_priors=priors)
    assert swept.value.tolist() == pytest.approx([0.4, 0.5, 0.7])
    f1 = [2 * p * 0.5 / (p + 0.15) for p in priors]
    assert ev.sensitivity("f1", class_priors=priors).value.tolist() == pytest.approx(f1)
    assert ev.sensitivity("recall", class_priors=priors).value.tolist() == pytest.approx([0.5] * 3)
    assert swept.possible[0] == pytest.approx(0.1)
    assert swept.class_prior.label_frequency == pytest.approx(20 / 200 / 0.15)


def test_what_rises_what_falls_and_what_stays(ev):
    def steps(name):
        return np.diff(ev.sensitivity(name).value)

    # A higher prior turns unconfirmed rows into positives: flagged ones were right more often.
    for name in ("precision", "f1", "auc", "average_precision", "specificity", "precision_at_k"):
        assert (steps(name) > 0).all(), name
    for name in ("label_frequency",):
        assert (steps(name) < 0).all(), name
    flat = ("recall", "aul", "ll_score", "recall_at_k", "lift_at_k", "predicted_positive_rate")
    for name in (*flat, *(name for name in ev.estimates if name.endswith("_pu"))):
        assert (steps(name) == 0).all(), name


def test_with_mistaken_labels_recall_and_aul_depend_on_the_prior(data):
    ev = pumonitor.evaluate(*data, threshold=1.5, class_prior=0.15, label_purity=0.8)
    assert (np.diff(ev.sensitivity("recall").value) > 0).all()
    assert np.ptp(ev.sensitivity("aul").value) > 0


def test_the_grid_holds_all_that_is_marked(ev):
    swept = ev.sensitivity("f1")
    assert (np.diff(swept.priors) > 0).all()
    prior = ev.class_prior
    assert {prior.value, prior.low, prior.high} <= set(swept.priors.tolist())
    assert swept.priors[0] == pytest.approx(swept.possible[0])
    assert swept.priors[-1] > prior.high
    at = swept.priors.tolist().index(prior.value)
    assert swept.value[at] == ev["f1"].value
    assert swept.value_at(prior.value) == ev["f1"].value
    # Sampling alone is less than sampling and the prior.
    assert swept.high[at] - swept.low[at] < ev["f1"].high - ev["f1"].low


def test_priors_that_confirmed_rows_or_scores_exclude_are_infeasible(data):
    labels, scores = data
    ev = pumonitor.evaluate(labels, scores, threshold=1.5, class_prior=0.15)
    confirmed = labels.mean()
    swept = ev.sensitivity("precision", class_priors=[0.8 * confirmed, 0.15, 0.9])
    assert swept.possible[0] == pytest.approx(confirmed)
    assert swept.feasible.tolist() == [False, True, False]
    # Given: the data alone say no more than that.
    assert swept.identified_set == swept.possible


def test_an_estimated_prior_is_an_upper_bound(data):
    ev = pumonitor.evaluate(*data, threshold=1.5)
    swept = ev.sensitivity("f1")
    assert swept.identified_set == (swept.possible[0], ev.class_prior.high)
    assert swept.feasible[swept.priors <= ev.class_prior.high].all()


@pytest.mark.parametrize(
    ("method", "is_upper_bound"), [("auto", True), ("propensity", False), ("label_shift", False)]
)
def test_a_prior_estimated_elsewhere_is_what_its_method_makes_it(data, method, is_upper_bound):
    # What was confirmed then does not matter, what is confirmed here does.
    least = 0.09 if is_upper_bound else math.nan
    prior = pumonitor.ClassPriorEstimate(
        value=0.15, low=0.13, high=0.18, method=method, least=least
    )
    ev = pumonitor.evaluate(*data, threshold=1.5, class_prior=prior)
    swept = ev.sensitivity("f1")
    least = swept.possible[0] if is_upper_bound else 0.13
    assert swept.identified_set == (least, 0.18)


def test_in_case_control_nothing_is_confirmed_of_the_population(data):
    ev = pumonitor.evaluate(*data, class_prior=0.15, scenario="case-control")
    swept = ev.sensitivity("auc")
    assert swept.possible[0] == 0
    assert 0 < swept.priors[0] < 0.001


def test_a_prior_counted_by_propensities_is_no_upper_bound(data):
    labels, scores = data
    ev = pumonitor.evaluate(labels, scores, class_prior="propensity", propensity=0.3)
    prior = ev.class_prior
    assert ev.sensitivity("f1").identified_set == (prior.low, prior.high)


def test_written_as_json_and_as_a_frame_without_nan(ev):
    swept = ev.sensitivity("mcc")
    written = json.loads(json.dumps(swept.to_dict(), allow_nan=False))
    assert written["priors"] == swept.priors.tolist()
    assert written["value"] == swept.value.tolist()
    assert written["class_prior"]["low"] == 0.13
    assert written["identified_set"] == list(swept.identified_set)
    frame = swept.to_frame()
    assert list(frame.columns) == ["value", "low", "high", "feasible"]
    assert frame.index.tolist() == swept.priors.tolist()
    assert not frame.isna().to_numpy().any()


def test_without_a_value_there_is_a_reason_and_null(data):
    ev = pumonitor.evaluate(*data, threshold=30.0, class_prior=0.15)
    swept = ev.sensitivity("precision")
    written = json.loads(json.dumps(swept.to_dict(), allow_nan=False))
    assert set(written["value"]) == {None}
    assert written["undefined_reason"] == ev["precision"].undefined_reason
    assert str(swept) == f"precision undefined: {ev['precision'].undefined_reason}"
    assert np.isnan(swept.value_at(0.15))


def test_values_beyond_the_range_are_kept_and_displayed_clipped(data):
    ev = pumonitor.evaluate(*data, threshold=1.5, class_prior=0.15)
    swept = ev.sensitivity("precision", class_priors=[0.15, 0.8])
    assert swept.value[1] > 1
    assert swept.displayed[0, 1] == 1
    assert not swept.feasible[1]


def test_an_unknown_name_is_refused_with_what_was_meant(ev):
    with pytest.raises(KeyError, match=r"no estimate 'f11'; did you mean 'f1'\?"):
        ev.sensitivity("f11")


@pytest.mark.parametrize("priors", [[0.0, 0.1], [0.1, 1.0], [np.nan, 0.1], []])
def test_priors_out_of_range_are_refused(ev, priors):
    with pytest.raises(ValueError, match=r"class_priors must"):
        ev.sensitivity("f1", class_priors=priors)


def test_what_an_evaluation_refuses_is_refused_here_too(data):
    ev = pumonitor.evaluate(*data, threshold=1.5, class_prior=0.15)
    refused = r"class_prior=0\.01 is impossible: .* already confirmed positives"
    with pytest.raises(ValueError, match=refused):
        pumonitor.evaluate(*data, threshold=1.5, class_prior=0.01)
    with pytest.raises(ValueError, match=refused):
        ev.sensitivity("label_frequency", class_priors=[0.15, 0.01])
    # Of the population nothing is confirmed.
    ev = pumonitor.evaluate(*data, class_prior=0.15, scenario="case-control")
    assert ev.sensitivity("auc", class_priors=[0.01]).undefined_reason is None


def test_an_evaluation_without_its_table_says_so(ev):
    bare = Evaluation(
        estimates=ev.estimates,
        class_prior=ev.class_prior,
        curves={},
        warnings=(),
        scores={},
        settings=ev.settings,
    )
    with pytest.raises(ValueError, match="does not hold the scores"):
        bare.sensitivity("f1")


def test_a_large_table_is_compressed_to_what_it_can_bear(data):
    rng = np.random.default_rng(9)
    is_positive = rng.random(200_000) < 0.5
    labels = is_positive & (rng.random(200_000) < 0.5)
    scores = rng.normal(is_positive)
    ev = pumonitor.evaluate(labels, scores, class_prior=0.5)
    assert len(ev.at_priors.table) <= 65_537
    for name in ("f1", "auc", "average_precision"):
        swept = ev.sensitivity(name, class_priors=[0.5])
        assert swept.value[0] == pytest.approx(ev[name].value, abs=5e-5), name
