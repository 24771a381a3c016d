"""Windows whose class priors were followed from one level are compared at that level."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pumonitor.monitor.rules.reference.attribution import at_prior, attribute_f1
from pumonitor.monitor.rules.reference.compared import compared, level_of
from pumonitor.monitor.rules.reference.one_prior import PRIOR_FACTOR, stands_on
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.rules.reference.uncertain import Uncertain

FLAGGED = 0.12


def known(value: float, times: float = 1.0, *, off: float = 0.0) -> Uncertain:
    """Known to a factor, or to so much on both sides."""
    low, high = (value - off, value + off) if off else (value / times, value * times)
    return Uncertain(value=value, low=low, high=high, se=(high - low) / 3.92)


def window(
    prior: float, recall: float, *, factor: float | None = None, flagged: float = FLAGGED
) -> dict[str, Uncertain]:
    parts = {
        "class_prior": known(prior, 2.0),
        "recall": known(recall, off=0.04),
        "predicted_positive_rate": known(flagged, off=0.001),
    }
    value = at_prior("f1", {name: parts[name].value for name in stands_on("f1")})
    assert value is not None
    found = parts | {"f1": known(value, 1.8)}
    return found if factor is None else found | {PRIOR_FACTOR: known(factor, 1.05)}


def reference(level: float) -> ReferenceWindows:
    """Estimates of the level came nearer to it from window to window."""
    rng = np.random.default_rng(1)
    return ReferenceWindows(
        windows=[
            window(level * math.exp(0.5 / (at + 1)), 0.6 + 0.01 * rng.normal()) for at in range(12)
        ]
    )


def test_a_worse_recall_is_seen_though_nobody_knows_the_level() -> None:
    worse, same = (window(0.05, recall, factor=1.0) for recall in (0.42, 0.6))
    then = reference(0.05)
    found = compared("f1", worse, then)
    assert found.change.high < 0
    truth = [
        at_prior("f1", dict(zip(stands_on("f1"), (0.05, one, FLAGGED), strict=True)))
        for one in (0.42, 0.6)
    ]
    assert found.change.value == pytest.approx(truth[0] - truth[1], abs=0.01)
    assert found.usual == pytest.approx(truth[1], abs=0.01)
    quiet = compared("f1", same, then).change
    assert quiet.low < 0 < quiet.high
    assert quiet.value == pytest.approx(0.0, abs=0.01)
    # Without what has moved, the two priors may be off by different factors.
    alone = {name: one for name, one in worse.items() if name != PRIOR_FACTOR}
    assert compared("f1", alone, then).change.high > 0


@pytest.mark.parametrize("wrong", [0.5, 2.0])
def test_a_level_that_is_wrong_is_as_wrong_before_as_now(wrong: float) -> None:
    """The share of the change hardly depends on it, and its sign and interval do not."""
    then = reference(wrong * 0.05)
    for recall, drops in ((0.42, True), (0.6, False)):
        one = compared("f1", window(wrong * 0.05, recall, factor=1.0), then)
        assert (one.change.high < 0) == drops
        assert (one.change.value / one.usual < -0.2) == drops


def test_a_prior_that_moved_is_a_change_of_what_stands_on_it() -> None:
    of_negatives = (FLAGGED - 0.05 * 0.6) / 0.95
    flagged = 0.10 * 0.6 + 0.90 * of_negatives
    now = window(0.10, 0.6, factor=2.0, flagged=flagged)
    level = level_of(now)
    assert level is not None
    assert level.value == pytest.approx(0.05, rel=0.011)
    # Most of a factor of 2 is not known of the level, the rest of how far it has moved.
    assert level.high / level.value == pytest.approx(
        math.exp(math.sqrt(math.log(2) ** 2 - math.log(1.05) ** 2))
    )
    change = compared("f1", now, reference(0.05)).change
    before, after = (
        at_prior("f1", dict(zip(stands_on("f1"), (prior, 0.6, rate), strict=True)))
        for prior, rate in ((0.05, FLAGGED), (0.10, flagged))
    )
    assert change.low < after - before < change.high
    assert change.low > 0
    parts = attribute_f1(now, {**window(0.05, 0.6), "class_prior": level})
    assert parts["prior"].low > 0
    assert parts["ranking"].low < 0 < parts["ranking"].high


def test_windows_that_have_all_moved_are_compared_by_what_moved_since() -> None:
    """How far they all are from the level is known no better, and is in both."""
    moved = Uncertain(value=2.0, low=1.6, high=2.5, se=0.23)
    then = ReferenceWindows(
        windows=[window(0.10, 0.6 + 0.01 * (-1) ** at) | {PRIOR_FACTOR: moved} for at in range(12)]
    )
    same = compared("f1", window(0.10, 0.6) | {PRIOR_FACTOR: moved}, then).change
    worse = compared("f1", window(0.10, 0.42) | {PRIOR_FACTOR: moved}, then).change
    assert same.value == pytest.approx(0.0, abs=0.005)
    assert same.high - same.low < 0.15
    assert worse.high < 0
