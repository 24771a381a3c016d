"""Each metric function returns what evaluate does."""

import inspect

import numpy as np
import pytest

import pumonitor
from pumonitor import metrics


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(8)
    is_positive = rng.random(3000) < 0.2
    return is_positive & (rng.random(3000) < 0.5), rng.normal(1.5 * is_positive)


@pytest.mark.parametrize("name", sorted(set(metrics.__all__) - {"bounds", "share_of_inversions"}))
@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
@pytest.mark.parametrize("target", ["process", "window"])
def test_function_and_evaluate_agree(rows, name, scenario, target):
    function = getattr(metrics, name)
    settings = {"class_prior": (0.2, 0.15, 0.25), "scenario": scenario, "target": target}
    at = {"threshold": 0.7} if "threshold" in inspect.signature(function).parameters else {}
    ev = pumonitor.evaluate(*rows, threshold=0.7, **settings)
    estimate = function(*rows, **at, **settings)
    expected = (ev[name].value, ev[name].low, ev[name].high)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("name", ["aul", "recall", "ll_score", "predicted_positive_rate"])
def test_functions_that_need_no_prior(rows, name):
    function = getattr(metrics, name)
    assert function(*rows).value == function(*rows, class_prior=0.2).value
    if name != "predicted_positive_rate":
        with pytest.raises(ValueError, match="class_prior is needed here"):
            function(*rows, target="window")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scenario": "censoring"}, "scenario must be 'single-training-set' or 'case-control'"),
        ({"target": "sample"}, "target must be 'process' or 'window', got 'sample'"),
        ({"confidence_level": 95}, "confidence_level must satisfy 0 < confidence_level < 1"),
        ({"label_purity": 0.0}, "label_purity must satisfy 0 < label_purity <= 1, got 0"),
    ],
)
def test_settings_out_of_range_are_refused(rows, settings, message):
    with pytest.raises(ValueError, match=message):
        metrics.auc(*rows, class_prior=0.2, **settings)


@pytest.mark.parametrize("purity", ["0.9", "atuo"])
def test_text_for_a_number_is_named(rows, purity):
    with pytest.raises(TypeError, match=f"label_purity must be a number, got the text '{purity}'"):
        pumonitor.evaluate(*rows, class_prior=0.2, label_purity=purity)


@pytest.mark.parametrize(
    ("top_k", "message"),
    [(0, "1 <= top_k <= 3000 rows, got 0"), (4000, "got 4000"), (1.5, "share in .0, 1.")],
)
def test_top_k_out_of_range_is_refused(rows, top_k, message):
    with pytest.raises(ValueError, match=message):
        pumonitor.evaluate(*rows, class_prior=0.2, top_k=top_k)
