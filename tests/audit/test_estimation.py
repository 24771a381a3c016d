"""Draws of an audit: against other computations, and what they must keep to."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.frequency import FAIR, UNKNOWN, FrequencyByScore, line_of_bins
from pumonitor.audit.likelihood import AuditLikelihood
from pumonitor.audit.metrics import metric_draws
from pumonitor.audit.reading import Reading, Reviewers
from pumonitor.errors import InputError
from tests.audit.made_up_audit import CONFIRMED, FOUND, ROWS, bins, counts
from tests.oracles.audit_metropolis import metropolis

LEVELS = [0.025, 0.25, 0.5, 0.75, 0.975]


def quantiles(draws):
    return np.quantile(draws, LEVELS)


@pytest.mark.slow
@pytest.mark.parametrize("found", [FOUND, 0 * FOUND], ids=["found", "none found"])
def test_draws_agree_with_a_long_random_walk(found):
    audit = counts(found=found)
    drawn = estimate_audit(audit, draws=20_000)
    walked = metropolis(audit, chains=80, steps=9000)
    for own, name in zip(drawn.line, ("alpha", "beta", "gamma"), strict=True):
        # Walks of two seeds differ by .15 where nothing was found, whose ridge is long; and draws
        # are worth a thousand independent ones there.
        off = (0.15 if found.any() else 0.25) * max(1.0, walked[name].std())
        # The mixture over the level ends at 2.6 standard deviations: at alpha = -5.1.
        expected = np.maximum(quantiles(walked[name]), -5.6 if name == "alpha" else -np.inf)
        assert quantiles(own) == pytest.approx(expected, abs=off)
    for at in range(12):
        own = np.log(quantiles(drawn.p[:, at]))
        other = np.log(quantiles(walked["p"][..., at]))
        assert own[1:] == pytest.approx(other[1:], abs=0.1 if found.any() else 0.2)
    share = (drawn.p * ROWS).sum(axis=1), (walked["p"] * ROWS).sum(axis=-1)
    near = 0.04 if found.any() else 0.08
    assert np.log(quantiles(share[0])) == pytest.approx(np.log(quantiles(share[1])), abs=near)


def test_census_is_the_truth():
    truth = np.maximum(ROWS // 50, 3) + CONFIRMED
    audit = counts(found=truth - CONFIRMED, decided=ROWS - CONFIRMED, concordance=0.5)
    drawn = estimate_audit(audit, draws=50)
    assert np.all(drawn.positives == truth)
    metrics = drawn.metrics()
    hits, found, flagged = truth[-4:].sum(), truth.sum(), ROWS[-4:].sum()
    assert metrics["class_prior"] == pytest.approx(found / ROWS.sum(), abs=1e-15)
    assert metrics["precision"] == pytest.approx(hits / flagged, abs=1e-15)
    assert metrics["recall"] == pytest.approx(hits / found, abs=1e-15)
    assert metrics["f1"] == pytest.approx(2 * hits / (found + flagged), abs=1e-15)


def test_auc_of_known_rows_is_that_of_their_pairs():
    positives, rows = np.array([[2.0, 1.0, 5.0]]), np.array([10, 4, 6])
    score = np.repeat([0, 1, 2], rows)
    positive = np.concatenate([np.arange(n) < k for n, k in zip(rows, positives[0], strict=True)])
    apart = score[positive][:, None] - score[~positive]
    pairs = (apart > 0).mean() + 0.5 * (apart == 0).mean()
    audit = counts(rows=rows, labeled=[1, 1, 1], above=1, found=0, decided=0, concordance=0.5)
    metrics = metric_draws(audit.bins, positives)
    assert metrics["auc"] == pytest.approx(pairs, abs=1e-12)
    prior = 8 / 20
    assert metrics["aul"] == pytest.approx(prior / 2 + (1 - prior) * pairs, abs=1e-12)


def test_fair_has_no_slope_and_one_frequency_for_all_bins():
    drawn = estimate_audit(counts(), believed=FAIR)
    assert np.all(drawn.line[1:] == 0)
    # Bins may differ by .001 in log odds, since a covariance must have an inverse.
    assert np.ptp(drawn.e, axis=1) == pytest.approx(0, abs=0.002)
    assert drawn.e[:, 0] == pytest.approx(special.expit(-drawn.line[0]), abs=0.002)
    free = estimate_audit(counts(), believed=UNKNOWN)
    assert drawn.metrics()["recall"].std() < 0.7 * free.metrics()["recall"].std()


def test_same_seed_gives_same_draws_and_another_seed_others():
    first, again, other = (estimate_audit(counts(), seed=seed, draws=100) for seed in (1, 1, 2))
    assert np.array_equal(first.positives, again.positives)
    assert not np.array_equal(first.positives, other.positives)


def test_bins_with_equal_counts_are_nearly_alike():
    """Positives are believed to be more frequent at higher scores, but hardly."""
    rows, confirmed, found = [900, 900, 80], [3, 3, 20], [1, 1, 12]
    base = bins(rows=rows, labeled=confirmed, above=1)
    flat = FrequencyByScore(covariance=((6.25, 0.0, 0.0), (0.0,) * 3, (0.0,) * 3))
    drawn = estimate_audit(
        AuditCounts.of(base, decided=30, positive=found), believed=flat, draws=8000
    )
    first, second = drawn.positives[:, 0], drawn.positives[:, 1]
    assert np.log(quantiles(first)) == pytest.approx(np.log(quantiles(second)), abs=0.2)


def test_audit_without_a_positive_is_an_answer():
    drawn = estimate_audit(counts(found=0))
    prior = drawn.metrics()["class_prior"]
    confirmed = CONFIRMED.sum() / ROWS.sum()
    assert prior.min() >= confirmed
    found = estimate_audit(counts()).metrics()["class_prior"]
    assert np.median(prior) < 0.5 * np.median(found)


def test_no_verdict_is_refused_unless_an_earlier_audit_is_believed():
    nothing = counts(found=0, decided=0)
    with pytest.raises(InputError, match="no case of the audit has been decided: review the drawn"):
        estimate_audit(nothing)
    before = estimate_audit(counts())
    later = estimate_audit(nothing, believed=before.frequency().later(1))
    now, then = later.metrics()["class_prior"], before.metrics()["class_prior"]
    assert np.median(now) == pytest.approx(np.median(then), rel=0.3)
    assert now.std() > then.std()


def test_window_without_verdicts_leaves_the_label_frequency_as_it_was_believed():
    """Otherwise, month after month without an audit, it would drift by itself."""
    known = ((0.02, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.3))
    believed = replace(UNKNOWN, mean=(1.3, 0.2, -0.4), covariance=known, audited=True)
    drawn = estimate_audit(
        counts(labeled=CONFIRMED // 3, found=0, decided=0), believed=believed, draws=4000
    )
    spread = np.sqrt([0.02, 0.1, 0.3])
    # That p goes on evenly tells a little of a step.
    assert (drawn.line.mean(axis=1) - [1.3, 0.2, -0.4]) / spread == pytest.approx(0, abs=0.4)
    assert drawn.line[0].mean() == pytest.approx(1.3, abs=0.05)
    assert drawn.line.std(axis=1) == pytest.approx(np.sqrt([0.02, 0.1, 0.3]), rel=0.15)


def test_window_without_confirmations_is_refused():
    with pytest.raises(InputError, match="an audit needs confirmed positives"):
        estimate_audit(counts(labeled=0 * CONFIRMED))


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"found": 26}, "0 <= positive <= decided"),
        ({"found": -1}, "0 <= positive <= decided"),
        ({"undecided": -1}, "0 <= undecided"),
        ({"undecided": 50}, "labeled .* <= rows; they do not in bin 11"),
    ],
)
def test_impossible_counts_are_refused(wrong, rule):
    with pytest.raises(InputError, match=rule):
        counts(**wrong)


def test_ten_times_the_rows_and_verdicts_tell_three_times_as_much():
    few = estimate_audit(counts(), believed=FAIR)
    many = estimate_audit(
        counts(rows=10 * ROWS, labeled=10 * CONFIRMED, found=10 * FOUND, decided=250),
        believed=FAIR,
    )
    narrower = few.metrics()["f1"].std() / many.metrics()["f1"].std()
    assert 2.6 < narrower < 3.8


def test_ten_million_rows_with_a_thousand_confirmed_in_the_highest_bin():
    rows, confirmed = 500 * ROWS, 100 * CONFIRMED
    drawn = estimate_audit(counts(rows=rows, labeled=confirmed))
    assert np.all(drawn.positives >= confirmed + FOUND)
    assert np.all(drawn.positives <= rows)
    assert drawn.positives[:, -1].std() > 0


def test_mistaken_verdicts_are_allowed_for():
    exact = estimate_audit(counts()).metrics()["class_prior"]
    seeds = Reviewers(found=30, positives=30, cleared=97, negatives=100)
    allowed = estimate_audit(counts(), reviewers=seeds).metrics()["class_prior"]
    assert np.median(allowed) < np.median(exact)


@pytest.mark.slow
def test_reviewers_who_never_err_are_those_without_seeds():
    exact = estimate_audit(counts()).metrics()["class_prior"]
    perfect = Reviewers(found=10**7, positives=10**7, cleared=10**7, negatives=10**7)
    same = estimate_audit(counts(), reviewers=perfect).metrics()["class_prior"]
    assert np.median(same) == pytest.approx(np.median(exact), rel=0.05)


def test_verdicts_tell_of_the_reviewers_too():
    """Not one positive verdict in 720: hardly any negative was called positive."""
    audit = counts(found=0, decided=60)
    few = Reviewers(found=9, positives=9, cleared=8, negatives=9)
    wrong = [one.specificity for one in few.readings()]
    allowed = estimate_audit(audit, reviewers=few)
    exact = estimate_audit(audit)
    assert min(wrong) < 0.8
    assert np.median(allowed.metrics()["class_prior"]) == pytest.approx(
        np.median(exact.metrics()["class_prior"]), rel=0.1
    )
    sure = [estimate_audit(audit, reading=each).log_evidence for each in few.readings()[:5]]
    assert sure == sorted(sure)
    assert sure[-1] - sure[0] > 50


def test_undecided_cases_that_are_likelier_positive_raise_the_class_prior():
    priors = [
        np.median(
            estimate_audit(
                counts(undecided=10), reading=Reading(odds_above=odds, odds_below=odds)
            ).metrics()["class_prior"]
        )
        for odds in (0.25, 1.0, 4.0)
    ]
    assert priors[0] < 0.95 * priors[1] < 0.9 * priors[2]


def test_what_is_believed_later_is_wider_and_a_new_model_knows_no_slope_and_no_step():
    drawn = estimate_audit(counts())
    now = drawn.frequency()
    later, another = now.later(4), now.for_new_model(drawn.overall())
    assert np.diag(later.covariance) == pytest.approx(np.diag(now.covariance) + 0.04)
    assert (another.mean, another.covariance) == (UNKNOWN.mean, UNKNOWN.covariance)
    assert another.later(4).overall == pytest.approx(
        (drawn.overall()[0], drawn.overall()[1] + 0.04)
    )
    assert FAIR.later(4).fair
    assert FAIR.for_new_model((1.0, 0.1)) == FAIR


def test_given_label_frequency_narrows_an_audit():
    audit = counts(rows=50 * ROWS, labeled=50 * CONFIRMED)
    given = estimate_audit(audit, believed=UNKNOWN.given(0.18, 0.22)).metrics()
    free = estimate_audit(audit, believed=UNKNOWN).metrics()
    assert given["label_frequency"].std() < 0.6 * free["label_frequency"].std()
    assert np.median(given["label_frequency"]) == pytest.approx(0.2, abs=0.015)


def _weighted(values, weight):
    middle = values @ weight
    return middle, np.sqrt((values - middle) ** 2 @ weight)


@pytest.mark.parametrize(("mean", "spread"), [(1.4, 0.1), (1.4, 0.064), (0.9, 0.2)])
def test_known_label_frequency_weighs_the_draws_of_an_audit_without_it(mean, spread):
    """Not the line of its bins alone: positives of bins that depart from it count as well."""
    audit = counts(rows=10 * ROWS, labeled=10 * CONFIRMED)
    parts = [estimate_audit(audit, seed=seed) for seed in range(8)]
    free = replace(
        parts[0],
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("p", "e", "positives", "concordance")
        },
    )
    positives = (CONFIRMED / free.e).sum(axis=1)
    level = np.log(positives / CONFIRMED.sum() - 1)
    weight = special.softmax(-0.5 * ((level - mean) / spread) ** 2)
    known = estimate_audit(
        audit, believed=FrequencyByScore(overall=(mean, spread**2)), draws=8000
    ).metrics()
    for name, draws in free.metrics().items():
        if name in ("class_prior", "recall", "f1", "label_frequency"):
            middle, wide = _weighted(draws, weight)
            # Draws of either are worth some 1,000 independent ones.
            assert known[name].mean() == pytest.approx(middle, abs=0.15 * wide)
            assert known[name].std() == pytest.approx(wide, rel=0.15)


@pytest.mark.parametrize("before", [UNKNOWN, FAIR], ids=["check", "assume"])
def test_label_frequency_that_is_known_exactly_leaves_slope_and_step_open(before):
    """As the census of one model version tells it, for another version of the same window."""
    drawn = estimate_audit(counts(), believed=replace(before, overall=(1.2, 0.0)))
    close = estimate_audit(counts(), believed=replace(before, overall=(1.2, 0.0004)))
    assert drawn.line.std(axis=1) == pytest.approx(close.line.std(axis=1))
    level = np.log((CONFIRMED / drawn.e).sum(axis=1) / CONFIRMED.sum() - 1)
    assert level.mean() == pytest.approx(1.2, abs=0.01)
    assert level.std() == pytest.approx(0.02, rel=0.15)
    if before is UNKNOWN:
        free = estimate_audit(counts()).line[1:].std(axis=1)
        assert np.all(drawn.line[1:].std(axis=1) > 0.7 * free)


def test_known_label_frequency_leaves_open_where_the_missing_positives_are():
    """No verdict: the positives above the threshold are as unsure as they would be without it."""
    nothing = counts(rows=50 * ROWS, labeled=50 * CONFIRMED, found=0, decided=0)
    audited = replace(UNKNOWN, spread=0.0, audited=True)
    known = replace(audited, overall=(np.log(4), 0.01))
    given = estimate_audit(nothing, believed=known, draws=8000).metrics()
    free = estimate_audit(nothing, believed=audited, draws=8000).metrics()
    middle = np.quantile(given["label_frequency"], [0.025, 0.5, 0.975])
    assert middle == pytest.approx(
        special.expit(-np.log(4) + 0.196 * np.array([-1, 0, 1])), abs=0.01
    )
    assert given["recall"].std() > 0.6 * free["recall"].std()
    assert given["class_prior"].std() < 0.2 * free["class_prior"].std()


def test_positives_that_are_confirmed_above_the_threshold_alone_are_a_step():
    """Half the flagged positives confirmed, one in ten of the others: e by side is found again."""
    rows, share = np.full(12, 2000), np.linspace(0.01, 0.9, 12) ** 2
    above = np.arange(12) >= 6
    e = np.where(above, 0.5, 0.1)
    labeled = np.rint(rows * share * e).astype(int)
    hidden = share * (1 - e) / (1 - share * e)
    audit = AuditCounts.of(
        bins(rows=rows, labeled=labeled, above=6),
        decided=200,
        positive=np.rint(200 * hidden).astype(int),
    )
    found = estimate_audit(audit)
    step = np.quantile(found.line[2], [0.025, 0.975])
    assert step[0] < special.logit(0.1) - special.logit(0.5) < step[1]
    assert step[1] < -0.5
    assert np.median(found.metrics()["recall"]) == pytest.approx(
        share[above].sum() / share.sum(), abs=0.02
    )


@pytest.mark.parametrize(
    "reading",
    [Reading(), Reading(sensitivity=0.9, specificity=0.95, odds_above=4.0, odds_below=0.25)],
    ids=["exact", "mistaken and undecided"],
)
def test_slopes_are_differences_of_the_log_likelihood(reading):
    likelihood = AuditLikelihood(counts=counts(undecided=10), reading=reading)
    rng, step = np.random.default_rng(5), 1e-5
    p_logit, v, s_logit = rng.normal(-2, 1, (3, 12)), rng.normal(1, 1, (3, 12)), np.zeros(3)
    gradient = likelihood.slopes(p_logit, v, s_logit).gradient
    for at in range(12):
        move = step * np.eye(12)[at]
        for row, (up, down) in enumerate(
            (
                ((p_logit + move, v), (p_logit - move, v)),
                ((p_logit, v + move), (p_logit, v - move)),
            )
        ):
            change = likelihood.value(*up, s_logit) - likelihood.value(*down, s_logit)
            assert gradient[row, :, at] == pytest.approx(change / (2 * step), rel=1e-4, abs=1e-4)


def test_a_line_is_that_of_the_bins_it_was_drawn_from():
    """Whoever knows v of all bins but for their departures knows alpha, beta and gamma so well."""
    base, rng = bins(), np.random.default_rng(6)
    across = line_of_bins(base.rank, base.above)
    line = np.array([1.0, -0.5, 0.8])
    v = np.tile(across @ line, (4000, 1))
    drawn = UNKNOWN.draw_line(v, base.rank, base.above, rng)
    whole = across @ np.array(UNKNOWN.covariance) @ across.T + 0.4**2 * np.eye(12)
    gain = np.array(UNKNOWN.covariance) @ across.T @ np.linalg.inv(whole)
    left = (np.eye(3) - gain @ across) @ np.array(UNKNOWN.covariance)
    mean = np.array(UNKNOWN.mean) + gain @ across @ (line - UNKNOWN.mean)
    assert np.cov(drawn) == pytest.approx(left, abs=0.02)
    assert drawn.mean(axis=1) == pytest.approx(mean, abs=0.03)
