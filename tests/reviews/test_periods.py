"""What changed between two periods: sizes hold what was changed, and what is named is right."""

from __future__ import annotations

import pytest

from benchmarks.reviews.changes import CHANGES, changed_periods
from benchmarks.reviews.windows import Cell
from pumonitor.monitor.rules.causes.by_reviews import cause_by_reviews

BY_NAME = {change.name: change for change in CHANGES}
RATIOS = {
    "nothing": (1.0, 1.0),
    "capacity doubled": (1.0, 1.0),
    "class prior doubled": (2.0, 1.0),
    "class prior halved": (0.5, 1.0),
    "complaints halved": (1.0, 0.5),
    "ranking broken, capacity doubled": (1.0, 1.0),
}


@pytest.fixture(scope="module", params=[True, False], ids=["blocks", "does not block"])
def found(request):
    cell = Cell(blocks=request.param)
    return request.param, {
        name: changed_periods(BY_NAME[name], cell, seed=51, run=0) for name in RATIOS
    }


def test_intervals_hold_what_was_changed(found):
    _, changes = found
    for name, (positives, complaints) in RATIOS.items():
        changed = changes[name]
        # The 99% intervals: eighteen of them are looked at.
        assert changed.positives.least < positives < changed.positives.most, name
        assert changed.complaints.least < complaints < changed.complaints.most, name
        falls = "ranking" in BY_NAME[name].kinds
        assert changed.auc.least < (-0.1 if falls else 0.0) + 0.02, name
        assert changed.auc.most > (-0.1 if falls else 0.0) - 0.02, name


def test_what_is_named_has_changed(found):
    blocks, changes = found
    for name, changed in changes.items():
        kinds = set(cause_by_reviews(changed, windows=3).kinds)
        if blocks and name == "complaints halved":
            # Only the jump at the cut tells it, and seldom for sure.
            assert kinds <= BY_NAME[name].kinds
        else:
            assert kinds == BY_NAME[name].kinds, name


def test_another_capacity_is_told_and_is_no_change_of_anything_else(found):
    _, changes = found
    changed = changes["capacity doubled"]
    assert changed.reviewed == pytest.approx((0.02, 0.04), rel=0.01)
    assert "4% of the rows were reviewed, 2% in the reference" in (
        cause_by_reviews(changed, windows=3).sentence
    )
    # Narrow enough to say that nothing happened, where independent estimates would not be.
    assert changed.positives.high / changed.positives.low < 2
    assert changed.auc.high - changed.auc.low < 0.08


def test_the_same_windows_give_the_same_numbers():
    first, again = (changed_periods(BY_NAME["nothing"], Cell(), seed=52, run=1) for _ in range(2))
    assert first == again
