"""Audits where confirmed positives share entities: labels count less, verdicts whole."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from pumonitor.audit.by_bin import FrequencyByBin, read_unaudited
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.fairness import check_fairness
from pumonitor.audit.likelihood import AuditLikelihood
from tests.audit.made_up_audit import CONFIRMED, FOUND, ROWS, counts


def shared(audit, effect):
    return replace(audit, bins=replace(audit.bins, design_effect=effect))


def test_confirmations_are_divided_and_verdicts_are_not():
    rng = np.random.default_rng(1)
    p, v = rng.normal(-3, 1, 12), rng.normal(1, 1, 12)
    of_verdicts = FOUND * np.log(special.expit(p) * special.expit(v)) + (25 - FOUND) * np.log(
        special.expit(-p)
    )
    quiet = np.log(special.expit(-p) + special.expit(p) * special.expit(v))
    of_verdicts -= 25 * quiet
    of_labels = CONFIRMED * np.log(special.expit(p) * special.expit(-v))
    of_labels += (ROWS - CONFIRMED) * quiet
    likelihood = AuditLikelihood(counts=shared(counts(), 4.0))
    expected = of_labels.sum() / 4 + of_verdicts.sum()
    assert likelihood.value(p, v, np.inf) == pytest.approx(expected, rel=1e-12)


def test_a_census_is_the_truth_whoever_shares_what():
    truth = np.maximum(ROWS // 50, 3) + CONFIRMED
    audit = counts(found=truth - CONFIRMED, decided=ROWS - CONFIRMED)
    assert np.all(estimate_audit(shared(audit, 5.0), draws=50).positives == truth)


def test_a_window_between_audits_varies_as_so_many_entities_do():
    of_audit = FrequencyByBin.of(estimate_audit(counts(), draws=500))
    known = replace(of_audit, covariance=1e-9 * np.eye(12))
    window = counts(found=0, decided=0)
    totals = [
        read_unaudited(shared(window, effect), known).positives.sum(axis=1) for effect in (1.0, 8.0)
    ]
    assert totals[1].mean() == pytest.approx(totals[0].mean(), rel=0.1)
    assert totals[1].std() == pytest.approx(np.sqrt(8) * totals[0].std(), rel=0.2)


def test_labels_of_few_entities_are_less_often_called_unfair():
    favouring = CONFIRMED.copy()
    favouring[-4:] = [30, 34, 38, 40]
    audit = counts(labeled=favouring, found=np.minimum(FOUND, 12))
    assert check_fairness(audit).p_value < 0.03
    assert check_fairness(shared(audit, 10.0)).p_value > 0.05
