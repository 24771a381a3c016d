"""What is believed before anything is counted, and the chance of what was counted."""

import numpy as np
import pytest
from scipy import special

from pumonitor.audit.components import smooth_covariance
from pumonitor.audit.laplace import draw_posterior
from pumonitor.reviews.believed import ComplaintRate, believed_components
from pumonitor.reviews.estimation import estimate_reviews
from pumonitor.reviews.likelihood import ReviewLikelihood
from tests.oracles.review_cells import (
    SHAPES,
    Line,
    covariance_of_p,
    covariance_of_v,
    log_likelihood,
)
from tests.reviews.made_up_queue import counts_of

NORMAL_SCORE = np.array([-1.3, -0.2, 0.4, 1.1, 1.9, 2.6])
LINE = Line(
    normal_score=NORMAL_SCORE,
    rank=np.array([-0.9, -0.6, -0.1, 0.2, 0.6, 0.95]),
    without_verdict=np.arange(6) < 3,
    anchor=1.1,
)


def components(**changed):
    return believed_components(
        normal_score=LINE.normal_score,
        rank=LINE.rank,
        without_verdict=LINE.without_verdict,
        anchor=LINE.anchor,
        **changed,
    )


def precisions(mixture):
    """Of (logit p, v), a matrix a component."""
    of_v = np.kron([[0, 0], [0, 1]], mixture.precision_v)
    return [np.kron([[1, 0], [0, 0]], mixture.precision_p[shape]) + of_v for shape in mixture.shape]


def test_the_mixture_over_the_level_is_the_normal_that_is_stated():
    mixture = components()
    weight = np.exp(mixture.log_weight)
    assert weight.sum() == pytest.approx(1)
    mean = weight @ mixture.mean
    assert mean[6:] == pytest.approx(0, abs=1e-9)
    within = sum(
        share * np.linalg.inv(precision)
        for share, precision in zip(weight, precisions(mixture), strict=True)
    )
    away = mixture.mean - mean
    covariance = within + (weight[:, None] * away).T @ away
    # The mixture ends at 2.6 standard deviations of the level, which takes 6% off its variance.
    assert covariance[6:, 6:] == pytest.approx(covariance_of_v(LINE), abs=0.06 * 2.25)
    assert covariance[:6, 6:] == pytest.approx(0, abs=1e-9)
    of_p = np.mean([covariance_of_p(LINE, *shape) for shape in SHAPES], axis=0)
    assert covariance[:6, :6] == pytest.approx(of_p)
    assert mean[:6] == pytest.approx(-2 + 1.5 * (NORMAL_SCORE - 1.1))


def test_a_component_differs_from_what_is_believed_of_complaints_by_its_level_alone():
    """Slope, step, bend and departures are those of the table in each of them."""
    for precision in precisions(components())[::40]:
        off = np.linalg.inv(precision)[6:, 6:] - covariance_of_v(LINE)
        assert off == pytest.approx(np.full((6, 6), off[0, 0]), abs=1e-9)
        assert -2.25 < off[0, 0] < -2


def test_the_level_has_no_dents_between_components():
    mixture = components()
    spread = np.sqrt(
        np.linalg.inv(mixture.precision_v)[0, 0] - covariance_of_v(LINE)[0, 0] + 1.5**2
    )
    levels, weight = mixture.mean[:, 6], np.exp(mixture.log_weight)
    at = np.linspace(-3, 3, 61)
    density = (weight * np.exp(-0.5 * ((at[:, None] - levels) / spread) ** 2)).sum(axis=1) / spread
    normal = np.exp(-0.5 * (at / 1.5) ** 2) / 1.5
    assert density == pytest.approx(normal, rel=0.03)


def test_determinants_are_those_of_the_precisions():
    mixture = components()
    assert mixture.log_determinant == pytest.approx(np.linalg.slogdet(precisions(mixture))[1])


@pytest.mark.parametrize("bend", [0.5, 5.0])
def test_logit_p_bends_as_an_integrated_wiener_process_on_either_side_of_the_anchor(bend):
    """By random steps of the slope, one walk to either side."""
    rng = np.random.default_rng(8)
    away, step = np.array([-1.5, -0.4, 0.5, 2.0]), 0.01
    walks = bend * np.sqrt(step) * rng.standard_normal((4000, 2, 200))
    slope = np.cumsum(walks, axis=2)
    # The mean of the slope before and after each step.
    height = np.cumsum(step * (slope - 0.5 * walks), axis=2)
    side, last = (away > 0).astype(int), np.rint(np.abs(away) / step).astype(int) - 1
    bent = height[:, side, last]
    expected = np.cov(bent.T) / bend**2
    beside = {"level": 4.0, "slope": 1.5, "noise": 0.4}
    flat = smooth_covariance(away, bend=0.0, **beside)
    own = (smooth_covariance(away, bend=bend, **beside) - flat) / bend**2
    # Of 4,000 walks a variance errs by 2.2%: four times that.
    error = 0.09 * np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.all(np.abs(own - expected) < error)
    level_and_slope = 16 + 2.25 * np.outer(away, away) + 0.16 * np.eye(4)
    assert flat == pytest.approx(level_and_slope)


SMALL = {
    "open_complained": [0, 0, 1, 1, 0, 0],
    "open_silent": [9, 6, 4, 3, 0, 0],
    "positive_complained": [0, 0, 0, 0, 1, 1],
    "positive_silent": [0, 0, 0, 0, 1, 2],
    "cleared_silent": [0, 0, 0, 0, 3, 1],
}


@pytest.mark.parametrize("detection", [None, (1.0, 0.7)])
@pytest.mark.parametrize("blocks", [True, False])
def test_the_evidence_is_the_mean_likelihood_of_what_is_believed(blocks, detection):
    rows = {name: np.array(number) for name, number in SMALL.items()}
    counts = counts_of(rows, blocks=blocks)
    likelihood = ReviewLikelihood(counts=counts, errs=detection is not None)
    own = draw_posterior(
        likelihood,
        components(),
        detection=detection,
        overall=None,
        size=500,
        rng=np.random.default_rng(3),
    ).log_evidence
    rng = np.random.default_rng(4)
    size = 60_000
    v = rng.multivariate_normal(np.zeros(6), covariance_of_v(LINE), size, method="cholesky")
    each = [
        rng.multivariate_normal(
            -2 + 1.5 * (NORMAL_SCORE - 1.1),
            covariance_of_p(LINE, *shape),
            size // len(SHAPES),
            method="cholesky",
        )
        for shape in SHAPES
    ]
    s_logit = np.full((size, 1), 40.0) if detection is None else rng.normal(*detection, (size, 1))
    log = log_likelihood(rows, np.concatenate(each), v, s_logit, blocks=blocks).sum(axis=1)
    expected = special.logsumexp(log) - np.log(size)
    worth = np.exp(2 * special.logsumexp(log) - special.logsumexp(2 * log))
    # Four standard errors of the mean, and 3% for the ends of the mixture.
    assert own == pytest.approx(expected, abs=4 / np.sqrt(worth) + 0.03)


def test_what_is_believed_is_drawn_where_nothing_is_counted():
    """All rows were stopped or known by a rule: draws are those of the prior."""
    rows = {"stopped": [40, 40, 40, 40], "known_positive": [1, 1, 1, 1]}
    found = estimate_reviews(counts_of(rows, blocks=True), seed=2)
    v = special.logit(1 - found.e)
    assert v.mean() == pytest.approx(0, abs=0.15)
    assert v.mean(axis=1).std() == pytest.approx(1.5, abs=0.15)
    # Five components of the level reach beyond: draws of the mixture are near independent.
    assert found.effective > 1500


def test_a_steeper_belief_reaches_further():
    rows = {"stopped": [40, 40, 40, 40], "known_positive": [1, 1, 1, 1]}
    spreads = []
    for slope in (0.5, 3.0):
        believed = ComplaintRate(slope=slope)
        v = -special.logit(estimate_reviews(counts_of(rows, blocks=True), complaints=believed).e)
        spreads.append((v[:, -1] - v[:, 0]).std())
    assert spreads[1] > 2 * spreads[0]
