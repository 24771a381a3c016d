"""compare where a verdict would mislead: labels that one model chose, and impossible values."""

import json

import numpy as np
import pytest
from sklearn import metrics as reference

from pumonitor.comparison import compare
from pumonitor.text import number_text


def chosen_by_the_champion(below=0.0, seed=1, rows=20_000):
    """The challenger is .05 AUL better; labels are the positives in the champion's highest 5%."""
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.1
    shared = rng.normal(size=rows)
    scores = {
        "challenger": 0.7 * shared + 0.71 * rng.normal(size=rows) + 1.6 * positive,
        "champion": 0.7 * shared + 0.71 * rng.normal(size=rows) + 1.3 * positive,
    }
    top = scores["champion"] >= np.quantile(scores["champion"], 0.95)
    reviewed = top | (rng.random(rows) < below)
    return positive, (positive & reviewed).astype(int), scores


@pytest.mark.parametrize("below", [0.0, 0.05])
def test_labels_that_a_model_chose_give_no_verdict(below):
    positive, labels, scores = chosen_by_the_champion(below)
    truth = [reference.roc_auc_score(positive, scores[name]) for name in scores]
    assert truth[0] > truth[1] + 0.04
    found = compare(labels, scores, threshold=2.0, class_prior=0.1)
    # What it said before: the champion is better, and surely.
    assert found.difference("champion", "challenger", "f1").low > 0
    assert found.chosen_by == "champion"
    for metric in found.metrics:
        lead = found.lead(metric)
        assert not lead.is_clear
        assert str(lead) == (
            f"{metric}: no verdict, champion seems to have chosen which rows were reviewed"
        )
    assert found.no_verdict.startswith(
        "Which rows were confirmed seems to have been decided by the scores of champion: the "
        "positives that it found count in its favour"
    )
    assert "F1, AUL, AUC, LL score, Precision, Recall and F2 of these models" in found.no_verdict
    assert "or review a random sample of the rows" in found.no_verdict
    text = str(found)
    assert found.no_verdict in text
    assert "is better than" not in text
    assert "champion: Confirmed positives stop at " in text


@pytest.mark.parametrize("below", [0.0, 0.05])
def test_labels_that_do_not_rule_out_a_choice_give_no_verdict(below):
    """Too few to see the cut, and none that speaks against it."""
    rng = np.random.default_rng(3)
    positive, labels, scores = chosen_by_the_champion(below, rows=8000)
    few = np.zeros_like(labels)
    few[rng.permutation(np.flatnonzero(labels))[:80]] = 1
    found = compare(few, scores, threshold=2.0, class_prior=0.1)
    assert found.chosen_by is None
    lead = found.lead("aul")
    # What it said before: the champion, which is worse by .05, is surely better.
    assert (lead.best, lead.is_clear) == ("champion", False)
    assert lead.difference.low > 0
    assert str(lead) == (
        "aul: no verdict, it is not ruled out that champion or challenger chose which rows were "
        "reviewed"
    )
    assert found.caution.startswith(
        "These 80 confirmed positives do not rule out that mainly the highest rows of challenger "
        "or champion were reviewed, which would make it look better than it is"
    )
    text = str(found)
    assert text.index("aul: no verdict") < text.index(found.caution)
    assert json.loads(json.dumps(found.to_dict()))["caution"] == found.caution
    many = (positive & (rng.random(len(positive)) < 0.4)).astype(int)
    fair = compare(many, scores, threshold=2.0, class_prior=0.1)
    assert fair.caution is None
    assert fair.lead("aul").is_clear
    assert fair.lead("aul").best == "challenger"
    by_propensity = compare(
        few, scores, threshold=2.0, class_prior=0.1, propensity=np.full(len(few), 0.2)
    )
    assert by_propensity.caution is None


def test_what_a_comparison_doubts_is_written_out():
    _, labels, scores = chosen_by_the_champion()
    found = compare(labels, scores, threshold=2.0, class_prior=0.1)
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert written["chosen_by"] == "champion"
    assert written["no_verdict"] == found.no_verdict
    assert not any(lead["is_clear"] for lead in written["leads"].values())
    assert {one["name"] for one in written["warnings"]["champion"]} >= {"review_cut", "infeasible"}
    assert "review_cut" not in {one["name"] for one in written["warnings"]["challenger"]}
    precision = written["models"]["champion"]["precision"]
    assert precision["infeasible"]
    assert precision["value"] > 1.5
    assert f"(estimated {number_text(found['champion']['f1'].value)}: impossible)" in str(found)


def test_a_model_is_not_better_by_an_impossible_value():
    """Fair labels with a class prior of four times the truth: F1 of both comes out above 1."""
    rng = np.random.default_rng(4)
    positive = rng.random(8000) < 0.1
    scores = {
        name: rng.normal(apart * positive) for name, apart in (("good", 4.0), ("better", 4.5))
    }
    labels = (positive & (rng.random(8000) < 0.5)).astype(int)
    found = compare(labels, scores, threshold=2.0, class_prior=0.4)
    assert found.chosen_by is None
    assert found.no_verdict is None
    lead = found.lead("precision")
    assert not lead.is_clear
    came_out = found[lead.best]["precision"].value
    assert came_out > 1
    assert str(lead).startswith(
        f"precision: no verdict, {lead.best} came out at {number_text(came_out)}"
    )
    assert str(lead).endswith(", which is impossible")


def test_where_every_positive_is_confirmed_nobody_chose_them():
    """Unless some labels are wrong: then as many positives are somewhere else."""
    rng = np.random.default_rng(5)
    positive = rng.random(2000) < 0.1
    scores = {name: rng.normal(2.0 * positive) for name in ("one", "other")}
    labels = positive.astype(int)
    labels[np.flatnonzero(labels)[scores["one"][positive] < 1.5]] = 0
    share = labels.mean()
    whole, known = (compare(labels, scores, class_prior=one) for one in (1.2 * share, share))
    assert "one" in whole.possibly_chosen_by
    assert known.possibly_chosen_by == ()
    noisy = compare(labels, scores, class_prior=share, label_purity=0.8)
    assert "one" in noisy.possibly_chosen_by
