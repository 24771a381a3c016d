from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pumonitor.monitoring.pooling import EarlierPrior, pooled_class_prior
from pumonitor.prior import estimate_from_table
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable


def seen(value: float, *, error: float, least: float = 0.0) -> ClassPriorEstimate:
    return ClassPriorEstimate(
        value=value, low=value - 2 * error, high=value + 2 * error, method="auto", least=least
    )


def series(*values: float, error: float = 0.03) -> list[EarlierPrior]:
    return [
        EarlierPrior(index=at, estimate=seen(value, error=error)) for at, value in enumerate(values)
    ]


def test_a_small_window_follows_those_before_it() -> None:
    own = seen(0.16, error=0.04)
    pooled = pooled_class_prior(own, index=5, earlier=series(0.1, 0.11, 0.09, 0.1, 0.1))
    assert pooled is not None
    assert 0.1 < pooled.value < 0.13
    assert pooled.high - pooled.low < own.high - own.low
    assert pooled.method == "pooled auto"
    assert pooled.diagnostics["own_value"] == 0.16


def test_a_jump_beyond_the_errors_is_followed() -> None:
    own = seen(0.3, error=0.01)
    pooled = pooled_class_prior(own, index=5, earlier=series(*[0.1] * 5, error=0.01))
    assert pooled is not None
    assert pooled.low < 0.3 < pooled.high
    assert pooled.value > 0.25


def test_the_order_of_earlier_windows_does_not_matter_but_their_distance_does() -> None:
    own, earlier = seen(0.16, error=0.04), series(0.1, 0.12, 0.09)
    near = pooled_class_prior(own, index=3, earlier=earlier)
    shuffled = pooled_class_prior(own, index=3, earlier=earlier[::-1])
    far = pooled_class_prior(own, index=300, earlier=earlier)
    assert near is not None
    assert shuffled == near
    assert far is not None
    assert far.value > near.value


def test_a_window_that_tells_nothing_has_what_the_earlier_ones_say() -> None:
    pooled = pooled_class_prior(None, index=3, earlier=series(0.1, 0.1, 0.1))
    assert pooled is not None
    assert pooled.low < 0.1 < pooled.high
    assert pooled.method == "pooled"


def test_without_earlier_windows_or_with_a_given_prior_nothing_is_pooled() -> None:
    own, given = seen(0.16, error=0.04), ClassPriorEstimate.given(0.05)
    assert pooled_class_prior(own, index=0) is own
    assert pooled_class_prior(None, index=0) is None
    assert pooled_class_prior(given, index=3, earlier=series(0.1, 0.1)) is given


def test_no_window_has_fewer_positives_than_are_confirmed_in_it() -> None:
    own = seen(0.2, error=0.05, least=0.12)
    pooled = pooled_class_prior(own, index=5, earlier=series(*[0.1] * 5, error=0.02))
    assert pooled is not None
    assert pooled.value >= 0.12
    assert pooled.least == 0.12

    # However far off it is from what the earlier windows say.
    sure = replace(own, value=0.95, low=0.01, high=0.99, least=0.9)
    contradicted = pooled_class_prior(sure, index=9, earlier=series(*[0.05] * 9, error=0.002))
    assert contradicted is not None
    assert contradicted.low <= 0.9 == contradicted.value <= contradicted.high


def test_a_later_window_is_no_earlier_one() -> None:
    with pytest.raises(ValueError, match=r"must be before window 2, got window 3"):
        pooled_class_prior(None, index=2, earlier=series(0.1, 0.1, 0.1, 0.1))


@pytest.mark.parametrize("separation", ["kept", "fallen"])
def test_pooled_intervals_hold_the_prior_of_small_windows(separation: str) -> None:
    """Also when positives have come to score lower: their own scores are what tells the prior."""
    prior, held, errors, own_errors = 0.1, 0, [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        estimates = []
        for at in range(6):
            shift = 1.4 if separation == "fallen" and at >= 3 else 2.0
            positive = rng.random(1500) < prior
            labels = positive & (rng.random(1500) < 0.16)
            table = ScoreTable.from_arrays(labels, rng.normal(shift * positive))
            estimates.append(estimate_from_table(table))
        earlier = [EarlierPrior(index=at, estimate=one) for at, one in enumerate(estimates[:-1])]
        pooled = pooled_class_prior(estimates[-1], index=5, earlier=earlier)
        assert pooled is not None
        held += pooled.low <= prior <= pooled.high
        errors.append(abs(pooled.value - prior))
        own_errors.append(abs(estimates[-1].value - prior))
    assert held >= 10
    assert np.mean(errors) < 0.7 * np.mean(own_errors)
