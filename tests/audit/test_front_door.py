"""plan_audit, draw_audit, read_verdicts and evaluate with an audit, as a user calls them."""

import io
import json
from itertools import pairwise

import numpy as np
import pandas
import pytest

import pumonitor
from pumonitor import audit_plan
from pumonitor.audit import AuditCounts, DrawnAudit, check_fairness, estimate_audit, score_bins
from pumonitor.audit.drawn import audit_name
from pumonitor.errors import InputError
from pumonitor.tables import ScoreTable

ROWS = 6000
THRESHOLD = 2.0


@pytest.fixture(scope="module", autouse=True)
def few_simulations():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_plan, "AUDITS", 3)
        yield


@pytest.fixture(scope="module")
def window():
    rng = np.random.default_rng(7)
    positive = rng.random(ROWS) < 0.06
    scores = rng.normal(2.0 * positive).round(3)
    labels = (positive & (rng.random(ROWS) < 0.3)).astype(int)
    return positive, labels, scores, np.array([f"order {row}" for row in range(ROWS)])


@pytest.fixture(scope="module")
def plan(window):
    _, labels, scores, _ = window
    return pumonitor.plan_audit(labels, scores, threshold=THRESHOLD, cases=200, class_prior=0.06)


@pytest.fixture(scope="module")
def drawn(window, plan):
    _, labels, scores, ids = window
    return pumonitor.draw_audit(ids, labels, scores, plan=plan, seed="March")


@pytest.fixture(scope="module")
def verdicts(window, drawn):
    positive, _, _, ids = window
    truth = dict(zip(ids.tolist(), positive.astype(int).tolist(), strict=True))
    return {case.id: truth[case.id] for case in drawn.cases}


@pytest.fixture(scope="module")
def evaluation(window, drawn, verdicts):
    _, labels, scores, ids = window
    audit = pumonitor.read_verdicts(drawn, verdicts)
    return pumonitor.evaluate(labels, scores, threshold=THRESHOLD, audit=audit, ids=ids)


def test_entities_go_with_an_audit(window, drawn, verdicts, evaluation):
    _, labels, scores, ids = window
    audit = pumonitor.read_verdicts(drawn, verdicts)
    order = np.argsort(np.argsort(scores))
    alone, shared = (
        pumonitor.evaluate(labels, scores, threshold=THRESHOLD, audit=audit, ids=ids, entity=entity)
        for entity in (ids, order // 60)
    )
    for name in ("class_prior", "recall", "auc"):
        assert alone[name] == evaluation[name]
    assert shared.settings["labeled_entities"] < shared.settings["n_labeled"]
    assert shared["recall"].se > evaluation["recall"].se


def refused(audit):
    return {one.reason: (one.count, one.examples) for one in audit.refused}


def test_a_plan_spreads_the_cases_and_beats_a_simple_audit(plan):
    assert sum(plan.planned) == plan.cases == 200
    assert plan.widths["f1"] < 0.5 * plan.simple_widths["f1"]
    assert "200 cases" in str(plan)
    assert json.loads(json.dumps(plan.to_dict()))["bins"][0]["from"] is None
    assert plan.to_frame()["cases"].sum() == 200


def test_a_width_is_reached_with_few_cases(window):
    _, labels, scores, _ = window
    found = pumonitor.plan_audit(
        labels, scores, threshold=THRESHOLD, width={"precision": 0.12}, class_prior=0.06
    )
    assert found.metrics == ("precision",)
    assert 0.1 < found.widths["precision"] <= 0.12


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"width": {"f1": 0.1}, "cases": 5}, "give cases or width, not both"),
        ({"width": {"f1": 0.1}, "metrics": ["auc"]}, "got f1=0.1"),
        ({"width": {"f1": 1.2}}, "width must satisfy 0 < width < 1"),
        ({"metrics": ["f11"]}, "no metric of an audit 'f11'; did you mean 'f1'"),
        ({"cases": 0}, "cases must be at least 1"),
        ({"fair": "perhaps"}, "fair must be 'check' or 'assume'"),
    ],
)
def test_plans_that_cannot_be(window, options, said):
    _, labels, scores, _ = window
    with pytest.raises(ValueError, match=said):
        pumonitor.plan_audit(labels, scores, threshold=THRESHOLD, class_prior=0.06, **options)


def test_plans_where_nothing_is_predicted_positive(window):
    _, labels, scores, _ = window
    given = {"threshold": 99.0, "cases": 40, "class_prior": 0.06}
    with pytest.raises(InputError, match="no row scores at or above the threshold 99"):
        pumonitor.plan_audit(labels, scores, **given)
    found = pumonitor.plan_audit(labels, scores, metrics=["auc"], **given)
    assert 0 < found.widths["auc"] < found.simple_widths["auc"]


@pytest.mark.parametrize("metric", ["mcc", "recall", "specificity"])
def test_plans_where_everything_is_predicted_positive(window, metric):
    _, labels, scores, _ = window
    given = {"threshold": -99.0, "cases": 40, "class_prior": 0.06}
    with pytest.raises(InputError, match="every row scores at or above the threshold -99"):
        pumonitor.plan_audit(labels, scores, metrics=[metric], **given)
    assert pumonitor.plan_audit(labels, scores, metrics=["f1"], **given).widths["f1"] > 0


def test_cases_are_unconfirmed_rows_of_their_bin_and_again_the_same(window, plan, drawn):
    _, labels, scores, ids = window
    row = {name: at for at, name in enumerate(ids.tolist())}
    edges = [-np.inf, *drawn.edges, np.inf]
    for case in drawn.cases:
        assert labels[row[case.id]] == 0
        assert edges[case.bin] <= scores[row[case.id]] < edges[case.bin + 1]
    again = pumonitor.draw_audit(ids[::-1], labels[::-1], scores[::-1], plan=plan, seed="March")
    assert again == drawn
    other = pumonitor.draw_audit(ids, labels, scores, plan=plan, seed="April")
    assert {case.id for case in other.cases} != {case.id for case in drawn.cases}
    assert other.name != drawn.name


def test_the_order_of_cases_does_not_tell_the_bin(drawn):
    bins = np.array([case.bin for case in drawn.cases])
    assert abs(np.corrcoef(bins, np.arange(len(bins)))[0, 1]) < 0.25
    assert sum(one == other for one, other in pairwise(bins)) < 0.3 * len(bins)


def test_the_name_of_an_audit_survives_a_spreadsheet(drawn):
    """One of digits, or of digits and one e, comes back as another number."""
    for seed in range(300):
        column = pandas.Series([audit_name(f"{seed}", [drawn.cases[0].id])] * 2, name="audit")
        saved = pandas.read_csv(io.StringIO(column.to_csv(index=False)))["audit"]
        assert saved.tolist() == column.tolist()


def test_a_design_survives_json(drawn):
    assert DrawnAudit.from_dict(json.loads(json.dumps(drawn.to_dict()))) == drawn
    for wrong in ({}, {"schema_version": 2}, [1]):
        with pytest.raises(InputError, match=r"no design of an audit|schema_version 2"):
            DrawnAudit.from_dict(wrong)


def test_an_evaluation_with_an_audit_is_that_of_the_estimator(window, drawn, verdicts, evaluation):
    _, labels, scores, ids = window
    table = ScoreTable.from_arrays(labels, scores, thresholds=[THRESHOLD])
    bins = score_bins(table, threshold=THRESHOLD)
    of_bin = dict(zip(ids.tolist(), bins.bin_of(scores).tolist(), strict=True))
    found = np.zeros((2, len(bins.rows)), dtype=int)
    for name, one in verdicts.items():
        found[0, of_bin[name]] += 1
        found[1, of_bin[name]] += one
    counts = AuditCounts.of(bins, decided=found[0], positive=found[1])
    expected = estimate_audit(counts).estimates(method="audit")
    for name in ("class_prior", "recall", "precision", "f1", "auc", "aul", "mcc"):
        assert evaluation[name].method == "audit"
        assert evaluation[name].value == pytest.approx(expected[name].value, abs=0.002)
        assert evaluation[name].low == pytest.approx(expected[name].low, abs=0.004)
    assert evaluation.audit.fairness == check_fairness(evaluation.audit.posterior.counts)
    assert evaluation["f1_pu"].method != "audit"


def test_an_evaluation_with_an_audit_covers_what_is_true(window, evaluation):
    positive, _, scores, _ = window
    flagged = scores >= THRESHOLD
    truth = {
        "class_prior": positive.mean(),
        "recall": (flagged & positive).sum() / positive.sum(),
        "precision": (flagged & positive).sum() / flagged.sum(),
    }
    for name, value in truth.items():
        assert evaluation[name].low <= value <= evaluation[name].high
    prior = evaluation.class_prior
    assert prior.method == "audit"
    assert (prior.low, prior.high) == (
        evaluation["class_prior"].low,
        evaluation["class_prior"].high,
    )
    said = {finding.name for finding in evaluation.warnings}
    assert "prior_is_upper_bound" not in said
    assert "few_positives" not in said


def test_f_beta_and_the_ll_score_follow_from_precision_and_recall(evaluation):
    precision, recall = evaluation["precision"].value, evaluation["recall"].value
    f_beta = 5 * precision * recall / (4 * precision + recall)
    assert evaluation["f_beta"].value == pytest.approx(f_beta, rel=0.02)
    flagged = evaluation["predicted_positive_rate"].value
    assert evaluation["ll_score"].value == pytest.approx(recall**2 / flagged, rel=0.02)
    assert not evaluation["ll_score"].infeasible
    assert {evaluation[name].method for name in ("f_beta", "ll_score")} == {"audit"}


def test_an_evaluation_with_an_audit_is_written_as_json(evaluation):
    written = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert written["audit"]["decided"] == 200
    assert sum(one["drawn"] for one in written["audit"]["bins"]) == 200
    assert "order " not in json.dumps(written["audit"])


def test_what_an_audit_found_is_no_confirmation(window, drawn, verdicts, evaluation):
    _, labels, scores, ids = window
    found = [name for name, one in verdicts.items() if one == 1]
    taken_over = np.where(np.isin(ids, found), 1, labels)
    audit = pumonitor.read_verdicts(drawn, verdicts)
    again = pumonitor.evaluate(taken_over, scores, threshold=THRESHOLD, audit=audit, ids=ids)
    assert again["f1"] == evaluation["f1"]
    assert again["average_precision"] == evaluation["average_precision"]
    with pytest.raises(InputError, match=r"rows or labels are others than when audit .* give ids"):
        pumonitor.evaluate(taken_over, scores, threshold=THRESHOLD, audit=audit)


def test_verdicts_that_cannot_be_used_are_counted_and_named(drawn, verdicts):
    first, second, third, fourth = list(verdicts)[:4]
    given = [
        (first, 1, drawn.name),
        (first, 1, drawn.name),
        (second, 1, drawn.name),
        (second, 0, drawn.name),
        (third, "maybe", drawn.name),
        (fourth, " UNDECIDED "),
        ("order -1", 1, drawn.name),
        (list(verdicts)[4], 1, "another"),
        (list(verdicts)[5], ""),
        (list(verdicts)[6], float("nan")),
    ]
    audit = pumonitor.read_verdicts(drawn, given)
    assert audit.verdicts == {first: 1, second: None, fourth: None}
    assert refused(audit) == {
        "other_audit": (1, (list(verdicts)[4],)),
        "not_drawn": (1, ("order -1",)),
        "unknown_word": (1, (f"{third}: maybe",)),
        "duplicate": (1, (first,)),
        "conflict": (2, (second,)),
    }
    assert audit.unread == 197


def test_verdicts_of_which_none_can_be_used_are_one_error(drawn):
    with pytest.raises(InputError, match=r"has a verdict that can be used.*not drawn: 'x'"):
        pumonitor.read_verdicts(drawn, {"x": 1, drawn.cases[0].id: "undecided"})


def test_verdicts_come_in_a_frame(drawn, verdicts):
    frame = pandas.DataFrame(
        {"id": list(verdicts), "verdict": list(verdicts.values()), "audit": drawn.name}
    )
    assert pumonitor.read_verdicts(drawn, frame).verdicts == verdicts
    with pytest.raises(InputError, match="verdicts has no column verdict"):
        pumonitor.read_verdicts(drawn, frame.drop(columns="verdict"))


def test_verdicts_of_numbers_match_ids_of_numbers(window, plan):
    _, labels, scores, _ = window
    drawn = pumonitor.draw_audit(np.arange(ROWS), labels, scores, plan=plan, seed="March")
    number = int(drawn.cases[0].id)
    assert pumonitor.read_verdicts(drawn, {float(number): 1.0}).verdicts == {str(number): 1}


def test_undecided_and_unread_cases_are_said(window, drawn, verdicts):
    _, labels, scores, ids = window
    order = [case.id for case in drawn.cases]
    few = {name: verdicts[name] for name in order[:150]} | dict.fromkeys(order[:20], "undecided")
    audit = pumonitor.read_verdicts(drawn, few)
    ev = pumonitor.evaluate(labels, scores, threshold=THRESHOLD, audit=audit, ids=ids)
    said = {finding.name: finding for finding in ev.warnings}
    assert said["audit_unread"].severity == "note"
    assert "20 of 150 reviewed cases are undecided" in said["audit_undecided"].sentence
    low, high = ev.audit.undecided["class_prior"]
    assert low < ev["class_prior"].low < ev["class_prior"].high < high
    picked = {name: verdicts[name] for name in order[50:]}
    ev = pumonitor.evaluate(
        labels, scores, threshold=THRESHOLD, audit=pumonitor.read_verdicts(drawn, picked)
    )
    said = {finding.name: finding for finding in ev.warnings}
    assert said["audit_unread"].severity == "warning"
    # Those whose line cannot be read were taken in their order all the same.
    unusable = verdicts | dict.fromkeys(order[:50], "perhaps")
    audit = pumonitor.read_verdicts(drawn, unusable)
    ev = pumonitor.evaluate(labels, scores, threshold=THRESHOLD, audit=audit)
    said = {finding.name: finding for finding in ev.warnings}
    assert said["audit_unread"].severity == "note"
    assert "audit_verdicts_not_used" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"threshold": 1.0}, "was drawn for the threshold 2.0, got 1.0"),
        ({"class_prior": 0.1}, "leave out class_prior, or audit"),
        ({"label_frequency": 0.1}, r"give \(low, high\) or leave it out, got low=0.1 and high=0.1"),
        ({"scenario": "case-control"}, "single-training-set scenario"),
        ({"label_purity": 0.9}, "a label_purity of 1"),
        ({"sample_weight": np.full(ROWS, 2.0)}, "an audit needs rows that count one each"),
        ({"ids": ["a"] * ROWS}, "ids must be all different: 5999 of 6000"),
        ({"ids": [f"other {row}" for row in range(ROWS)]}, "200 of 200 cases of audit"),
        ({"ids": [None] * ROWS}, "ids has 6000 missing values"),
    ],
)
def test_evaluations_that_an_audit_does_not_go_with(window, drawn, verdicts, options, said):
    _, labels, scores, _ = window
    audit = pumonitor.read_verdicts(drawn, verdicts)
    given = {"threshold": THRESHOLD, "audit": audit, **options}
    with pytest.raises(ValueError, match=said):
        pumonitor.evaluate(labels, scores, **given)


def test_label_frequency_that_is_known_besides_narrows_the_class_prior(window, drawn, verdicts):
    positive, labels, scores, _ = window
    audit = pumonitor.read_verdicts(drawn, verdicts)
    given = {"threshold": THRESHOLD, "audit": audit}
    alone = pumonitor.evaluate(labels, scores, **given)
    frequency = labels.sum() / positive.sum()
    ends = (0.95 * frequency, 1.05 * frequency)
    known = pumonitor.evaluate(labels, scores, label_frequency=ends, **given)
    one, other = known["class_prior"], alone["class_prior"]
    assert one.high - one.low < 0.7 * (other.high - other.low)
    assert one.low < positive.mean() < one.high


def test_other_scores_than_those_of_the_draw_are_refused(window, drawn, verdicts):
    _, labels, scores, ids = window
    audit = pumonitor.read_verdicts(drawn, verdicts)
    with pytest.raises(InputError, match=r"\d+ of 200 cases of audit .* these are other scores"):
        pumonitor.evaluate(labels, 2 * scores, threshold=THRESHOLD, audit=audit, ids=ids)


def test_audit_that_has_not_been_read_is_refused(window, drawn):
    _, labels, scores, _ = window
    with pytest.raises(TypeError, match=r"got DrawnAudit: read the verdicts .*read_verdicts"):
        pumonitor.evaluate(labels, scores, threshold=THRESHOLD, audit=drawn)


def test_verdicts_that_are_all_positive_are_doubted(window, drawn, verdicts):
    _, labels, scores, _ = window
    positive = {name: 1 for name, said in verdicts.items() if said == 1}
    audit = pumonitor.read_verdicts(drawn, positive)
    ev = pumonitor.evaluate(labels, scores, threshold=THRESHOLD, audit=audit)
    said = {finding.name: finding.sentence for finding in ev.warnings}
    assert f"All {len(positive)} verdicts are positive" in said["audit_one_sided"]
    assert pumonitor.read_verdicts(drawn, verdicts).one_sided is None


def test_labels_that_favour_high_scores_are_seen():
    rng = np.random.default_rng(5)
    positive = rng.random(ROWS) < 0.15
    scores = rng.normal(2.0 * positive)
    labels = (positive & (rng.random(ROWS) < np.where(scores > 2, 0.5, 0.05))).astype(int)
    plan = pumonitor.plan_audit(labels, scores, threshold=2.0, cases=400, class_prior=0.15)
    drawn = pumonitor.draw_audit(range(ROWS), labels, scores, plan=plan, seed="1")
    audits = {
        fair: pumonitor.read_verdicts(
            drawn, {case.id: int(positive[int(case.id)]) for case in drawn.cases}, fair=fair
        )
        for fair in ("check", "assume")
    }
    recall = positive[scores >= 2.0].sum() / positive.sum()
    found = {
        fair: pumonitor.evaluate(labels, scores, threshold=2.0, audit=audit)
        for fair, audit in audits.items()
    }
    assert found["check"]["recall"].low <= recall <= found["check"]["recall"].high
    assert found["assume"]["recall"].low > recall
    # Bounds take confirmations for a fair sample: here they are far from the truth.
    assert dict(found["check"].bounds) == found["check"].to_dict()["bounds"] == {}
    assert not {"roc_bounds", "precision_recall_bounds"} & set(found["check"].curves)
    assert {"roc_bounds", "precision_recall_bounds"} <= set(found["assume"].curves)
    assert set(found["assume"].bounds) > {"auc", "precision"}
    assert found["assume"].bounds["recall"].low > recall
    for fair, then in (("check", "curves of the audit allow for that"), ("assume", "fair='check'")):
        said = {finding.name: finding.sentence for finding in found[fair].warnings}
        sentence = said["unfair_labels_by_audit"]
        assert sentence.startswith(("Positives of the highest scores", "Positives above the"))
        assert "times as often as those" in sentence
        assert then in sentence


def test_confirmations_that_came_after_the_draw_are_said(window, drawn, verdicts):
    positive, labels, scores, ids = window
    grown = np.where(positive & (np.random.default_rng(1).random(ROWS) < 0.3), 1, labels)
    audit = pumonitor.read_verdicts(drawn, verdicts)
    ev = pumonitor.evaluate(grown, scores, threshold=THRESHOLD, audit=audit, ids=ids)
    assert "audit_labels_changed" in {finding.name for finding in ev.warnings}
