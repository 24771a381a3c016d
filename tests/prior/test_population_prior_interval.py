"""The interval of the class prior of the population, from that of the unlabeled rows."""

import math

import numpy as np
import pytest

import pumonitor
from pumonitor import ScoreTable
from pumonitor.prior.estimation import _low_end, estimate_from_table
from tests.frozen import assert_as_frozen


def window(seed, *, rows=150, labeled=0.2, unlabeled_prior=0.02, separation=1.0):
    """Labels and scores of rows drawn one by one, and the process's class prior."""
    rng = np.random.default_rng([7, seed])
    prior = labeled + (1 - labeled) * unlabeled_prior
    positive = rng.random(rows) < prior
    labels = positive & (rng.random(rows) < labeled / prior)
    return labels.astype(int), rng.normal(separation * positive), prior


@pytest.mark.parametrize(
    # 2.5% of 60 runs are 1.5; a sum of squares missed 17.
    ("runs", "most"),
    [(15, 3), pytest.param(60, 6, marks=pytest.mark.slow)],
)
def test_the_low_end_holds_where_that_of_the_unlabeled_prior_stops_at_nothing(runs, most, request):
    """Thirty labeled rows, hardly told apart from 120 others of which 2% are positive."""
    missed, of_evaluation = 0, 0
    for seed in range(runs):
        labels, scores, truth = window(seed)
        prior = estimate_from_table(ScoreTable.from_arrays(labels, scores))
        missed += prior.low > truth
        if seed < runs / 3:
            ev = pumonitor.evaluate(labels, scores, class_prior="auto")
            of_evaluation += ev["class_prior"].low > truth
            assert ev["class_prior"].low <= prior.low
    assert missed <= most
    assert of_evaluation <= most / 2
    if runs == 60:
        assert_as_frozen(request, {"missed": missed / runs, "of_evaluation": of_evaluation / 20})


def test_low_end_by_hand():
    # Far from nothing both errors could have been larger: 3 and 4 make 5.
    far = _low_end(0.50, 0.47, 0.2, reach=0.04, reach_at_low=0.04)
    assert far == pytest.approx(0.45)
    # At nothing all of the labeled fraction's error is below.
    at_nothing = _low_end(0.50, 0.2, 0.2, reach=0.03, reach_at_low=0.04)
    assert at_nothing == pytest.approx(0.16)
    # Halfway on the scale of that error, the middle of the two.
    halfway = _low_end(0.50, 0.22, 0.2, reach=0.03, reach_at_low=0.04)
    assert halfway == pytest.approx(0.5 * (0.5 - math.hypot(0.28, 0.03)) + 0.5 * 0.18)
    # Nothing but the unlabeled prior is unknown.
    assert _low_end(0.5, 0.2, 0.2, reach=0.0, reach_at_low=0.0) == pytest.approx(0.2)


def test_a_windows_own_labeled_fraction_is_known():
    labels, scores, _ = window(0, rows=2000, unlabeled_prior=0.2, separation=3.0)
    table = ScoreTable.from_arrays(labels, scores)
    process, own = (estimate_from_table(table, target=target) for target in ("process", "window"))
    share = labels.mean()
    ends = [share + (1 - share) * end for end in own.unlabeled_prior_interval]
    assert [own.low, own.high] == pytest.approx(ends)
    assert own.value == process.value
    assert process.low < own.low
    assert process.high > own.high
