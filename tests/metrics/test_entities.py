"""Labeled rows that share entities: design effects, draws and intervals against naive sums."""

import itertools

import numpy as np
import pandas as pd
import pytest

import pumonitor
from pumonitor import ClassPriorEstimate, ScoreTable
from pumonitor.errors import InputError
from pumonitor.metrics.influence import standard_error
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.rates import share_draws_at

PRIOR = ClassPriorEstimate.given(0.3)


def some_rows(seed=3, entities=60, most=6, negatives=400):
    """Labels, scores and entities; rows of one entity score alike."""
    rng = np.random.default_rng(seed)
    of_row = np.repeat(np.arange(entities), rng.integers(1, most + 1, size=entities))
    scores = 1.5 + rng.normal(size=entities)[of_row] + 0.5 * rng.normal(size=len(of_row))
    return (
        np.concatenate([np.ones(len(of_row)), np.zeros(negatives)]).astype(int),
        np.round(np.concatenate([scores, rng.normal(size=negatives)]), 2),
        np.concatenate([[f"card {number}" for number in of_row], ["the shop"] * negatives]),
    )


def naive_variation(values, entity):
    """Sum over entities of squared sums, pair by pair."""
    return sum(
        one * other
        for (one, name), (other, its) in itertools.product(
            zip(values, entity, strict=True), repeat=2
        )
        if name == its
    )


def test_design_effect_is_that_of_a_sum_over_pairs_of_rows():
    labels, scores, entity = some_rows()
    table = ScoreTable.from_arrays(labels, scores, entity=entity, density_edges=0)
    held, whose = scores[labels == 1], entity[labels == 1]
    column = np.sin(table.lower)
    column = column - float(np.sum(table.labeled * column) / table.labeled.sum())
    values = np.array([column[np.flatnonzero(table.lower <= score)[-1]] for score in held])
    expected = naive_variation(values, whose) / float(np.sum(values**2))
    assert expected > 1.5
    assert table.design_effect(column) == pytest.approx(expected, rel=1e-9)
    sizes = np.unique(whose, return_counts=True)[1]
    assert table.size_design_effect == pytest.approx(np.sum(sizes**2) / np.sum(sizes))


def test_standard_error_sums_over_entities():
    labels, scores, entity = some_rows()
    table = ScoreTable.from_arrays(labels, scores, entity=entity, density_edges=0)
    problem = make_problem(table, PRIOR)
    u, v = np.sin(table.lower), np.cos(table.lower)
    u -= float(np.sum(problem.labeled_share * u))
    v -= float(np.sum(problem.population_share * v))
    error, _ = standard_error(problem, u, v)
    cell = np.searchsorted(table.lower, scores, side="right") - 1
    moved = np.where(labels == 1, u[cell] / labels.sum(), 0.0) + v[cell] / len(labels)
    labeled = naive_variation(moved[labels == 1], entity[labels == 1])
    rest = float(np.sum(moved[labels == 0] ** 2))
    small_sample = 1 + 1 / problem.labeled_degrees
    assert error**2 == pytest.approx(labeled * small_sample + rest, rel=1e-9)


def test_draws_at_a_threshold_have_the_spread_that_entities_have():
    labels, scores, entity = some_rows(entities=400, negatives=4000)
    table = ScoreTable.from_arrays(labels, scores, thresholds=(1.5,), entity=entity)
    problem = make_problem(table, PRIOR)
    draws = share_draws_at(problem, table.index_of_threshold(1.5))
    frame = pd.DataFrame({"above": scores >= 1.5, "entity": entity})[labels == 1]
    by_entity = frame.groupby("entity")["above"].agg(["sum", "count"])
    rows, g = len(frame), frame["above"].mean()
    spread = np.sqrt(np.sum((by_entity["sum"] - g * by_entity["count"]) ** 2)) / rows
    assert draws.labeled_above.std() == pytest.approx(spread, rel=0.05)
    assert draws.labeled_above.mean() == pytest.approx(g, abs=0.1 * spread)
    # The number of labels varies as the squared sizes of entities add up.
    size = np.sqrt(np.sum(by_entity["count"] ** 2)) / rows
    q = problem.labeled_fraction
    assert np.std(draws.labeled_fraction) / q == pytest.approx((1 - q) * size, rel=0.07)


def test_rows_that_are_entities_of_their_own_change_no_number():
    labels, scores, _ = some_rows()
    plain = pumonitor.evaluate(labels, scores, threshold=1.5, class_prior=0.4)
    alone = pumonitor.evaluate(
        labels, scores, threshold=1.5, class_prior=0.4, entity=np.arange(len(labels))
    )
    assert plain.to_frame().equals(alone.to_frame())


def test_intervals_widen_and_point_estimates_stay():
    labels, scores, entity = some_rows()
    plain = pumonitor.evaluate(labels, scores, threshold=1.5, class_prior=0.4)
    shared = pumonitor.evaluate(labels, scores, threshold=1.5, class_prior=0.4, entity=entity)
    for name in ("recall", "precision", "f1", "auc", "aul", "average_precision", "mcc"):
        assert shared[name].value == pytest.approx(plain[name].value, abs=1e-12)
        wider = (shared[name].high - shared[name].low) / (plain[name].high - plain[name].low)
        assert 1.2 < wider < 3, name
    assert shared.settings["labeled_entities"] == 60
    assert shared.settings["design_effect"] > 2


def test_ninety_five_percent_hold_the_truth_with_entities_and_far_fewer_without():
    from benchmarks.entities import cell

    setting = {"most": 20, "alike": 0.9, "labeled": 0.3, "by_entity": True, "what": "estimates"}
    held = cell(**setting, use_entity=True, runs=14, seed=5)
    without = cell(**setting, use_entity=False, runs=14, seed=5)
    for name in ("recall", "aul"):
        assert held[name][0] >= 0.85, name
        assert without[name][0] <= 0.8, name


def test_tables_add_and_compress_with_their_entities():
    labels, scores, entity = some_rows()
    half = np.arange(len(labels)) % 2 == 0
    whole = ScoreTable.from_arrays(labels, scores, entity=entity)
    parts = [
        ScoreTable.from_arrays(labels[rows], scores[rows], entity=entity[rows], density_edges=0)
        for rows in (half, ~half)
    ]
    both = parts[0] + parts[1]
    # An entity is taken to be in one table alone.
    assert both.entities.number == sum(part.entities.number for part in parts)
    assert 1 < both.size_design_effect < whole.size_design_effect
    small = whole.compress(50)
    assert small.size_design_effect == pytest.approx(whole.size_design_effect)
    assert small.rank_design_effect == pytest.approx(whole.rank_design_effect, rel=0.02)
    plain = ScoreTable.from_arrays(labels[half], scores[half], density_edges=0)
    assert (plain + parts[1]).entities.number == plain.n_labeled + parts[1].entities.number


def test_differences_of_models_widen():
    labels, scores, entity = some_rows(entities=200, negatives=2000)
    rng = np.random.default_rng(1)
    of_card = dict(zip(np.unique(entity), rng.normal(size=len(np.unique(entity))), strict=True))
    other = scores + 0.5 * np.array([of_card[name] for name in entity])
    models = {"old": scores, "new": other}
    sides = [
        pumonitor.compare(labels, models, threshold=1.5, class_prior=0.4, entity=given)
        for given in (None, entity)
    ]
    for metric in ("recall", "aul"):
        plain, shared = (side.difference("new", "old", metric) for side in sides)
        assert shared.value == pytest.approx(plain.value)
        assert (shared.high - shared.low) > 1.2 * (plain.high - plain.low)


def test_a_missing_entity_is_one_of_its_own():
    labels, scores, entity = some_rows()
    known = pd.Series(entity).where(np.arange(len(entity)) % 3 > 0)
    table = ScoreTable.from_arrays(labels, scores, entity=known)
    missing = int((known.isna() & (labels == 1)).sum())
    assert table.entities.number == known[labels == 1].nunique() + missing


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"entity": ["a"]}, "entity must have one value per row: got 1 for 4 rows"),
        (
            {"entity": list("aabc"), "sample_weight": [1, 1, 2, 1]},
            "entity does not go with sample_weight: labels of one entity are counted with equal "
            "weights alone; leave out one or the other",
        ),
        ({"entity": list("aabc"), "propensity": 0.5}, "entity does not go with propensity"),
    ],
)
def test_what_entity_refuses(given, message):
    with pytest.raises(InputError, match=message):
        pumonitor.evaluate([1, 1, 0, 0], [0.9, 0.3, 0.4, 0.1], class_prior=0.6, **given)


def test_an_index_of_other_rows_is_refused():
    labels = pd.Series([1, 1, 0, 0])
    with pytest.raises(InputError, match="labels and entity have different indexes"):
        ScoreTable.from_arrays(
            labels, [0.9, 0.3, 0.4, 0.1], entity=pd.Series(list("aabc"), index=[4, 5, 6, 7])
        )


def test_few_entities_are_told():
    labels, scores, entity = some_rows(entities=8)
    ev = pumonitor.evaluate(labels, scores, threshold=1.5, class_prior=0.1, entity=entity)
    said = {finding.name: finding.sentence for finding in ev.warnings}
    assert "are of 8 entities only" in said["few_entities"]
    assert "tell as much as" in said["few_positives"]
    plain = pumonitor.evaluate(labels, scores, threshold=1.5, class_prior=0.1)
    assert "few_entities" not in {finding.name for finding in plain.warnings}


def test_labels_of_one_entity_are_one_label():
    labels, scores, entity = some_rows(negatives=4000)
    entity = np.where(labels == 1, "one card", entity)
    settings = {"threshold": 1.5, "class_prior": 0.1}
    shared = pumonitor.evaluate(labels, scores, entity=entity, **settings)
    plain = pumonitor.evaluate(labels, scores, **settings)
    assert shared.settings["design_effect"] == pytest.approx((labels == 1).sum())
    for metric in ("recall", "auc", "aul"):
        width, of_rows = (ev[metric].high - ev[metric].low for ev in (shared, plain))
        assert width > 2 * of_rows, metric
