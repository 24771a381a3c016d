"""The check of fair labels, widths before an audit, and intervals over undecided cases."""

import numpy as np
import pytest

from pumonitor.audit.allocation import design_audit, expected_shares
from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimation import estimate_audit, undecided_extremes
from pumonitor.audit.fairness import check_fairness
from pumonitor.audit.planning import planned_widths, simple_widths
from pumonitor.audit_plan import plan_audit
from tests.audit.made_up_audit import CONFIRMED, ROWS, bins, counts


def audit_of(chance, *, seed=0):
    """An audit of 30 cases a bin, in which positives are confirmed by `chance`."""
    rng = np.random.default_rng(seed)
    positives = np.array([60, 55, 50, 50, 60, 80, 90, 100, 90, 80, 80, 70])
    confirmed = rng.binomial(positives, chance)
    found = rng.hypergeometric(positives - confirmed, ROWS - positives, 30)
    return AuditCounts.of(bins(labeled=confirmed), decided=30, positive=found)


@pytest.mark.slow
def test_fair_labels_are_called_unfair_at_the_level_asked_for():
    p_values = [check_fairness(audit_of(0.2, seed=seed), seed=seed).p_value for seed in range(80)]
    called = [one <= 0.2 for one in p_values]
    assert 7 <= sum(called) <= 26  # binomial(80, .2) lies outside in 1 of 100
    # Uniform but for chance: simulated audits that tried a slope alone would leave .41.
    assert 0.44 < np.mean(p_values) < 0.6


@pytest.mark.parametrize("favoured", [12.0, 1 / 12])
def test_labels_that_follow_the_score_are_seen_with_their_direction(favoured):
    chance = 0.15 * favoured ** np.linspace(-0.5, 0.5, 12)
    found = check_fairness(audit_of(chance))
    assert found.p_value <= 0.02
    assert found.favoured == pytest.approx(favoured, rel=1.0)


def test_check_of_an_audit_without_a_positive_says_nothing():
    found = check_fairness(AuditCounts.of(bins(), decided=3, positive=0))
    assert found.p_value > 0.05


def test_check_of_one_bin_says_nothing():
    one = ScoreBins.counted(edges=[], threshold=0.5, rows=[1000], labeled=[20])
    found = check_fairness(AuditCounts.of(one, decided=50, positive=5))
    assert (found.p_value, found.favoured) == (1.0, 1.0)


def test_widths_that_come_are_those_planned():
    base = bins()
    design = design_audit(base, cases=300, label_frequency=0.3)
    planned = planned_widths(design, label_frequency=0.3, metrics=["f1", "recall"], audits=4)
    share = expected_shares(base, label_frequency=0.3, lifted=1.0)
    found = np.rint(design.planned * share).astype(int)
    drawn = estimate_audit(AuditCounts.of(base, decided=design.planned, positive=found)).metrics()
    for name, width in planned.items():
        low, high = np.quantile(drawn[name], [0.025, 0.975])
        assert width == pytest.approx(high - low, rel=0.35)
    more = design_audit(base, cases=1500, label_frequency=0.3)
    widths = planned_widths(more, label_frequency=0.3, metrics=["f1"], audits=2)
    assert widths["f1"] < 0.7 * planned["f1"]


def test_interval_over_undecided_cases_holds_the_one_that_assumes_them_alike():
    audit = counts(undecided=10)
    extremes = undecided_extremes(audit, draws=1000)
    alike = estimate_audit(audit).estimates(method="audit")
    for name in ("class_prior", "precision", "recall", "f1", "auc"):
        low, high = extremes[name]
        assert low < alike[name].low < alike[name].high < high


def test_interval_over_undecided_cases_is_never_inside_the_one_that_assumes_them_alike():
    """Four cases of three hundred: the extremes move less than draws of the same seed do."""
    audit = counts(undecided=np.eye(12, dtype=int)[0] * 4)
    extremes = undecided_extremes(audit)
    for name, one in estimate_audit(audit).estimates(method="audit").items():
        if name in extremes:
            low, high = extremes[name]
            assert low <= one.low + 1e-12, name
            assert high >= one.high - 1e-12, name


def test_without_undecided_cases_their_odds_do_not_matter():
    extremes = undecided_extremes(counts(), draws=2000)
    alike = estimate_audit(counts()).estimates(method="audit")
    for name in ("class_prior", "f1"):
        assert extremes[name] == pytest.approx((alike[name].low, alike[name].high), rel=0.02)


def test_estimates_are_median_and_quantiles_and_keep_to_each_other():
    found = estimate_audit(counts()).estimates(method="audit", confidence_level=0.9)
    f1 = found["f1"]
    assert f1.low < f1.value < f1.high
    assert f1.confidence_level == 0.9
    assert (f1.n_labeled, f1.n_unlabeled) == (CONFIRMED.sum(), ROWS.sum() - CONFIRMED.sum())
    assert found["mcc"].range == (-1, 1)


def test_where_nothing_is_predicted_positive_precision_is_undefined_with_a_reason():
    audit = AuditCounts.of(bins(above=0), decided=25, positive=1)
    found = estimate_audit(audit).estimates(method="audit")
    assert "nothing, or everything" in found["precision"].undefined_reason
    assert found["class_prior"].undefined_reason is None


def test_no_interval_of_a_simple_audit_is_wider_than_what_is_possible():
    narrow, wide = (
        simple_widths(bins(), cases=cases, label_frequency=0.2, metrics=["f1", "mcc"])
        for cases in (3000, 2)
    )
    assert wide == {"f1": 1.0, "mcc": 2.0}
    assert 0 < narrow["f1"] < 0.5


def test_power_is_that_of_audits_whose_high_scores_are_confirmed_three_times_as_often():
    favouring = 0.15 * 3.0 ** np.linspace(0, 1, 12)
    audits = [check_fairness(audit_of(favouring, seed=seed), seed=seed) for seed in range(30)]
    seen = np.mean([found.p_value <= 0.05 for found in audits])
    told = np.mean([found.power for found in audits])
    assert told == pytest.approx(seen, abs=0.25)  # of 30 audits: three standard errors
    few = check_fairness(AuditCounts.of(bins(), decided=3, positive=0))
    assert few.power < 0.25
    assert few.power_sentence.startswith("an audit like this sees that high scores are confirmed 3")


def test_plan_tells_widths_for_what_the_class_prior_can_be():
    rng = np.random.default_rng(1)
    positive = rng.random(5000) < 0.05
    scores = rng.normal(2.0 * positive)
    labels = positive & (rng.random(5000) < 0.3)
    known, unsure = (
        plan_audit(labels, scores, threshold=2.0, metrics=["class_prior"], class_prior=given)
        for given in (0.02, (0.02, 0.016, 0.08))
    )
    assert unsure.high_widths["class_prior"] > 1.5 * known.high_widths["class_prior"]
    assert known.widths["class_prior"] <= known.high_widths["class_prior"]
    assert "in one of ten audits above" in str(unsure)
    assert set(unsure.to_dict()["high_widths"]) == {"class_prior"}
