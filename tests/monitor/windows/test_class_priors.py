from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest

from pumonitor.monitor.windows.evaluation.class_priors import (
    class_prior_from_json,
    class_prior_to_json,
    own_class_prior,
)
from pumonitor.prior import estimate_from_table
from pumonitor.prior.labels.label_frequency import prior_from_label_frequency
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable


def table() -> ScoreTable:
    rng = np.random.default_rng(1)
    positive = rng.random(3000) < 0.1
    return ScoreTable.from_arrays(positive & (rng.random(3000) < 0.4), rng.normal(2.0 * positive))


@pytest.mark.parametrize(
    "estimate",
    [
        ClassPriorEstimate.given(0.05),
        ClassPriorEstimate.given((0.04, 0.02, 0.09), confidence_level=0.9),
        estimate_from_table(table()),
        prior_from_label_frequency((0.3, 0.5), table()),
    ],
    ids=["number", "interval", "auto", "label frequency"],
)
def test_an_estimate_comes_back_from_json(estimate: ClassPriorEstimate) -> None:
    stored = json.loads(json.dumps(class_prior_to_json(estimate), allow_nan=False))
    again = class_prior_from_json(stored)
    for item in fields(ClassPriorEstimate):
        np.testing.assert_equal(getattr(again, item.name), getattr(estimate, item.name))


def test_nothing_is_stored_as_nothing() -> None:
    assert class_prior_from_json(class_prior_to_json(None)) is None


def test_a_given_prior_needs_no_rows_and_an_estimated_one_does() -> None:
    assert own_class_prior(None, (0.02, 0.04)) == ClassPriorEstimate.given((0.02, 0.04))
    assert own_class_prior(None, "auto") is None
    own = own_class_prior(table(), "auto")
    assert own is not None
    assert own.low < 0.1 < own.high
    assert own == estimate_from_table(table())


def test_label_purity_is_found_with_the_prior_where_asked_for() -> None:
    own = own_class_prior(table(), "auto", label_purity="auto")
    assert own is not None
    assert own.low < 0.1 < own.high


def test_rows_that_tell_nothing_give_no_prior() -> None:
    # Labeled rows that stand for more positives than there are rows, and rows without propensities.
    labels, scores = np.repeat([1, 0], [50, 100]), np.linspace(0, 1, 150)
    impossible = ScoreTable.from_arrays(labels, scores, propensity=0.01)
    assert own_class_prior(impossible, "propensity") is None
    assert own_class_prior(table(), "propensity") is None


def test_a_method_that_does_not_exist_is_not_taken_for_rows_that_tell_nothing() -> None:
    with pytest.raises(ValueError, match="ato"):
        own_class_prior(table(), "ato")
