import numpy as np
import pytest
from scipy import special

from pumonitor.prior.over_time import ScoreIndex


def counted(rng, rows, share, separation=2.0):
    positive = rng.random(rows) < share
    scores = rng.normal(size=rows) + separation * positive
    labeled = positive & (rng.random(rows) < 0.3)
    order = np.argsort(scores)
    return scores[order], labeled[order].astype(float), np.ones(rows)


def test_the_index_is_close_to_the_ratio_of_densities():
    scores, labeled, rows = counted(np.random.default_rng(1), 60_000, 0.05)
    index = ScoreIndex.learned(scores, labeled, rows)
    at = np.array([-1.0, 0.0, 1.0, 2.0, 3.0])
    positives, negatives = np.exp(-0.5 * (at - 2) ** 2), np.exp(-0.5 * at**2)
    truth = positives / (0.05 * positives + 0.95 * negatives)
    assert index.of(at) == pytest.approx(truth, rel=0.35, abs=0.1)


def test_a_ratio_that_rises_faster_at_the_top_is_followed_there():
    """The log ratio is n + .15 n^2 in the normal score n of the rank."""
    scores = np.arange(2000.0)
    normal = special.ndtri((scores + 0.5) / 2000)
    log_ratio = normal + 0.15 * normal**2
    index = ScoreIndex.learned(scores, 20 * np.exp(log_ratio), np.full(2000, 1000.0))
    at = np.array([1000, 1600, 1900])  # n of 0, .84 and 1.64
    found = np.log(index.of(scores[at]))
    assert np.diff(found) == pytest.approx(np.diff(log_ratio[at]), abs=0.07)


def test_the_index_never_falls_and_is_never_above_sixty():
    scores, labeled, rows = counted(np.random.default_rng(2), 30_000, 0.004, separation=6.0)
    index = ScoreIndex.learned(scores, labeled, rows)
    assert (np.diff(index.values) >= 0).all()
    assert index.values.max() == pytest.approx(60.0)


def test_moments_are_those_of_the_rows():
    scores, labeled, rows = counted(np.random.default_rng(3), 500, 0.2)
    index = ScoreIndex.learned(scores, labeled, rows)
    one_by_one = np.repeat(index.of(scores), 3)
    mean, variance = index.moments(scores, 3 * rows)
    assert mean == pytest.approx(one_by_one.mean())
    assert variance == pytest.approx(one_by_one.var())
    assert np.isnan(index.moments(scores, 0 * rows)).all()


def test_an_edge_belongs_to_the_cell_above_it():
    index = ScoreIndex(edges=np.array([0.5]), values=np.array([0.2, 3.0]))
    assert index.of(np.array([0.49, 0.5])).tolist() == [0.2, 3.0]


def test_without_confirmed_rows_there_is_no_index():
    with pytest.raises(ValueError, match="without confirmed rows"):
        ScoreIndex.learned(np.arange(5.0), np.zeros(5), np.ones(5))
