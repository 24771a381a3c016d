import dataclasses
import math

import pytest

from pumonitor.results import Estimate
from pumonitor.views.estimates import logged_estimates


def estimate(value: float, low: float, high: float, *, name: str = "f1") -> Estimate:
    return Estimate(
        name=name,
        value=value,
        low=low,
        high=high,
        confidence_level=0.95,
        method="made up",
        n_labeled=10,
        n_unlabeled=90,
    )


def test_a_metric_is_logged_with_its_interval() -> None:
    assert logged_estimates({"f1": estimate(0.4, 0.3, 0.6)}) == {
        "pu/f1": 0.4,
        "pu/f1_low": 0.3,
        "pu/f1_high": 0.6,
    }


def test_an_undefined_metric_is_left_out_and_flagged() -> None:
    assert logged_estimates({"f1": estimate(math.nan, math.nan, math.nan)}) == {
        "pu/f1_undefined": 1.0
    }


def test_an_infeasible_metric_is_logged_as_displayed_and_flagged() -> None:
    assert logged_estimates({"f1": estimate(-0.1, -0.3, 0.2)}) == {
        "pu/f1": 0.0,
        "pu/f1_low": 0.0,
        "pu/f1_high": 0.2,
        "pu/f1_infeasible": 1.0,
    }


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nothing_but_finite_numbers_leaves(bad: float) -> None:
    for part in (estimate(bad, 0.1, 0.2), estimate(0.1, bad, 0.2), estimate(0.1, 0.1, bad)):
        assert all(math.isfinite(number) for number in logged_estimates({"f1": part}).values())


def test_a_wholly_impossible_metric_has_no_bounds_for_a_gate_to_pass_on() -> None:
    assert logged_estimates({"f1": estimate(1.4, 1.2, 1.7)}) == {
        "pu/f1": 1.0,
        "pu/f1_infeasible": 1.0,
    }


@pytest.mark.parametrize("pure", [True, False])
def test_recall_stands_on_an_impossible_prior_only_where_labels_may_be_mistaken(
    pure: bool,
) -> None:
    precision = dataclasses.replace(estimate(1.4, 1.2, 1.7, name="precision"), se=0.1)
    told = logged_estimates(
        {"precision": precision, "recall": estimate(0.6, 0.5, 0.7, name="recall")}, pure=pure
    )
    bare = {key: number for key, number in told.items() if key.startswith("pu/recall")}
    assert bare == (
        {"pu/recall": 0.6, "pu/recall_low": 0.5, "pu/recall_high": 0.7}
        if pure
        else {"pu/recall": 0.6, "pu/recall_infeasible": 1.0}
    )


def test_a_precision_above_one_by_chance_leaves_the_others_as_they_are() -> None:
    precision = dataclasses.replace(estimate(1.2, 1.02, 1.4, name="precision"), se=0.09)
    told = logged_estimates({"precision": precision, "f1": estimate(0.4, 0.3, 0.6)})
    assert told["pu/f1_low"] == 0.3
    assert "pu/f1_infeasible" not in told
