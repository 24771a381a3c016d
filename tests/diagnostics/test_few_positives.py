"""How many confirmed positives are needed, for what."""

import numpy as np
import pytest

from pumonitor.diagnostics.few_positives import positives_to_see_drop
from pumonitor.results import Estimate


def labeled(window, count):
    return (window.fair.astype(bool) & (np.cumsum(window.fair) <= count)).astype(int)


def test_each_metric_says_its_own_number(window, findings):
    sentence = findings(labeled(window, 12), window.scores)["few_positives"].sentence
    assert sentence.startswith("Only 12 confirmed positives: intervals are wide.")
    assert "Recall with about" in sentence
    assert "are needed to detect a fall of F1 by 5 points from one period to the next." in sentence


def test_the_number_named_is_enough(make_window, findings):
    window = make_window(size=40_000)
    few = findings(labeled(window, 30), window.scores)["few_positives"].sentence
    number = int(few.split("Recall with about ")[1].split(",")[0].split(":")[0])
    assert 45 < number < 120
    assert "few_positives" in findings(labeled(window, number // 2), window.scores)
    assert "few_positives" not in findings(labeled(window, round(1.3 * number)), window.scores)


def test_an_uncertain_prior_is_not_helped_by_more_positives(window, findings):
    found = findings(window.fair, window.scores, class_prior=(0.02, 0.3))
    assert "few_positives" not in found
    assert found["uncertain_prior"].severity == "note"


def test_numbers_to_see_a_drop_do_see_it():
    """F1 of two periods as normal errors: the share of drops found is the power asked for."""
    estimate = Estimate(
        name="f1", value=0.6, low=0.5, high=0.7, confidence_level=0.95, method="",
        n_labeled=80, n_unlabeled=900, se=0.06, se_sampling=0.04,
    )  # fmt: skip
    number = positives_to_see_drop(estimate, 80, drop=0.05, power=0.8)
    error = 0.04 * np.sqrt(80 / number)
    rng = np.random.default_rng(0)
    before, after = rng.normal(0.6, error, 20_000), rng.normal(0.55, error, 20_000)
    seen = np.mean(before - after > 1.96 * np.sqrt(2) * error)
    assert seen == pytest.approx(0.8, abs=0.01)
