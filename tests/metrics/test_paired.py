"""Errors of paired differences against independent ones: row by row, and over many labelings."""

import itertools
import math

import numpy as np
import pytest

from pumonitor.comparison import compare
from pumonitor.metrics import influence
from pumonitor.metrics.paired import ModelOnRows, rows_as_cells
from pumonitor.metrics.paired_ranking import paired_standard_error
from pumonitor.metrics.problem import make_problem
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

THRESHOLDS = {"a": 1.1, "b": 0.6}


def simulated(rows, *, seed, prior=0.25, frequency=0.4, decimals=1):
    """Skewed, tied scores of two unequal, correlated models."""
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < prior
    shared = rng.gumbel(size=rows)
    scores = {
        "a": np.round(0.7 * shared + 0.8 * rng.normal(1.6 * positive), decimals),
        "b": np.round(0.7 * shared + 0.6 * rng.gumbel(0.9 * positive), decimals),
    }
    return positive, (positive & (rng.random(rows) < frequency)).astype(np.int8), scores


def naive(scores, threshold, labeled, population, prior, purity):
    """Metrics of one model by their definitions, from weights of rows."""
    g = labeled[scores >= threshold].sum() / labeled.sum()
    theta = population[scores >= threshold].sum() / population.sum()
    recall = ((1 - prior) * g - (1 - purity) * theta) / (purity - prior)
    values, place = np.unique(scores, return_inverse=True)
    by_value = np.bincount(place, weights=population, minlength=len(values))
    beaten = np.cumsum(by_value) - 0.5 * by_value
    lift = np.sum(labeled * beaten[place]) / labeled.sum() / population.sum()
    auc = (lift - 0.5 * (1 - purity + prior)) / (purity - prior)
    return {
        "f1": 2 * prior * recall / (prior + theta),
        "precision": prior * recall / theta,
        "recall": recall,
        "ll_score": recall**2 / theta,
        "auc": auc,
        "aul": 0.5 * prior + (1 - prior) * auc,
    }


def row_by_row(labels, scores, settings, *, represented, weight):
    """Standard errors of the differences: what each row moves, squared and summed."""
    case_control = settings["scenario"] == "case-control"

    def differences(change):
        labeled = np.where(labels == 1, represented * change, 0.0)
        in_population = (labels == 0) if case_control else np.ones(len(labels), bool)
        population = np.where(in_population, weight * change, 0.0)
        one, other = (
            naive(
                scores[name],
                THRESHOLDS[name],
                labeled,
                population,
                settings["class_prior"],
                settings["label_purity"],
            )
            for name in "ab"
        )
        return np.array([one[name] - other[name] for name in one]), list(one)

    step = 1e-5
    squares = np.zeros(6)
    as_they_are, names = differences(np.ones(len(labels)))
    for row in range(len(labels)):
        change = np.ones(len(labels))
        change[row] += step
        squares += ((differences(change)[0] - as_they_are) / step) ** 2
    return dict(zip(names, np.sqrt(squares), strict=True))


@pytest.mark.parametrize("scenario", ["single-training-set", "case-control"])
@pytest.mark.parametrize("weights", ["none", "weights", "propensities"])
@pytest.mark.parametrize("purity", [1.0, 0.85])
def test_process_errors_are_those_of_rows(scenario, weights, purity):
    # With propensities half a row more in a cell weighs more: among more rows it is nothing.
    _, labels, scores = simulated(2500 if weights == "propensities" else 1600, seed=3)
    rng = np.random.default_rng(5)
    weight = rng.integers(1, 4, len(labels)).astype(float) if weights != "none" else None
    # Propensities that follow one model's score, where the two models' errors part ways.
    propensity = np.clip(0.3 + 0.15 * scores["a"], 0.1, 0.9) if weights == "propensities" else None
    settings = {"scenario": scenario, "label_purity": purity, "class_prior": 0.25}
    found = compare(
        labels,
        scores,
        threshold=THRESHOLDS,
        sample_weight=weight,
        propensity=propensity,
        **settings,
    )
    rows = np.ones(len(labels)) if weight is None else weight
    expected = row_by_row(
        labels,
        scores,
        settings,
        weight=rows,
        represented=rows if propensity is None else rows / propensity,
    )
    for name, estimate in found.differences("a", "b", metrics=expected).items():
        # 10,000 draws know a spread to 0.7%; half a row more in each cell moves it by as much.
        assert estimate.se_sampling == pytest.approx(expected[name], rel=0.03), name
        assert estimate.se == estimate.se_sampling
        assert estimate.se_prior == 0


def models_of(labels, scores, prior, **settings):
    given = ClassPriorEstimate.given(prior)
    models = []
    for name, values in scores.items():
        table = ScoreTable.from_arrays(labels, values, thresholds=[THRESHOLDS[name]])
        problem = make_problem(table, given, **settings)
        models.append(ModelOnRows.of(problem, values, threshold=THRESHOLDS[name]))
    return (*models, rows_as_cells(np.asarray(labels), weight=None, represented=None))


@pytest.mark.slow
def test_window_error_of_aul_is_exact_over_all_labelings(monkeypatch):
    """Where the window's own number of positives is known, and no draw of the class prior."""
    monkeypatch.setattr(influence, "window_prior", lambda problem: problem.class_prior.value)
    positive, _, scores = simulated(60, seed=21, prior=0.2)
    where = np.flatnonzero(positive)
    prior = len(where) / len(positive)
    values, variances = [], []
    for chosen in itertools.combinations(where, 3):
        labels = np.zeros(len(positive), dtype=np.int8)
        labels[list(chosen)] = 1
        one, other, rows = models_of(labels, scores, prior, target="window")
        error, degrees = paired_standard_error(one, other, rows)
        assert degrees == 2
        variances.append(error**2)
        observed = [
            naive(scores[name], 0.0, labels, np.ones(len(labels)), prior, 1.0)["aul"]
            for name in "ab"
        ]
        values.append(observed[0] - observed[1])
    assert np.mean(variances) == pytest.approx(np.var(values), rel=1e-9)


@pytest.mark.parametrize("frequency", [0.3, 0.9])
def test_window_errors_are_those_over_labelings(frequency):
    positive, _, scores = simulated(3000, seed=8)
    prior = float(positive.mean())
    rng = np.random.default_rng(1)
    count = round(frequency * positive.sum())
    values, errors = [], []
    names = ("f1", "precision", "recall", "ll_score", "aul", "auc")
    for repetition in range(800):
        labels = np.zeros(len(positive), dtype=np.int8)
        labels[rng.choice(np.flatnonzero(positive), count, replace=False)] = 1
        ones = np.ones(len(labels))
        one, other = (
            naive(scores[name], THRESHOLDS[name], labels, ones, prior, 1.0) for name in "ab"
        )
        values.append([one[name] - other[name] for name in names])
        if repetition < 5:
            found = compare(
                labels, scores, threshold=THRESHOLDS, class_prior=prior, target="window"
            ).differences("a", "b", metrics=names)
            errors.append([found[name].se for name in names])
    # 800 labelings know a standard deviation to 2.5%.
    assert np.mean(errors, axis=0) == pytest.approx(np.std(values, axis=0), rel=0.08)


def test_noisy_labels_of_the_window_go_with_the_sum_of_both_classes():
    """With b < 1 the window's error is below the process's and above that of pure labels' share."""
    _, labels, scores = simulated(4000, seed=9)
    settings = {"threshold": THRESHOLDS, "class_prior": 0.25, "label_purity": 0.9}
    window = compare(labels, scores, target="window", **settings).difference("a", "b", "recall")
    process = compare(labels, scores, **settings).difference("a", "b", "recall")
    rest = (labels == 0).sum() / len(labels)
    assert 0.5 * rest * process.se < window.se < process.se


def test_pairing_matters_and_goes_with_the_correlation():
    rng = np.random.default_rng(4)
    positive = rng.random(8000) < 0.2
    labels = positive & (rng.random(8000) < 0.4)
    shared, own = rng.normal(size=(2, 8000))
    ratios = {}
    for correlation in (0.0, 0.9):
        mixed = correlation * shared + math.sqrt(1 - correlation**2) * own
        scores = {"a": shared + 1.5 * positive, "b": mixed + 1.5 * positive}
        found = compare(labels, scores, threshold=1.0, class_prior=0.2)
        for name in ("aul", "f1"):
            unpaired = math.hypot(found["a"][name].se, found["b"][name].se)
            ratios[name, correlation] = found.difference("a", "b", name).se / unpaired
    assert ratios["aul", 0.0] == pytest.approx(1.0, abs=0.06)
    assert ratios["f1", 0.0] == pytest.approx(1.0, abs=0.1)
    assert ratios["aul", 0.9] < 0.4
    assert ratios["f1", 0.9] < 0.65


def test_uncertainty_of_the_prior_is_shared():
    """A prior that moves both models together moves their difference less than either."""
    _, labels, scores = simulated(6000, seed=6)
    found = compare(labels, scores, threshold=THRESHOLDS, class_prior=(0.25, 0.15, 0.4))
    difference = found.difference("a", "b", "precision")
    both = [found[name]["precision"].se_prior for name in "ab"]
    assert difference.se_prior == pytest.approx(abs(both[0] - both[1]), rel=1e-9)
    assert difference.se_prior < 0.5 * min(both)
    assert difference.se == pytest.approx(
        math.hypot(difference.se_sampling, difference.se_prior), rel=0.1
    )


def test_a_row_is_found_in_its_cell():
    labels = np.array([1, 0, 0, 1, 0, 0], dtype=np.int8)
    values = np.array([0.9, 0.9, 0.4, 0.4, 0.6, 0.1])
    table = ScoreTable.from_arrays(labels, values, thresholds=[0.6], density_edges=0)
    problem = make_problem(table, ClassPriorEstimate.given(0.4))
    model = ModelOnRows.of(problem, values, threshold=0.6)
    assert np.all(table.lower[model.cells] <= values)
    assert np.all(table.upper[model.cells] >= values)
    assert model.flagged.tolist() == (values >= 0.6).tolist()
