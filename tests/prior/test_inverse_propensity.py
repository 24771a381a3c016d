"""The class prior counted from propensities: by hand, over all labelings, covered, refused."""

import itertools
import math

import numpy as np
import pytest

import pumonitor
from benchmarks.propensities import POLICIES, simulate
from benchmarks.simulation import Design
from pumonitor import ScoreTable
from pumonitor.errors import InputError
from pumonitor.prior import estimate_class_prior, estimate_from_table, priors_disagree
from pumonitor.results import ClassPriorEstimate

LABELS = [1, 1, 1, 0, 0, -1, 0, 0, 0, 0, 0, 0]
SCORES = [9, 8, 7, 7, 6, 6, 5, 4, 3, 2, 1, 0]
WEIGHT = [1.0, 2, 1, 1, 3, 1, 1, 2, 1, 4, 1, 2]
CHANCE = [1.0, 0.5, 0.4] + [0.4] * 9


def test_every_labeled_row_stands_for_the_inverse_of_its_propensity():
    found = estimate_class_prior(
        LABELS, SCORES, method="propensity", sample_weight=WEIGHT, propensity=CHANCE
    )
    positives = sum(w / e for y, w, e in zip(LABELS, WEIGHT, CHANCE, strict=True) if y == 1)
    assert found.value == pytest.approx(positives / sum(WEIGHT))
    unlabeled = sum(w for y, w in zip(LABELS, WEIGHT, strict=True) if y == 0)
    assert found.unlabeled_prior == pytest.approx((positives - 4) / unlabeled)
    assert found.method == "propensity"
    noisy = estimate_class_prior(
        LABELS,
        SCORES,
        method="propensity",
        sample_weight=WEIGHT,
        propensity=CHANCE,
        label_purity=0.9,
    )
    assert noisy.value == pytest.approx(0.9 * positives / sum(WEIGHT))


def test_over_all_labelings_it_is_the_windows_own_prior():
    scores = np.arange(14.0)
    positives = [1, 3, 6, 8, 11, 13]
    chance = dict(zip(positives, [0.3, 0.2, 0.5, 0.7, 1.0, 1.0], strict=True))
    expected = 0.0
    for chosen in itertools.product([False, True], repeat=6):
        odds = math.prod(
            chance[row] if is_in else 1 - chance[row]
            for row, is_in in zip(positives, chosen, strict=True)
        )
        if odds == 0:
            continue
        labels = np.zeros(14, int)
        labels[[row for row, is_in in zip(positives, chosen, strict=True) if is_in]] = 1
        table = ScoreTable.from_arrays(
            labels, scores, propensity=[chance.get(row, 0.5) for row in range(14)]
        )
        # More positives than rows is refused, and cannot happen here: 3.3 + 5 + 2 + 1.4 + 2 < 14.
        expected += odds * estimate_from_table(table, method="propensity").value
    # Priors are kept 1e-9 away from 0.
    assert expected == pytest.approx(6 / 14, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["process", "window"])
@pytest.mark.parametrize(("policy", "effective"), [("rising", 30), ("review", 30), ("review", 120)])
def test_the_interval_holds_the_prior_as_often_as_it_says(policy, effective, target):
    design = Design(scenario="single-training-set", n_labeled=20, class_prior=0.1, auc=0.85)
    held = total = 0
    for run in range(150):
        rng = np.random.default_rng([run, 3])
        drawn = simulate(design, POLICIES[policy], effective=effective, rng=rng)
        table = ScoreTable.from_arrays(
            drawn.window.labels, drawn.window.scores, propensity=drawn.propensity, density_edges=0
        )
        found = estimate_from_table(table, method="propensity", target=target)
        truth = 0.1 if target == "process" else drawn.window.is_positive.mean()
        held += found.low <= truth <= found.high
        total += 1
    # Half of the pseudo-row of Fay and Feuer is still a little on the wide side.
    assert 0.95 - 0.053 <= held / total <= 1.0


@pytest.mark.parametrize("label_purity", [1.0, 0.9])
@pytest.mark.parametrize("target", ["process", "window"])
def test_the_spread_is_that_of_drawing_the_labels_and_for_the_process_the_classes(
    target, label_purity
):
    rng = np.random.default_rng(8)
    labels = (rng.random(60_000) < 0.2).astype(int)
    table = ScoreTable.from_arrays(labels, rng.normal(labels), propensity=0.9)
    found = estimate_from_table(
        table, method="propensity", target=target, label_purity=label_purity
    )
    labeled, unlabeled = labels.sum(), 60_000 - labels.sum()
    # Positives among the unlabeled rows: each label stands for 1/9 of one, right or not.
    hidden = labeled * (1 / 0.9 - 1)
    variance = labeled / 0.9**2 - label_purity * labeled / 0.9
    if target == "process":
        variance += hidden * (1 - hidden / unlabeled)
    low, high = found.unlabeled_prior_interval
    expected = 2 * 1.96 * label_purity * np.sqrt(variance) / unlabeled
    assert high - low == pytest.approx(expected, rel=0.01)
    assert found.unlabeled_prior == pytest.approx(label_purity * hidden / unlabeled)


def test_what_was_not_seen_is_not_taken_to_be_absent():
    # All above 0 reviewed, 1% below, where chance had it that none was found.
    rng = np.random.default_rng(0)
    scores = rng.normal(size=2000)
    labels = (scores > 0) & (rng.random(2000) < 0.1)
    found = estimate_class_prior(
        labels, scores, method="propensity", propensity=np.where(scores > 0, 1.0, 0.01)
    )
    assert found.value == pytest.approx(labels.mean())
    # With 100 positives below, one in three such windows shows none (0.99^100).
    assert found.high * 2000 > labels.sum() + 100
    blind = estimate_class_prior(
        labels, scores, method="propensity", propensity=np.where(labels, 1.0, np.nan)
    )
    assert blind.high < found.high


def test_everything_reviewed_leaves_nothing_to_estimate():
    labels = [1, 0, 1, 0, 0, 0, 1, 0]
    table = ScoreTable.from_arrays(labels, np.arange(8.0), propensity=1.0)
    found = estimate_from_table(table, method="propensity", target="window")
    assert found.value == pytest.approx(3 / 8)
    assert found.unlabeled_prior == pytest.approx(0, abs=1e-8)


def test_it_goes_through_an_evaluation():
    design = Design(scenario="single-training-set", n_labeled=20, class_prior=0.1, auc=0.85)
    drawn = simulate(design, POLICIES["review"], effective=300, rng=np.random.default_rng(1))
    window = drawn.window
    intervals = {}
    for target in ("process", "window"):
        ev = pumonitor.evaluate(
            window.labels,
            window.scores,
            threshold=design.threshold,
            class_prior="propensity",
            propensity=drawn.propensity,
            target=target,
        )
        assert ev.class_prior.method == "propensity"
        assert ev["class_prior"].low < 0.1 < ev["class_prior"].high
        assert ev["precision"].se_prior > 0
        intervals[target] = ev["class_prior"].high - ev["class_prior"].low
    assert intervals["window"] < intervals["process"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "class_prior='propensity' needs propensities"),
        (
            {"propensity": CHANCE, "scenario": "case-control"},
            "class_prior='propensity' needs scenario='single-training-set'",
        ),
    ],
)
def test_where_it_has_no_meaning_it_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        estimate_class_prior(LABELS, SCORES, method="propensity", **options)


def test_more_positives_than_rows_are_refused():
    with pytest.raises(InputError, match=r"stand for 21 positives .* 18 of them among the 8 "):
        estimate_class_prior(
            LABELS, SCORES, method="propensity", propensity=[0.1, 0.1, 1] + [1] * 9
        )


def test_priors_disagree_only_when_their_intervals_are_apart():
    def prior(low, high):
        return ClassPriorEstimate.given((low, high))

    assert priors_disagree(prior(0.1, 0.2), prior(0.21, 0.3))
    assert priors_disagree(prior(0.21, 0.3), prior(0.1, 0.2))
    assert not priors_disagree(prior(0.1, 0.2), prior(0.15, 0.3))
    assert not priors_disagree(prior(0.1, 0.4), prior(0.2, 0.3))


def test_estimates_from_scores_allow_for_propensities_as_well():
    """Weighted labeled rows are like all positives: they are held against the population."""
    rng = np.random.default_rng(31)
    positive = rng.random(20_000) < 0.2
    scores = rng.normal(2.0 * positive)
    chance = 0.1 + 0.8 / (1 + np.exp(-2 * (scores - 1.5)))
    labels = positive & (rng.random(20_000) < chance)
    table = ScoreTable.from_arrays(labels, scores, propensity=chance)
    for method in ("tilt", "auto"):
        found = estimate_from_table(table, method=method, rng=0)
        assert abs(found.value - 0.2) < 0.03, method
    unweighted = estimate_from_table(ScoreTable.from_arrays(labels, scores), method="tilt", rng=0)
    assert unweighted.value < 0.17


def test_no_estimate_is_below_what_has_been_confirmed():
    """Nearly all positives labeled, a poor ranking: the estimate alone would fall below."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        positive = rng.random(4000) < 0.2
        scores = rng.normal(1.2 * positive)
        chance = np.where(scores > 1, 0.97, 0.9)
        labels = positive & (rng.random(4000) < chance)
        ev = pumonitor.evaluate(labels, scores, propensity=chance)
        assert ev.class_prior.value >= labels.mean() - 1e-12
        assert ev["unlabeled_prior"].value >= 0
