"""Claesen bounds against every possible assignment, the published construction and the truth."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

import pumonitor
from pumonitor import ScoreTable
from pumonitor.errors import InputError
from pumonitor.metrics import THRESHOLD_METRICS
from pumonitor.metrics.bounds import bounds, bounds_of_table
from pumonitor.metrics.contingency_bounds import Path, area_under_roc, average_precision_of
from pumonitor.metrics.recall import RECALL
from pumonitor.metrics.surrogates import hidden_counts
from pumonitor.results import ClassPriorEstimate
from tests.frozen import assert_as_frozen, shares
from tests.oracles import assignments

STATES = list("ULUUNULUUUNLUUUUN")
HIDDEN = 4
LABELS = np.array([{"L": 1, "U": 0, "N": -1}[state] for state in STATES])
SCORES = -np.arange(len(STATES), dtype=float)


def share_of_labeled():
    labeled = np.cumsum([state == "L" for state in STATES])
    return np.concatenate([[0.0], labeled / labeled[-1]])


def band(reach):
    share = share_of_labeled()
    # Whole numbers of hidden positives, where the bound and the best assignment are the same.
    low = np.floor(np.clip(share - reach, 0, 1) * HIDDEN) / HIDDEN
    high = np.ceil(np.clip(share + reach, 0, 1) * HIDDEN) / HIDDEN
    return low, high


@pytest.mark.parametrize("reach", [0.1, 0.3, 0.5])
def test_counts_areas_and_curves_are_the_extremes_over_all_assignments(reach):
    low, high = band(reach)
    unlabeled = np.concatenate([[0.0], np.cumsum([state == "U" for state in STATES])])
    counts = hidden_counts(unlabeled, low, high, hidden=HIDDEN)
    possible = list(
        assignments.feasible(STATES, hidden=HIDDEN, low=low * HIDDEN, high=high * HIDDEN)
    )
    assert possible
    heads = np.array([np.concatenate([[0], np.cumsum(one)]) for one in possible])
    labeled = np.concatenate([[0], np.cumsum([state == "L" for state in STATES])])
    assert (heads.min(axis=0) - labeled).tolist() == pytest.approx(counts.low.tolist())
    assert (heads.max(axis=0) - labeled).tolist() == pytest.approx(counts.high.tolist())
    flagged = np.arange(len(STATES) + 1.0)
    areas = [roc_auc_score(one, SCORES) for one in possible]
    precisions = [average_precision_score(one, SCORES) for one in possible]
    for found, extreme, first in ((counts.low, min, False), (counts.high, max, True)):
        path = Path(
            flagged=flagged,
            true_positives=labeled + found,
            tied=np.zeros(len(STATES), dtype=bool),
            positives_first=first,
        )
        assert area_under_roc(path) == pytest.approx(extreme(areas), abs=1e-12)
        assert average_precision_of(path) == pytest.approx(extreme(precisions), abs=1e-12)


@pytest.mark.parametrize("hidden", [1, 4, 9, 11])
def test_no_wider_than_the_published_assignment_and_equal_where_it_is_tight(hidden):
    """Equations 10 to 13 with both corner cases, rank by rank (hidden = 11: all are positive)."""
    share = share_of_labeled()
    low, high = np.clip(share - 0.35, 0, 1), np.clip(share + 0.35, 0, 1)
    published = assignments.surrogate_counts(STATES, hidden=hidden, share_low=low, share_high=high)
    unlabeled = np.concatenate([[0.0], np.cumsum([state == "U" for state in STATES])])
    counts = hidden_counts(unlabeled, low, high, hidden=hidden)
    assert (counts.low >= np.array(published[0]) - 1e-9).all()
    assert (counts.high <= np.array(published[1]) + 1e-9).all()
    if hidden == 11:
        assert counts.low.tolist() == counts.high.tolist() == unlabeled.tolist()


def test_area_of_a_path_with_ties_is_scikit_learns():
    rng = np.random.default_rng(3)
    scores = np.round(rng.normal(size=60), 1)
    positive = rng.random(60) < 0.4
    levels = np.unique(scores)[::-1]
    flagged = np.concatenate([[0.0], [np.sum(scores >= level) for level in levels]])
    found = np.concatenate([[0.0], [np.sum(positive & (scores >= level)) for level in levels]])
    path = Path(
        flagged=flagged,
        true_positives=found,
        tied=np.ones(len(levels), dtype=bool),
        positives_first=True,
    )
    assert area_under_roc(path) == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)
    assert average_precision_of(path) == pytest.approx(
        average_precision_score(positive, scores), abs=1e-12
    )


def window(seed, *, n_labeled, n_unlabeled, hidden, auc=0.85, negatives=0):
    """Rows with their true classes; the first are labeled."""
    rng = np.random.default_rng([7, seed])
    positive = np.arange(n_labeled + n_unlabeled) < n_labeled + hidden
    scores = rng.normal(stats.norm.ppf(auc) * np.sqrt(2) * positive)
    labels = np.zeros(len(scores), dtype=int)
    labels[:n_labeled] = 1
    if negatives:
        labels[-negatives:] = -1
    return labels, scores, positive


@pytest.mark.parametrize("runs", [30, pytest.param(120, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("n_labeled", "n_unlabeled", "hidden", "band"),
    [
        (100, 5000, 1000, "bootstrap"),
        (1000, 5000, 1000, "exact"),
        (20, 1000, 150, "exact"),
        (300, 600, 60, "exact"),
        (100, 2000, 400, "dkw"),
    ],
)
def test_bounds_hold_the_truth_of_the_rows(n_labeled, n_unlabeled, hidden, band, runs, request):
    held = dict.fromkeys(["auc", "average_precision", "recall"], 0)
    for run in range(runs):
        labels, scores, positive = window(
            run, n_labeled=n_labeled, n_unlabeled=n_unlabeled, hidden=hidden
        )
        found = bounds(
            labels, scores, class_prior=positive.mean(), threshold=0.8, band=band, rng=run
        )
        truth = {
            "auc": roc_auc_score(positive, scores),
            "average_precision": average_precision_score(positive, scores),
            "recall": np.mean(scores[positive] >= 0.8),
        }
        for bound in (found.auc(), found.average_precision(), found.at(THRESHOLD_METRICS[0], 0.8)):
            held[bound.name] += bound.low <= truth[bound.name] <= bound.high
    # 95% less three binomial errors; average precision leans on the ends of the band, where the
    # published one has no width.
    assert held["auc"] / runs >= shares(runs)
    if band != "bootstrap":
        assert held["recall"] / runs >= shares(runs)
        assert held["average_precision"] / runs >= shares(runs)
    if runs == 120:
        assert_as_frozen(request, {name: count / runs for name, count in held.items()})


def test_with_every_positive_labeled_bounds_are_the_metrics_themselves():
    labels, scores, positive = window(1, n_labeled=60, n_unlabeled=400, hidden=0)
    found = bounds(labels, scores, class_prior=positive.mean(), threshold=0.5)
    assert found.auc().low == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)
    assert found.auc().high == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)
    expected = average_precision_score(positive, scores)
    assert found.average_precision().low == pytest.approx(expected, abs=1e-12)
    assert found.average_precision().high == pytest.approx(expected, abs=1e-12)


def test_bounds_of_metrics_hold_the_metrics_of_both_tables_and_widen_with_the_prior():
    labels, scores, positive = window(2, n_labeled=200, n_unlabeled=3000, hidden=300)
    prior = positive.mean()
    narrow = bounds(labels, scores, class_prior=prior, threshold=0.7)
    wide = bounds(labels, scores, class_prior=(0.7 * prior, 1.4 * prior), threshold=0.7)
    for metric in THRESHOLD_METRICS:
        inner, outer = narrow.at(metric, 0.7), wide.at(metric, 0.7)
        assert outer.low <= inner.low + 1e-12 <= inner.high <= outer.high + 1e-12, metric.name
    assert wide.auc().low < narrow.auc().low < narrow.auc().high < wide.auc().high
    fewest, most = narrow.tables_at(0.7)
    assert sum(fewest.values()) == pytest.approx(len(labels))
    assert fewest["true_positives"] < np.sum(positive & (scores >= 0.7)) < most["true_positives"]
    assert narrow.at(THRESHOLD_METRICS[1], 0.7).high == pytest.approx(
        most["true_positives"] / np.sum(scores >= 0.7)
    )


def test_a_better_curve_is_the_upper_one():
    """The bound that is low in false positive rate is the upper one in both curves."""
    labels, scores, positive = window(3, n_labeled=150, n_unlabeled=3000, hidden=300)
    found = bounds(labels, scores, class_prior=positive.mean(), band="dkw")
    for curve in (found.roc(), found.precision_recall()):
        assert (curve.low <= curve.high).all()
    roc = found.roc()
    negatives = np.sort(scores[~positive])
    thresholds = np.quantile(negatives, 1 - roc.x)
    truth = np.array([np.mean(scores[positive] >= t) for t in thresholds])
    inside = (roc.low - 1e-2 <= truth) & (truth <= roc.high + 1e-2)
    assert inside.mean() > 0.97


def middles(rankings, prior):
    """Middle of the bounds on AUC for two rankings of 5,000 known of 50,000 rows."""
    labels = np.r_[np.ones(5000, int), np.zeros(45_000, int)]
    others = np.random.default_rng(5).random(45_000)
    found = [
        bounds(labels, np.r_[own, others], class_prior=prior, band="bootstrap").auc()
        for own in rankings
    ]
    return [0.5 * (bound.low + bound.high) for bound in found]


def test_two_models_swap_only_where_the_prior_is_impossible_for_one_of_them():
    """Figure 4: AUC is linear in the mean rank of the positives, so its order needs a corner case.

    With the rank distribution T of the positives held fixed, AUC = (1 - mean rank - pi / 2) /
    (1 - pi), and the better mean rank wins at every prior. A third of the known positives above
    nearly all other rows leaves no room for the hidden ones there, and costs that model its lead.
    """
    rng = np.random.default_rng(4)
    steep = np.where(
        rng.random(5000) < 0.325, rng.uniform(0.999, 1, 5000), rng.random(5000) ** 0.75
    )
    even = rng.beta(2.35, 1, 5000)
    low, high = middles([steep, even], 0.1 + 1e-9), middles([steep, even], 0.3)
    assert low[0] > low[1] + 0.003
    assert high[0] < high[1] - 0.003
    roomy = np.where(rng.random(5000) < 0.325, rng.uniform(0.8, 1, 5000), rng.random(5000) ** 0.75)
    low, high = middles([roomy, even], 0.1 + 1e-9), middles([roomy, even], 0.3)
    assert (low[0] < low[1]) == (high[0] < high[1])


def test_known_negatives_narrow_a_little_and_a_lot_when_they_are_many():
    few = window(5, n_labeled=60, n_unlabeled=6000, hidden=1000, negatives=50)
    many = window(5, n_labeled=60, n_unlabeled=6000, hidden=1000, negatives=3000)
    prior = few[2].mean()

    def width(rows, basis):
        found = bounds(rows[0], rows[1], class_prior=prior, basis=basis).auc()
        return found.high - found.low

    assert width(many, "positives") < width(few, "positives")
    assert width(many, "tighter") < 0.5 * width(many, "positives")
    assert width(few, "tighter") == pytest.approx(
        min(width(few, "positives"), width(few, "negatives"))
    )
    found = bounds(many[0], many[1], class_prior=prior, basis="tighter").auc()
    assert found.basis == "negatives"
    assert found.low <= roc_auc_score(many[2], many[1]) <= found.high


def test_case_control_leaves_the_labeled_rows_out():
    labels, scores, positive = window(6, n_labeled=400, n_unlabeled=4000, hidden=800)
    truth = roc_auc_score(positive[labels == 0], scores[labels == 0])
    found = bounds(labels, scores, class_prior=0.2, scenario="case-control")
    assert found.flagged[-1] == 4000
    assert found.auc().low <= truth <= found.auc().high


def test_noisy_labels_are_corrected():
    rng = np.random.default_rng(8)
    positive = rng.random(20_000) < 0.2
    scores = rng.normal(1.6 * positive)
    labels = np.where(positive, rng.random(20_000) < 0.3, rng.random(20_000) < 0.0187)
    purity = positive[labels].mean()
    found = bounds(labels, scores, class_prior=positive.mean(), label_purity=purity)
    naive = bounds(labels, scores, class_prior=positive.mean())
    truth = roc_auc_score(positive, scores)
    assert found.auc().low <= truth <= found.auc().high
    assert truth > naive.auc().high


def test_binned_counts_give_bounds_that_hold_those_of_the_rows():
    labels, scores, positive = window(9, n_labeled=200, n_unlabeled=4000, hidden=600)
    edges = np.concatenate([[scores.min()], np.linspace(-2, 3, 41), [scores.max() + 1]])
    table = ScoreTable.from_counts(
        np.histogram(scores[labels == 1], edges)[0],
        np.histogram(scores[labels == 0], edges)[0],
        edges=edges,
    )
    prior = ClassPriorEstimate.given(positive.mean())
    exact = bounds(labels, scores, class_prior=positive.mean()).auc()
    binned = bounds_of_table(table, prior).auc()
    assert binned.low <= exact.low < exact.high <= binned.high
    assert binned.high - binned.low < 1.5 * (exact.high - exact.low)


def test_refused_with_a_reason():
    labels, scores, _ = window(0, n_labeled=30, n_unlabeled=300, hidden=30)
    with pytest.raises(InputError, match=r"needs confirmed negatives \(label -1\): 0 rows are"):
        bounds(labels, scores, class_prior=0.2, basis="tighter")
    with pytest.raises(ValueError, match="basis must be 'positives', 'negatives' or 'tighter'"):
        bounds(labels, scores, class_prior=0.2, basis="both")
    with pytest.raises(InputError, match="with weights or propensities bounds take band='boot"):
        bounds(labels, scores, class_prior=0.2, band="dkw", propensity=0.5)
    with pytest.raises(ValueError, match="bounds need class_prior < label_purity"):
        bounds(labels, scores, class_prior=(0.2, 0.7), label_purity=0.6)


def test_evaluate_carries_them():
    labels, scores, positive = window(1, n_labeled=100, n_unlabeled=2000, hidden=200)
    ev = pumonitor.evaluate(labels, scores, threshold=0.5, class_prior=positive.mean())
    assert ev.bounds["auc"].low <= roc_auc_score(positive, scores) <= ev.bounds["auc"].high
    for name in ("average_precision", "recall", "precision", "f1", "f_beta", "mcc", "accuracy"):
        assert ev.bounds[name].low <= ev[name].value <= ev.bounds[name].high, name
    assert {"roc_bounds", "precision_recall_bounds"} <= set(ev.curves)


def review(seed, *, rows=5000):
    """Positives scoring above 1 are nearly all labeled, the others seldom."""
    rng = np.random.default_rng([21, seed])
    positive = rng.random(rows) < 0.2
    scores = rng.normal(1.5 * positive)
    chance = np.where(scores > 1, 0.9, 0.15)
    return positive & (rng.random(rows) < chance), scores, chance, positive


def test_with_propensities_the_hidden_positives_are_those_seldom_labeled():
    held = {"auc": 0, "average_precision": 0}
    for seed in range(40):
        labels, scores, chance, positive = review(seed)
        found = bounds(labels, scores, class_prior=positive.mean(), propensity=chance)
        for bound, truth in (
            (found.auc(), roc_auc_score(positive, scores)),
            (found.average_precision(), average_precision_score(positive, scores)),
        ):
            held[bound.name] += bound.low <= truth <= bound.high
    assert min(held.values()) >= 38


def test_nothing_flagged_and_thresholds_between_scores():
    labels, scores, positive = window(0, n_labeled=40, n_unlabeled=400, hidden=40)
    found = bounds(labels, scores, class_prior=positive.mean())
    nothing = found.at(THRESHOLD_METRICS[0], 99.0)
    assert (nothing.low, nothing.high) == (0.0, 0.0)
    between = np.sort(scores[labels == 0])[200] + 1e-9
    with pytest.raises(InputError, match="falls inside the score cell"):
        found.at(THRESHOLD_METRICS[0], between)
    declared = bounds(labels, scores, class_prior=positive.mean(), threshold=between)
    assert declared.tables_at(between)[0]["true_positives"] > 0


def test_areas_under_the_two_roc_curves_are_the_bounds_on_auc():
    """Curves turn inside a run of unlabeled rows: positives last below, first above."""
    scores = -np.arange(20.0)
    labels = np.isin(np.arange(20), [0, 9]).astype(int)
    found = bounds(labels, scores, class_prior=0.3, band="bootstrap")
    curve = found.roc()
    assert np.trapezoid(curve.low, curve.x) == pytest.approx(found.auc().low, abs=0.01)
    assert np.trapezoid(curve.high, curve.x) == pytest.approx(found.auc().high, abs=0.01)


def test_average_precision_of_counts_is_between_its_best_and_worst_order():
    """Ten positives, all confirmed, and 35 negatives, counted in two cells."""
    table = ScoreTable.from_counts([2, 8], [30, 5], edges=[0.0, 0.5, 1.0])
    counted = bounds_of_table(table, ClassPriorEstimate.given(10 / 45 + 1e-9))
    first = [1] * 8 + [0] * 5 + [1] * 2 + [0] * 30
    last = [0] * 5 + [1] * 8 + [0] * 30 + [1] * 2
    worst, best = (average_precision_score(one, -np.arange(45)) for one in (last, first))
    found = counted.average_precision()
    assert (found.low, found.high) == pytest.approx((worst, best), abs=1e-6)


def test_the_highest_score_of_rows_counted_together_is_inside_them():
    scores = -np.arange(20.0)
    labels = np.isin(np.arange(20), [0, 9]).astype(int)
    found = bounds(labels, scores, class_prior=0.3)
    with pytest.raises(InputError, match="threshold -1 falls inside the score cell"):
        found.at(RECALL, -1.0)
    # At their lowest all of them are flagged, and above them the one confirmed row.
    assert found.tables_at(-8.0)[0]["false_positives"] >= 4
    assert found.tables_at(0.0)[0]["false_positives"] == 0


@pytest.mark.parametrize(("hidden", "negatives"), [(300, 30), (2000, 900)])
def test_curves_are_drawn_by_the_side_that_tells_more_of_auc(hidden, negatives):
    labels, scores, positive = window(
        3, n_labeled=50, n_unlabeled=3000, hidden=hidden, negatives=negatives
    )
    made = {
        basis: bounds(labels, scores, class_prior=positive.mean(), basis=basis, rng=1)
        for basis in ("positives", "negatives", "tighter")
    }
    areas = {basis: one.auc() for basis, one in made.items()}
    basis = min(("positives", "negatives"), key=lambda one: areas[one].high - areas[one].low)
    assert areas["tighter"].basis == basis
    assert np.array_equal(made["tighter"].roc().high, made[basis].roc().high)


def test_less_confidence_gives_narrower_bounds():
    labels, scores, positive = window(0, n_labeled=100, n_unlabeled=1000, hidden=100)
    half, most = (
        bounds(labels, scores, class_prior=positive.mean(), confidence_level=level).auc()
        for level in (0.5, 0.95)
    )
    assert (half.confidence_level, most.confidence_level) == (0.5, 0.95)
    assert half.high - half.low < 0.6 * (most.high - most.low)


def test_at_the_right_end_of_the_precision_recall_curve_every_positive_is_recalled():
    table = ScoreTable.from_counts([40, 160], [600, 40], edges=[0.0, 0.5, 1.0])
    curve = bounds_of_table(table, ClassPriorEstimate.given(200 / 840 + 1e-9)).precision_recall()
    assert curve.x[-1] == 1.0
    assert curve.low[-1] == pytest.approx(200 / 840, abs=0.01)
    # Of the upper cell alone 160 of 200 are flagged.
    assert curve.low[np.searchsorted(curve.x, 0.79)] == pytest.approx(160 / 200, abs=0.02)


def test_a_prior_below_the_confirmed_share_is_refused():
    labels, scores, _ = window(0, n_labeled=100, n_unlabeled=400, hidden=40)
    with pytest.raises(InputError, match=r"20% of the rows are confirmed positives"):
        bounds(labels, scores, class_prior=0.05)
