"""Theorem 2.1 of Ramola et al. and Theorem 1 of Jain et al.: from uncorrected numbers directly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pumonitor
from pumonitor.metrics import conversions


@pytest.fixture(scope="module", params=["case-control", "single-training-set"])
def noisy(request):
    """4,000 rows, 400 labeled of which 80% are positive."""
    rng = np.random.default_rng(12)
    labels = np.r_[np.ones(400, int), np.zeros(3600, int)]
    positive = np.r_[rng.random(400) < 0.8, rng.random(3600) < 0.25]
    scores = np.round(rng.normal(1.4 * positive), 2)
    prior = 0.25 if request.param == "case-control" else 0.1 * 0.8 + 0.9 * 0.25
    ev = pumonitor.evaluate(
        labels,
        scores,
        threshold=0.8,
        class_prior=prior,
        scenario=request.param,
        label_purity=0.8,
    )
    return request.param, labels, scores, ev


SHARES = {"unlabeled_prior": 0.25, "label_purity": 0.8}


def test_corrected_directly_they_are_what_evaluate_gives(noisy):
    scenario, labels, scores, ev = noisy
    auc = ev["auc"]
    assert conversions.corrected_auc(ev["auc_pu"].value, **SHARES) == pytest.approx(auc.value)
    assert conversions.corrected_balanced_accuracy(
        ev["balanced_accuracy_pu"].value, **SHARES
    ) == pytest.approx(ev["balanced_accuracy"].value)
    if scenario == "single-training-set":
        found = conversions.corrected_mcc(ev["mcc_pu"].value, labeled_fraction=0.1, **SHARES)
        assert found == pytest.approx(ev["mcc"].value)
    else:
        flagged = scores >= 0.8
        found = conversions.corrected_precision(
            labels[flagged].mean(), labeled_fraction=0.1, **SHARES
        )
        assert found == pytest.approx(ev["precision"].value)


shares = st.tuples(
    st.floats(0.0, 0.9), st.floats(0.05, 1.0), st.floats(0.01, 0.9), st.floats(-1.0, 1.0)
).filter(lambda found: found[0] < found[1] - 0.01)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(shares)
def test_what_is_not_corrected_understates(found):
    """The inequalities of theorem 2.1, and of theorem 1 of Jain et al."""
    unlabeled_prior, purity, fraction, observed = found
    of = {"unlabeled_prior": unlabeled_prior, "label_purity": purity}
    mcc = conversions.corrected_mcc(observed, labeled_fraction=fraction, **of)
    assert np.sign(mcc) * (mcc - observed) >= -1e-12
    balanced = 0.5 * (1 + observed)
    corrected = conversions.corrected_balanced_accuracy(balanced, **of)
    assert (corrected - balanced) * np.sign(balanced - 0.5) >= -1e-12
    auc = conversions.corrected_auc(balanced, **of)
    should_rise = balanced > 0.5 + 1e-9 and purity - unlabeled_prior < 1 - 1e-9
    assert (auc > balanced) == should_rise or auc == pytest.approx(balanced)


def test_where_no_labeled_row_is_flagged_precision_is_none():
    of = {"unlabeled_prior": 0.1, "labeled_fraction": 0.05}
    assert conversions.corrected_precision([0.0, 0.2], **of) == pytest.approx([0.0, 0.475])
    with pytest.raises(ValueError, match=r"0 <= precision_pu < 1, got -0\.1"):
        conversions.corrected_precision(-0.1, **of)


def test_arrays_in_arrays_out_and_the_best_threshold_stays():
    observed = np.array([0.1, 0.31, 0.24])
    found = conversions.corrected_mcc(observed, labeled_fraction=0.2, **SHARES)
    assert found.shape == (3,)
    assert np.argmax(found) == 1


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("corrected_auc", {"auc_pu": 0.7, "unlabeled_prior": 0.8, "label_purity": 0.7}, "shares"),
        (
            "corrected_mcc",
            {"mcc_pu": 0.2, "unlabeled_prior": 0.1, "labeled_fraction": 1.0},
            "0 < labeled_fraction < 1, got 1.0",
        ),
        (
            "corrected_precision",
            {"precision_pu": 1.0, "unlabeled_prior": 0.1, "labeled_fraction": 0.1},
            "precision_pu < 1, got 1.0",
        ),
    ],
)
def test_impossible_shares_are_refused(function, arguments, message):
    value = arguments.pop(next(iter(arguments)))
    with pytest.raises(ValueError, match=message):
        getattr(conversions, function)(value, **arguments)
