"""Confirmed positives and negatives as the two parts of the unconfirmed rows."""

import numpy as np
import pytest
from scipy import optimize, stats

import pumonitor
from pumonitor import ScoreTable
from pumonitor.diagnostics.known_negatives import mixture_of_known
from pumonitor.report.assumptions import assumptions, doubts
from tests.frozen import assert_as_frozen


def drawn(rng, *, alike=0.0, prior=0.1, n_labeled=1000, n_negative=1000, n_unlabeled=10_000):
    """Labels and scores, N(2, 1) against N(0, 1); `alike`: negatives that score like positives."""

    def scores(positive):
        high = positive | (rng.random(len(positive)) < alike)
        return rng.normal(2.5 * high)

    positive = rng.random(n_unlabeled) < prior
    parts = [np.ones(n_labeled, bool), np.zeros(n_negative, bool), positive]
    labels = np.repeat([1, -1, 0], [n_labeled, n_negative, n_unlabeled]).astype(np.int8)
    return labels, np.concatenate([scores(part) for part in parts])


def test_fit_against_a_general_optimiser():
    """The likelihood of Poisson counts, maximised over both densities and the share."""
    labeled, negative, unlabeled = (
        np.array([3.0, 20, 40, 60]),
        np.array([50.0, 30, 9, 0]),
        np.array([500.0, 390, 190, 110]),
    )
    sizes = [rows.sum() for rows in (labeled, negative, unlabeled)]

    def lost(parameters):
        g, h = np.exp(parameters[:4]), np.exp(parameters[4:8])
        share = 1 / (1 + np.exp(-parameters[8]))
        means = sizes[0] * g, sizes[1] * h, sizes[2] * (share * g + (1 - share) * h)
        return sum(
            np.sum(mean - seen * np.log(mean) - np.where(seen > 0, seen - seen * _log(seen), 0))
            for seen, mean in zip((labeled, negative, unlabeled), means, strict=True)
        )

    start = np.concatenate([np.log(labeled / 123), np.log((negative + 0.5) / 90), [-1.0]])
    best = optimize.minimize(lost, start, method="L-BFGS-B", options={"maxiter": 5000})
    # Bins of equal rank are these cells themselves.
    table = ScoreTable.from_counts(
        labeled, unlabeled, negative=negative, lower=[0, 1, 2, 3], upper=[0, 1, 2, 3]
    )
    fit = mixture_of_known(table)
    assert fit.share == pytest.approx(1 / (1 + np.exp(-best.x[8])), abs=0.003)
    assert fit.misfit.min() == pytest.approx(2 * best.fun, abs=0.01)


def _log(rows):
    return np.log(np.maximum(rows, 1e-300))


def test_share_is_that_of_the_mixture_though_some_negatives_score_like_positives():
    for seed in range(10):
        labels, scores = drawn(np.random.default_rng(seed), alike=0.2)
        fit = mixture_of_known(ScoreTable.from_arrays(labels, scores))
        assert abs(fit.share - 0.1) < 0.06
        assert fit.p_value_between(0.26, 0.30) < 1e-4
        assert fit.p_value_between(0.0, 1.0) == 1.0


@pytest.mark.parametrize(
    # 2% of 400 are 8, with a standard deviation of 2.8; of 60 they are 1.2, with one of 1.1.
    ("runs", "most"),
    [(60, 5), pytest.param(400, 17, marks=pytest.mark.slow)],
)
def test_true_share_is_rejected_no_more_often_than_stated(runs, most, request):
    """Thirty to a hundred confirmed negatives: bins without any are no proof of none."""
    rejected, misfits = 0, 0
    for seed in range(runs):
        rng = np.random.default_rng([5, seed])
        table = ScoreTable.from_arrays(
            *drawn(rng, n_labeled=100, n_negative=30 + 70 * (seed % 2), n_unlabeled=3000)
        )
        fit = mixture_of_known(table)
        rejected += fit.p_value_between(0.0999, 0.1001) < 0.02
        misfits += fit.p_value < 0.02
    assert rejected <= most
    assert misfits <= most
    if runs == 400:
        assert_as_frozen(request, {"rejected": rejected / runs, "misfits": misfits / runs})


@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
def test_an_estimate_that_counts_negatives_as_positives_is_contradicted(findings, scenario):
    rng = np.random.default_rng(2)
    if scenario == "case-control":
        labels, scores = drawn(rng, alike=0.2)
        truth = 0.1
    else:
        positive = rng.random(30_000) < 0.1
        high = positive | (rng.random(30_000) < 0.2)
        scores = rng.normal(2.5 * high)
        chance = rng.random(30_000)
        labels = np.where(positive, chance < 0.3, -(chance < 0.05).astype(int)).astype(np.int8)
        truth = positive.mean()
    found = findings(labels, scores, class_prior="dedpul", scenario=scenario)
    finding = found["prior_against_known_negatives"]
    assert finding.severity == "warning"
    assert "some negatives score like positives, and were counted as such" in finding.sentence
    assert "The class prior was estimated as 0." in finding.sentence
    suggested = float(finding.sentence.rsplit("class_prior=", 1)[1].rstrip("."))
    assert abs(suggested - truth) < 0.05


def test_a_given_prior_too_low_is_contradicted_and_the_right_one_is_not(window, findings):
    labels = window.fair.copy()
    labels[~window.positive & (window.rng.random(20_000) < 0.1)] = -1
    assert "prior_against_known_negatives" not in findings(labels, window.scores)
    found = findings(labels, window.scores, class_prior=0.05)
    sentence = found["prior_against_known_negatives"].sentence
    assert "was given as 0.05" in sentence
    assert "it is wrong, or one of the two is not a fair sample of its class" in sentence


def test_rows_that_do_not_mix_are_said_in_case_control(findings):
    rng = np.random.default_rng(3)
    labels, scores = drawn(rng)
    easy = scores.copy()
    easy[labels == 1] = np.abs(rng.normal(size=1000)) + 2.5
    found = findings(labels, easy, scenario="case-control")
    assert "score elsewhere" in found["known_rows_do_not_mix"].sentence
    assert "known_rows_do_not_mix" not in findings(labels, scores, scenario="case-control")


def test_too_few_negatives_and_propensities_say_nothing(findings):
    labels, scores = drawn(np.random.default_rng(4), alike=0.3, n_negative=29)
    found = findings(labels, scores, class_prior=0.05, scenario="case-control")
    assert "prior_against_known_negatives" not in found
    labels, scores = drawn(np.random.default_rng(4))
    weights = np.where(labels == 1, 0.5, 1.0)
    found = findings(labels, scores, class_prior=0.4, propensity=weights)
    assert "prior_against_known_negatives" not in found


def test_no_fit_from_a_handful_of_rows():
    labels, scores = drawn(np.random.default_rng(0), n_labeled=15, n_negative=200)
    assert mixture_of_known(ScoreTable.from_arrays(labels, scores)) is None


def exact_mixture(share, *, n_labeled, n_negative, n_unlabeled):
    """Counts as nearly a mixture of two normals 3 apart as whole numbers can be."""
    edges = np.linspace(-4, 7, 200)
    labeled, negative = (np.diff(stats.norm.cdf(edges, mean)) for mean in (3, 0))
    labeled, negative = labeled / labeled.sum(), negative / negative.sum()
    return ScoreTable.from_counts(
        np.round(n_labeled * labeled),
        np.round(n_unlabeled * (share * labeled + (1 - share) * negative)),
        negative=np.round(n_negative * negative),
        edges=edges,
    )


@pytest.mark.parametrize("share", [0.0009, 0.0031, 0.301])
def test_of_millions_of_rows_the_share_is_found_between_the_steps_of_the_grid(share):
    fit = mixture_of_known(exact_mixture(share, n_labeled=10_000, n_negative=1e6, n_unlabeled=1e7))
    assert fit.share == pytest.approx(share, rel=0.02)
    assert fit.p_value > 0.5
    assert fit.p_value_between(share, share) > 0.5
    assert fit.p_value_between(0.9 * share, 0.95 * share) < 0.5


def test_a_range_without_a_step_of_the_grid_counts_with_its_nearer_end():
    fit = mixture_of_known(exact_mixture(0.0031, n_labeled=100, n_negative=5e3, n_unlabeled=5e4))
    ends = [fit.p_value_between(end, end) for end in (0.0062, 0.0079)]
    assert 1e-6 < ends[0] < 0.1
    assert ends[0] > 2 * ends[1]
    assert fit.p_value_between(0.0062, 0.0079) == pytest.approx(ends[0])
    assert fit.p_value_between(1.2, 1.3) < 1e-9


def test_any_increasing_change_of_the_scores_changes_nothing():
    labels, scores = drawn(np.random.default_rng(1))
    one, other = (
        mixture_of_known(ScoreTable.from_arrays(labels, values))
        for values in (scores, np.exp(0.3 * scores))
    )
    assert one.share == other.share
    np.testing.assert_array_equal(one.misfit, other.misfit)


def test_the_finding_and_what_cannot_be_seen_reach_the_report():
    labels, scores = drawn(np.random.default_rng(2), alike=0.2)
    evaluation = pumonitor.evaluate(
        labels, scores, threshold=2.0, class_prior="dedpul", scenario="case-control"
    )
    said = [text for severity, text in doubts(evaluation) if severity == "warning"]
    assert any("look like confirmed positives and confirmed negatives mixed" in t for t in said)
    unseen = assumptions(evaluation)["What cannot be seen"]
    assert "some negatives score exactly like positives" in unseen
    assert "easy positives are confirmed first" in unseen
