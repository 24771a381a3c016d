"""What thresholds bring by an audit: against its evaluation, counting, its draws, and its plan."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from sklearn.metrics import f1_score

import pumonitor
from benchmarks.decisions import AUDITED, misses
from pumonitor import audit_plan
from pumonitor.audit.bins import score_bins
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimates import AuditedEstimates
from pumonitor.audit.frequency import UNKNOWN
from pumonitor.audit.posterior import AuditPosterior
from pumonitor.audit_plan import plan_audit_bins
from pumonitor.decisions import decide, decide_table, decision_of
from pumonitor.errors import InputError
from pumonitor.metrics.problem import make_problem
from pumonitor.positive_evidence import PositivesByScore
from pumonitor.report.decision_words import best_said, review_said
from pumonitor.tables import ScoreTable
from tests.frozen import assert_as_frozen

THRESHOLD, ROWS = 2.0, 6000
STAKES = {"value": 30.0, "cost": 4.0}


@pytest.fixture(scope="module", autouse=True)
def quick():
    """Audits that are simulated for a plan: two in place of fifteen."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_plan, "AUDITS", 2)
        yield


@pytest.fixture(scope="module")
def reviewed(quick):
    """High scores are confirmed three times as often as low ones; labels, scores, truth, audit."""
    rng = np.random.default_rng(7)
    positive = rng.random(ROWS) < 0.1
    scores = rng.normal(2.0 * positive).round(3)
    chance = 0.15 * 3 ** np.clip((scores - 1) / 3, 0, 1)
    labels = (positive & (rng.random(ROWS) < chance)).astype(int)
    plan = pumonitor.plan_audit(labels, scores, threshold=THRESHOLD, cases=250, class_prior=0.1)
    drawn = pumonitor.draw_audit(range(ROWS), labels, scores, plan=plan, seed="April")
    verdicts = {case.id: int(positive[int(case.id)]) for case in drawn.cases}
    return labels, scores, positive, pumonitor.read_verdicts(drawn, verdicts)


@pytest.fixture(scope="module")
def evaluation(reviewed):
    labels, scores, _, audit = reviewed
    return pumonitor.evaluate(labels, scores, threshold=THRESHOLD, audit=audit)


@pytest.fixture(scope="module")
def found(reviewed):
    labels, scores, _, audit = reviewed
    return decide(
        labels, scores, threshold=THRESHOLD, other_threshold=1.2345, audit=audit, **STAKES
    )


def posterior_of(labels, scores, positives=None):
    """Of labels that are all of the positives, unless draws of positives by bin are given."""
    table = ScoreTable.from_arrays(labels, scores, thresholds=(THRESHOLD,))
    bins = score_bins(table, threshold=THRESHOLD)
    drawn = np.tile(bins.labeled.astype(float), (5, 1)) if positives is None else positives(bins)
    return table, AuditPosterior(
        counts=AuditCounts.of(bins, decided=0, positive=0),
        believed=UNKNOWN,
        line=np.zeros((3, len(drawn))),
        p=np.full(drawn.shape, 0.5),
        e=np.full(drawn.shape, 0.5),
        positives=drawn,
        concordance=np.full(drawn.shape, 0.5),
    )


def decided(table, posterior, **asked):
    audit = AuditedEstimates(name="a1", posterior=posterior)
    evidence = PositivesByScore(problem=make_problem(table, audit.class_prior), reading=audit)
    return decision_of(evidence, THRESHOLD, **STAKES, **asked)


def test_at_its_threshold_it_has_the_numbers_of_the_evaluation_digit_by_digit(evaluation, found):
    for name in ("precision", "recall", "f1"):
        assert found.now[name] == evaluation[name]
        drawn = f"{name}_by_threshold"
        curve, other = found.curves[drawn], evaluation.curves[drawn]
        for part in ("x", "y", "low", "high"):
            np.testing.assert_array_equal(getattr(curve, part), getattr(other, part))
    assert found.now["recall"].method == found.best["money"].method == "audit"
    assert (found.audit.name, found.doubt) == (evaluation.audit.name, None)
    caught, missed = (found.now[f"positives_{one}"].value for one in ("caught", "missed"))
    precision, share = evaluation["precision"].value, flagged_share(found.problem.table)
    assert caught == pytest.approx(ROWS * precision * share)
    assert missed / (caught + missed) == pytest.approx(1 - evaluation["recall"].value, abs=0.02)


def flagged_share(table):
    """Share of the rows at or above the present threshold."""
    rows = table.labeled + table.unlabeled
    return rows[table.index_of_threshold(THRESHOLD) :].sum() / rows.sum()


def test_with_every_positive_known_it_is_counting():
    rng = np.random.default_rng(3)
    positive = rng.random(1500) < 0.2
    scores = rng.normal(1.5 * positive).round(2)
    table, posterior = posterior_of(positive, scores)
    for other in (-0.5, 1.11, 2.4):
        chosen = decided(table, posterior, other_threshold=other).chosen
        flagged = scores >= other
        caught, reviewed = int((flagged & positive).sum()), int(flagged.sum())
        expected = {
            "precision": caught / reviewed,
            "recall": caught / positive.sum(),
            "f1": f1_score(positive, flagged),
            "reviews": reviewed,
            "positives_caught": caught,
            "positives_missed": positive.sum() - caught,
            "money": 30 * caught - 4 * reviewed,
        }
        for name, value in expected.items():
            low, middle, high = (getattr(chosen[name], end) for end in ("low", "value", "high"))
            assert low == pytest.approx(high)
            assert middle == pytest.approx(value, rel=1e-9), name
    best = decided(table, posterior)
    money = [
        30 * (positive & (scores >= one)).sum() - 4 * (scores >= one).sum()
        for one in np.unique(scores)
    ]
    # Thresholds are those of 200 cells.
    assert max(money) * 0.99 <= best.best["money"].value <= max(money)
    assert best.choice.low == pytest.approx(best.best["money"].value)


def test_the_interval_of_the_money_is_of_joint_draws():
    """At an edge of the bins that is not the threshold nothing but the draws by bin is needed."""
    rng = np.random.default_rng(4)
    positive = rng.random(2000) < 0.2
    scores = rng.normal(2 * positive).round(3)
    labels = positive & (rng.random(2000) < 0.5)

    def draws(bins):
        share = np.linspace(0.02, 0.6, len(bins.rows))
        hidden = rng.binomial(bins.unlabeled, share, (800, len(bins.rows)))
        return (bins.labeled + hidden).astype(float)

    table, posterior = posterior_of(labels, scores, draws)
    edges = posterior.counts.bins.edges
    edge = float(edges[edges < THRESHOLD][-1])
    chosen = decided(table, posterior, other_threshold=edge).chosen
    above = np.append(-np.inf, edges) >= edge
    caught = posterior.positives[:, above].sum(axis=1)
    reviewed = posterior.counts.rows[above].sum()
    money = 30 * caught - 4 * reviewed
    missed = posterior.positives.sum(axis=1) - caught
    for name, drawn in (
        ("money", money),
        ("positives_caught", caught),
        ("positives_missed", missed),
    ):
        low, middle, high = np.quantile(drawn, [0.025, 0.5, 0.975])
        assert chosen[name].low == pytest.approx(low, rel=1e-6), name
        assert chosen[name].value == pytest.approx(middle, rel=1e-6), name
        assert chosen[name].high == pytest.approx(high, rel=1e-6), name
    f1 = 2 * caught / (posterior.positives.sum(axis=1) + reviewed)
    assert chosen["f1"].low == pytest.approx(np.quantile(f1, 0.025), rel=1e-6)


def test_the_truth_of_these_rows_is_held_though_labels_are_unfair(reviewed, found):
    _, scores, positive, _ = reviewed
    for one in (found.now, found.chosen, found.best):
        flagged = scores >= one.threshold
        caught = int((flagged & positive).sum())
        assert one["f1"].low < f1_score(positive, flagged) < one["f1"].high
        assert one["money"].low < 30 * caught - 4 * flagged.sum() < one["money"].high
        assert one["reviews"].displayed == pytest.approx((flagged.sum(),) * 3)
    plain = decide(*reviewed[:2], threshold=THRESHOLD, class_prior=float(positive.mean()))
    assert plain.now["recall"].value > found.now["recall"].value + 0.05


def test_the_best_threshold_has_the_highest_end_of_the_band(found):
    by = found.curves["money_by_threshold"]
    choice = found.choice
    assert choice.criterion == "money"
    assert choice.low < choice.estimate.low < choice.estimate.value < choice.estimate.high
    # The band of a curve is of 400 of the draws.
    lows = by.y - choice.widening[0] * (by.y - by.low)
    assert choice.low == pytest.approx(lows.max(), rel=0.05)
    assert found.best["money"] == choice.estimate
    assert "has the highest lower bound of money" in best_said(found)


def test_what_else_is_looked_at_changes_nothing(reviewed, found):
    labels, scores, _, audit = reviewed
    alone = decide(labels, scores, threshold=THRESHOLD, audit=audit, **STAKES)
    assert alone.chosen is None
    assert alone.now.estimates == found.now.estimates
    assert alone.choice.low == pytest.approx(found.choice.low, rel=0.02)
    of_bins = decide(labels, scores, threshold=THRESHOLD, audit=audit, other_threshold=THRESHOLD)
    assert of_bins.chosen.estimates == of_bins.now.estimates


def test_to_review_nobody_is_sure_where_no_review_pays(reviewed):
    labels, scores, _, audit = reviewed
    found = decide(labels, scores, threshold=THRESHOLD, audit=audit, value=1, cost=4)
    assert found.best["reviews"].value == 0
    assert found.best["money"].displayed == (found.choice.low,) * 3 == (0.0, 0.0, 0.0)
    assert found.best["precision"].undefined_reason == "no row scores at or above the threshold"
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["audit"]["method"] == "audit"


def test_a_capacity_is_kept_to(reviewed):
    labels, scores, _, audit = reviewed
    found = decide(labels, scores, threshold=THRESHOLD, audit=audit, capacity=333)
    assert 330 <= found.chosen["reviews"].value <= 333
    assert found.chosen["recall"].value < found.now["recall"].value


def test_more_cases_bring_what_the_plan_says(found):
    audit, options = found.audit, found.reviews(200)
    plan = plan_audit_bins(
        audit.posterior.counts.bins,
        threshold=THRESHOLD,
        class_prior=audit.class_prior,
        cases=450,
        metrics=["precision", "recall", "f1"],
        drawn=audit.drawn,
    )
    [only] = options.options
    assert (only.where, only.cases, only.widths) == ("bins", 200, plan.widths)
    now = found.now["f1"]
    assert options.now["f1"] == now.high - now.low > only.widths["f1"]
    more = np.array(plan.planned) - audit.drawn
    share = audit.posterior.unlabeled_share.mean(axis=0)
    assert only.positives == pytest.approx(sum(more * share))
    assert "review 200 more cases of the audit" in review_said(options, found)
    other = AuditedEstimates(name="a1", posterior=audit.posterior, method="audit carried")
    said = review_said(options, replace(found, audit=other))
    assert "review 200 cases of these rows by an audit" in said


def test_it_is_about_the_threshold_of_the_audit_and_of_no_other(reviewed, found):
    assert found.reviewed is found.now
    with pytest.raises(ValueError, match=r"for the threshold that it is read for, 2, got 1\.5"):
        found.reviews(100, threshold=1.5)
    with pytest.raises(ValueError, match="cases must satisfy 1 <= cases <= 2000, got 0"):
        found.reviews(0)
    labels, scores, _, audit = reviewed
    with pytest.raises(InputError, match=r"was drawn for the threshold 2\.0, got 1\.0"):
        decide(labels, scores, threshold=1.0, audit=audit)


def test_what_does_not_go_with_an_audit_is_refused(reviewed):
    labels, scores, _, audit = reviewed
    with pytest.raises(ValueError, match="leave out class_prior, or audit"):
        decide(labels, scores, threshold=THRESHOLD, audit=audit, class_prior=0.1)
    with pytest.raises(ValueError, match="give audit as well, or leave ids out"):
        decide(labels, scores, threshold=THRESHOLD, ids=range(ROWS))
    with pytest.raises(InputError, match="rows that count one each"):
        decide(labels, scores, threshold=THRESHOLD, audit=audit, sample_weight=np.full(ROWS, 2.0))
    other = labels.copy()
    other[:300] = 0
    with pytest.raises(InputError, match="give ids, one a row"):
        decide(other, scores, threshold=THRESHOLD, audit=audit)


def test_with_ids_a_drawn_case_counts_by_its_verdict_alone(reviewed, found):
    labels, scores, _, audit = reviewed
    later = labels.copy()
    for name, verdict in audit.verdicts.items():
        later[int(name)] = verdict
    again = decide(later, scores, threshold=THRESHOLD, audit=audit, ids=range(ROWS), **STAKES)
    assert again.now.estimates == found.now.estimates


def test_a_table_can_come_with_what_an_audit_said_before(found):
    again = decide_table(found.problem.table, threshold=THRESHOLD, audit=found.audit, **STAKES)
    assert again.now.estimates == found.now.estimates


@pytest.mark.slow
@pytest.mark.parametrize("market", AUDITED[:2], ids=lambda one: one.what)
def test_the_bound_holds_at_the_threshold_that_was_chosen(market):
    """A few runs; `python -m benchmarks.decisions` has them all."""
    for one in misses(market, runs=20, seed=1).values():
        assert one.band <= 0.025 + 3 * (0.025 * 0.975 / 20) ** 0.5
        assert one.band <= one.single


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_bounds_at_the_chosen_threshold_over_many_runs(request, number):
    found = misses(AUDITED[number], runs=200, seed=0)
    assert all(one.band <= 0.025 + 3 * (0.025 * 0.975 / 200) ** 0.5 for one in found.values())
    assert_as_frozen(
        request,
        {
            f"{name} {key}": value
            for name, one in found.items()
            for key, value in asdict(one).items()
        },
    )
