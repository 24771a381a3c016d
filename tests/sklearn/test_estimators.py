"""Learners, scorers and cross-fitting do what scikit-learn's users expect."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from pumonitor.errors import InputError, TooFewPositivesError
from pumonitor.metrics import aul
from pumonitor.sklearn import (
    ChallengerClassifier,
    PUAUCClassifier,
    PUAULClassifier,
    aul_scorer,
    cross_fit,
    recall_at_capacity_scorer,
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (PUAULClassifier(random_state=0), {}),
        (PUAUCClassifier(class_prior=0.5, random_state=0), {}),
        pytest.param(
            ChallengerClassifier(random_state=0),
            {
                "check_sample_weight_equivalence_on_dense_data": "the trees put scores in bins "
                "without regard to weights, as scikit-learn's own do"
            },
            marks=pytest.mark.slow,
        ),
    ],
    ids=["PU_AUL", "PU_AUC", "challenger"],
)
def test_scikit_learn_finds_nothing_wrong(estimator, expected):
    told = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    assert len(told) > 50
    assert {one["check_name"] for one in told if one["status"] == "xfail"} == set(expected)


def test_a_class_prior_has_no_default():
    """One that is wrong by much leaves the loss without a minimum, or ranks by something else."""
    with pytest.raises(TypeError, match="class_prior"):
        PUAUCClassifier()


def test_that_there_are_no_probabilities_is_said():
    assert not hasattr(PUAULClassifier(), "predict_proba")
    with pytest.raises(AttributeError, match="no predict_proba: it learns which rows are more"):
        ChallengerClassifier().predict_proba  # noqa: B018


@pytest.fixture
def table():
    rng = np.random.default_rng(5)
    positive = rng.random(3000) < 0.2
    rows = rng.normal(positive[:, np.newaxis] * [1.0, 0.5], size=(3000, 2))
    return rows, positive, positive & (rng.random(3000) < 0.2)


def auc(scores, positive):
    return float((scores[positive][:, np.newaxis] > scores[~positive]).mean())


def test_the_challenger_ranks_by_the_mean_of_both_ranks(table):
    rows, positive, labeled = table
    model = ChallengerClassifier(random_state=0).fit(rows, labeled)
    scores = model.decision_function(rows)
    order = [
        np.argsort(np.argsort(one))
        for one in (model.trees_.decision_function(rows), model.ranking_.decision_function(rows))
    ]
    assert np.corrcoef(scores, order[0] + order[1])[0, 1] > 0.9999
    assert auc(scores, positive) > 0.75
    assert np.abs(scores).max() <= 1
    far = model.decision_function([[50.0, 50.0], [-50.0, -50.0]])
    assert np.isfinite(far).all()


def test_scorers_are_the_estimates_of_confirmed_positives(table):
    rows, _, labeled = table
    model = PUAULClassifier(random_state=0).fit(rows, labeled)
    scores = model.decision_function(rows)
    assert aul_scorer(model, rows, labeled) == aul(labeled, scores).value
    highest = np.argsort(-scores)[:300]
    found = recall_at_capacity_scorer(0.1)(model, rows, labeled)
    assert found == pytest.approx(labeled[highest].sum() / labeled.sum())


class Constant(ClassifierMixin, BaseEstimator):
    """Scores rows by their first feature."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen_ = X
        return self

    def decision_function(self, X):
        return X[:, 0]


def test_rows_alike_at_the_end_share_the_capacity():
    rows = np.array([[3.0], [2.0], [2.0], [2.0], [1.0]])
    model = Constant().fit(rows, [1, 0, 1, 0, 1])
    # Two of five rows: the first, and a third of the three that are alike.
    found = recall_at_capacity_scorer(0.4)(model, rows, np.array([1, 0, 1, 0, 1]))
    assert found == pytest.approx((1 + 1 / 3) / 3)
    with pytest.raises(ValueError, match=r"share must be in \(0, 1\)"):
        recall_at_capacity_scorer(5)
    with pytest.raises(TooFewPositivesError, match="no confirmed positive"):
        recall_at_capacity_scorer(0.4)(model, rows, np.zeros(5))


def test_a_search_can_be_scored_by_aul(table):
    rows, _, labeled = table
    search = GridSearchCV(
        PUAULClassifier(random_state=0), {"regularization": [0.1, 1e6]}, scoring=aul_scorer, cv=3
    ).fit(rows, labeled)
    assert search.best_score_ > 0.6
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


class Remembers(Constant):
    """Scores 1 what it has seen, by its first feature, and 0 all else."""

    def decision_function(self, X):
        return np.isin(X[:, 0], self.seen_[:, 0]).astype(float)


@pytest.mark.parametrize("by_time", [False, True])
def test_no_model_scores_an_entity_that_it_has_seen(by_time):
    rng = np.random.default_rng(0)
    entity = np.arange(400) % 100
    labels = (entity % 3 == 0).astype(int)
    rows = np.column_stack([entity, rng.random(400)]).astype(float)
    time = rng.permutation(400) if by_time else None
    held_out = cross_fit(Remembers(), rows, labels, groups=entity, time=time)
    # All scores of a fold are alike, so that each has the middle rank.
    assert set(held_out.scores) == {0.5}
    leaked = cross_fit(Remembers(), rows, labels, time=time)
    assert len(set(leaked.scores)) > 1


def test_no_model_scores_a_row_before_one_that_it_has_seen():
    time = np.random.default_rng(1).permutation(500)
    rows, labels = time[:, np.newaxis].astype(float), np.arange(500) % 2

    class Latest(Constant):
        def decision_function(self, X):
            assert X[:, 0].min() > self.seen_[:, 0].max()
            return X[:, 0]

    held_out = cross_fit(Latest(), rows, labels, time=time)
    assert sorted(time[held_out.rows]) == list(range(100, 500))


def test_ranks_of_a_fold_are_those_of_its_own_rows(table):
    rows, positive, labeled = table
    held_out = cross_fit(LogisticRegression(), rows, labeled)
    assert held_out.rows.tolist() == list(range(3000))
    for fold in range(5):
        ranks = np.sort(held_out.scores[held_out.fold == fold])
        assert ranks == pytest.approx((np.arange(len(ranks)) + 0.5) / len(ranks))
    assert auc(held_out.scores, positive) > 0.75


def test_what_cannot_be_cross_fitted_is_refused():
    rows, labels = np.arange(40.0)[:, np.newaxis], np.arange(40) % 2
    with pytest.raises(InputError, match="X must have one row for each of the 40 labels, got 39"):
        cross_fit(Constant(), rows[:39], labels)
    with pytest.raises(InputError, match="at least 5 different values, got 2"):
        cross_fit(Constant(), rows, labels, time=labels)
    with pytest.raises(InputError, match=r"time must have one value for each.*\(39,\)"):
        cross_fit(Constant(), rows, labels, time=np.arange(39))
    for missing in (np.nan, None, pd.NaT):
        with pytest.raises(InputError, match="1 of 40 rows have no time"):
            cross_fit(Constant(), rows, labels, time=[missing, *range(39)])
    with pytest.raises(InputError, match="2 groups are few"):
        cross_fit(Constant(), rows, labels, groups=labels)
    only_late = (np.arange(40) >= 30).astype(int)
    with pytest.raises(TooFewPositivesError, match="fold 1 has no confirmed positive among its 8"):
        cross_fit(Constant(), rows, only_late, time=np.arange(40))
    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        cross_fit(BaseEstimatorWithoutScores(), rows, labels)


class BaseEstimatorWithoutScores(BaseEstimator):
    def fit(self, X, y):
        return self
