"""How wide intervals of AUL and AUC are: tables of known scores. Coverage would not show it."""

import numpy as np
import pytest
from scipy import special

from pumonitor.metrics import auc, aul
from pumonitor.metrics.from_arrays import problem_from_arrays
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.window_target import window_prior
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

LABELED = [5, 8, 10, 20, 50]


def unseen_share_alone(value: float, labeled: int) -> float:
    """AUL, were the share that n_L labeled rows miss in one window of 40 to score at random."""
    unseen = 1 - 0.025 ** (1 / labeled)
    return (1 - unseen) * value + unseen / 2


def top_of(rows: int, share: float, labeled: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows by score, of which labeled ones lie evenly in the top share."""
    labels = np.zeros(rows, dtype=np.int8)
    middles = (np.arange(labeled) + 0.5) / labeled
    labels[(rows * (1 - share * middles)).astype(int)] = 1
    return labels, np.arange(rows) / rows


def by_normal_scores(labeled: int, true_auc: float, rows: int = 20_000) -> ScoreTable:
    """Labeled rows at the quantiles of N(d, 1) among rows at those of N(0, 1)."""
    distance = special.ndtri(true_auc) * np.sqrt(2)
    scores = np.concatenate(
        [
            distance + special.ndtri((np.arange(labeled) + 0.5) / labeled),
            special.ndtri((np.arange(rows) + 0.5) / rows),
        ]
    )
    return ScoreTable.from_arrays(np.arange(len(scores)) < labeled, scores, density_edges=0)


@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
@pytest.mark.parametrize("target", ["process", "window"])
@pytest.mark.parametrize("share", [0.01, 0.1])
def test_eight_positives_in_the_top_are_a_good_ranking(share, target, scenario):
    labels, scores = top_of(200_000, share, 8)
    setting = {"class_prior": 0.01, "target": target, "scenario": scenario}
    for metric in (aul, auc):
        found = metric(labels, scores, **setting)
        assert found.low > 0.9 * unseen_share_alone(found.value, 8), found
        assert found.low < found.value - 0.04, found


@pytest.mark.parametrize("labeled", LABELED)
def test_the_better_the_ranking_the_narrower_the_interval(labeled):
    widths, lows = [], []
    for true_auc in (0.75, 0.9, 0.97, 0.99, 0.999):
        table = by_normal_scores(labeled, true_auc)
        problem = make_problem(table, ClassPriorEstimate.given(0.01))
        low, high = np.quantile(observed_lift(problem).draws, [0.025, 0.975])
        widths.append(high - low)
        lows.append(low)
    assert np.all(np.diff(widths) < 0), widths
    assert np.all(np.diff(lows) > 0), lows
    assert lows[-1] > 1 - 1.5 * 0.5 / labeled


@pytest.mark.parametrize("labeled", LABELED)
def test_a_ranking_without_a_fault_leaves_room_for_one_in_n_unseen(labeled):
    labels = np.arange(labeled + 1000) < labeled
    scores = np.where(labels, 1.0, 0.0)
    found = aul(labels, scores, class_prior=0.01, scenario="case-control")
    assert (found.value, found.high) == (1.0, 1.0)
    # A share of about 1 / n_L at random, which lowers AUL by half as much.
    assert 2 * labeled * (1 - found.low) == pytest.approx(1.18, abs=0.06)


def test_what_is_unseen_draws_a_reversed_ranking_up_as_it_draws_a_good_one_down():
    labels, scores = top_of(20_000, 0.01, 8)
    up, down = aul(labels, scores), aul(labels, -scores)
    assert (down.low, down.high) == pytest.approx((1 - up.high, 1 - up.low), abs=1e-9)


def test_a_window_with_as_many_labels_as_the_prior_has_positives_is_not_all_known():
    """A known class prior is the process's: here it gives 60.5 positives, and 60 are labeled."""
    labels, scores = top_of(4000, 0.4, 60)

    def width(positives, **setting):
        found = aul(labels, scores, class_prior=positives / 4000, **setting)
        return found.high - found.low

    assert width(60.5, target="window") > 0.25 * width(60.5, target="process")
    assert width(60.0, target="window") < 1e-9
    # One more is labeled than it gives: so this window has more of them than the process.
    assert width(59.0, target="window") == pytest.approx(width(60.5, target="window"), rel=0.25)


def test_labels_of_which_some_are_wrong_leave_positives_that_are_not_labeled():
    """Of 60 labels 48 are right, of 60 positives: the other twelve are somewhere else."""
    found = window_prior(
        problem_from_arrays(
            *top_of(4000, 0.4, 60), class_prior=60 / 4000, label_purity=0.8, target="window"
        )
    )
    assert 48 / 4000 < np.min(found) < 60 / 4000 < np.max(found)
