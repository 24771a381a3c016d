"""What holds under a review that labels do not rule out."""

from __future__ import annotations

import numpy as np
import pytest

from pumonitor.diagnostics.review_ruled_out import SHARES_BELOW
from pumonitor.gate import MeanEvidence, PairedLabels
from pumonitor.gate.possible_reviews import PossibleReviews
from pumonitor.gate.score_counts import ScoreCounts

_ERROR = 0.025
_ENOUGH = np.log(2 / _ERROR)


def _window(recall: list[float], below: list[float], weight: float | None = None) -> PairedLabels:
    """Labels at these shares of rows below, by both models; with a weight by propensity."""
    rows = np.arange(100.0)
    counts = ScoreCounts.of((rows > 90).astype(int), rows)
    return PairedLabels(
        recall=np.array(recall),
        aul=np.zeros(len(recall)),
        weights=np.full(len(recall), weight or 1.0),
        counts={} if weight else {"champion": counts, "challenger": counts},
        positives=len(recall),
        rows=100,
        largest_weight=weight or 1.0,
        champion_below=np.array(below),
    )


def _reviews(*windows: PairedLabels, evidence: list[float]) -> PossibleReviews:
    """Of the champion's highest tenth, with this evidence against each share below."""
    return PossibleReviews(
        windows=windows, depths=np.array([0.1]), evidence={"champion": np.array([evidence])}
    )


_HIGH, _LOW = _ENOUGH + 0.01, _ENOUGH - 0.01


def test_a_review_is_ruled_out_by_half_of_the_error() -> None:
    window = _window([1.0], [0.95])
    assert _reviews(window, evidence=[_HIGH] * 3).are_ruled_out(error=_ERROR)
    assert not _reviews(window, evidence=[_HIGH, _HIGH, _LOW]).are_ruled_out(error=_ERROR)


def test_a_difference_counts_if_it_holds_after_the_reviews_that_are_left() -> None:
    """Labels below the depth then stand for ten, twenty or fifty positives each."""
    windows = [_window([1.0] * 6, [0.95] * 6) for _ in range(5)]
    below = [*windows, *[_window([-1.0], [0.5]) for _ in range(3)]]

    def undecided(seen, evidence, **asked):
        return _reviews(*seen, evidence=evidence).undecided(
            "recall", above=0.0, error=_ERROR, **asked
        )

    assert undecided(windows, [_HIGH] * 3) is None
    # Of rows that nobody looked at nothing is known, whatever labels there are elsewhere.
    assert undecided(windows, [_LOW, _HIGH, _HIGH]).share_below == SHARES_BELOW[0]
    # Thirty for it against three: of 60 positives at one in twenty, of 30 at one in ten.
    found = undecided(below, [_HIGH, _LOW, _LOW])
    assert (found.model, found.depth, found.share_below) == ("champion", 0.1, SHARES_BELOW[1])
    against = [_window([-1.0] * 6, [0.5] * 6) for _ in range(8)]
    assert undecided(against, [_HIGH, _HIGH, _LOW], is_reversed=True) is None
    assert undecided(against, [_HIGH, _HIGH, _LOW]) is not None


def test_labels_below_the_depth_weigh_one_over_the_share_that_was_looked_at() -> None:
    window = _window([1.0, -1.0, 0.0], [0.95, 0.9, 0.89])
    reviews = _reviews(window, evidence=[_HIGH, _HIGH, _LOW])
    found = reviews._reweighted("recall", "champion", depth=0.1, share_below=0.1)
    assert found.weights.tolist() == [1.0, 1.0, 10.0]
    assert found.largest_weight == 10.0


def test_labels_with_propensities_keep_their_weights() -> None:
    """They say how they were chosen: three that stand for twenty each outweigh thirty of one."""
    fair = [_window([1.0] * 6, [0.95] * 6) for _ in range(5)]
    heavy = _window([-1.0] * 3, [0.95] * 3, weight=20.0)
    reviews = _reviews(*fair, heavy, evidence=[_HIGH, _HIGH, _LOW])
    found = reviews._reweighted("recall", "champion", depth=0.1, share_below=0.1)
    assert found.mean == pytest.approx((30 - 60) / 90)
    assert found.largest_weight == 20.0
    assert reviews.undecided("recall", above=0.0, error=_ERROR) is not None


def test_evidence_of_positives_of_one_entity_is_that_of_one_unit() -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(2000) < 0.1).astype(int)
    scores = rng.normal(labels, 2.0)
    alone = PairedLabels.of_window(labels, scores, scores, capacity=0.05)
    entity = np.arange(2000)
    entity[labels == 1] = np.arange(labels.sum()) // 2
    twos = PairedLabels.of_window(labels, scores, scores, capacity=0.05, entity=entity)
    share = len(twos.weights) / alone.positives
    found = [PossibleReviews.of([one], capacity=0.05).evidence["champion"] for one in (alone, twos)]
    assert found[1] == pytest.approx(share * found[0])
    assert share == pytest.approx(0.5, abs=0.01)
    assert isinstance(PossibleReviews.of([], capacity=0.05).evidence, dict)


def test_labels_needed_go_with_the_evidence_that_is_there() -> None:
    windows = [_window([1.0] * 20, [0.95] * 20) for _ in range(5)]
    found = _reviews(*windows, evidence=[_ENOUGH / 2, _HIGH, _HIGH])
    assert found.undecided("recall", above=0.0, error=_ERROR).labels_needed == 200
    little = _reviews(*windows, evidence=[0.9, _HIGH, _HIGH])
    assert little.undecided("recall", above=0.0, error=_ERROR).labels_needed is None
    assert MeanEvidence.of([one.recall for one in windows]).capital() > 1 / _ERROR
