from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pumonitor.evaluation import evaluate_table
from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.precision import PRECISION
from pumonitor.metrics.prior_quantities import (
    class_prior_estimate,
    label_frequency_estimate,
    unlabeled_prior_estimate,
)
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.rates import at_threshold, share_draws_at
from pumonitor.metrics.recall import RECALL
from pumonitor.metrics.uncorrected import (
    UNCORRECTED_AT_THRESHOLD,
    uncorrected_at,
    uncorrected_ranking,
)
from pumonitor.monitor.rules.labels.expected import expected_at_maturity, expected_positives
from pumonitor.monitor.rules.labels.maturity import ShareKnown
from pumonitor.monitor.rules.reference.uncertain import Uncertain
from pumonitor.results import ClassPriorEstimate, Estimate
from pumonitor.tables import ScoreTable

THRESHOLD = 1.0
PRIOR = ClassPriorEstimate.given(0.1)


def window(rng: np.random.Generator, *, labeled: float, share: float) -> list[ScoreTable]:
    """A window now and at maturity, when `labeled` are confirmed on average."""
    positive = rng.random(3000) < 0.1
    scores = rng.normal(2.0 * positive)
    later = positive & (rng.random(3000) < labeled / 300)
    now = later & (rng.random(3000) < share)
    return [
        ScoreTable.from_arrays(labels, scores, thresholds=(THRESHOLD,)).compress(
            512, thresholds=(THRESHOLD,)
        )
        for labels in (now, later)
    ]


def estimates(table: ScoreTable) -> dict[str, Estimate]:
    found = evaluate_table(table, threshold=THRESHOLD, class_prior=0.1, curves=False)
    return dict(found.estimates)


def some_estimates(table: ScoreTable) -> dict[str, Estimate]:
    """The same without what takes long."""
    problem = make_problem(table, ClassPriorEstimate.given(0.1))
    lift, at = observed_lift(problem), at_threshold(problem, THRESHOLD)
    index = problem.table.index_of_threshold(THRESHOLD)
    naive = uncorrected_at(problem, index, share_draws_at(problem, index))
    found = [
        aul_estimate(problem, lift),
        auc_estimate(problem, lift),
        class_prior_estimate(problem),
        label_frequency_estimate(problem),
        unlabeled_prior_estimate(problem),
        *(metric.estimate(at) for metric in (RECALL, PRECISION, F1)),
        *uncorrected_ranking(problem),
        *(metric.estimate(naive, name=f"{metric.name}_pu") for metric in UNCORRECTED_AT_THRESHOLD),
    ]
    return {one.name: one for one in found}


def test_intervals_hold_what_the_window_becomes() -> None:
    share, repetitions = 0.6, 25
    held: Counter[str] = Counter()
    rng = np.random.default_rng(4)
    for _ in range(repetitions):
        now, later = window(rng, labeled=60, share=share)
        known = float(np.clip(rng.normal(share, 0.02), 0.5, 0.7))
        of_labels = ShareKnown(value=known, low=known - 0.04, high=known + 0.04)
        mature = some_estimates(later)
        found = expected_at_maturity(
            now, some_estimates(now), of_labels, class_prior=PRIOR, threshold=THRESHOLD
        )
        for name in mature:
            held[name] += found[name].low <= mature[name].value <= found[name].high
        positives = expected_positives(now.n_labeled, of_labels)
        held["labeled"] += positives.low <= later.n_labeled <= positives.high
    least = 0.95 * repetitions - 3.5 * np.sqrt(0.95 * 0.05 * repetitions)
    assert {name: number for name, number in held.items() if number < least} == {}


def test_uncorrected_numbers_rise_with_the_labels_to_come_and_corrected_ones_do_not() -> None:
    rng = np.random.default_rng(1)
    now, later = window(rng, labeled=250, share=0.4)
    of_labels = ShareKnown(value=0.4, low=0.38, high=0.42)
    before, mature = estimates(now), estimates(later)
    found = expected_at_maturity(now, before, of_labels, class_prior=PRIOR, threshold=THRESHOLD)
    assert mature["f1_pu"].value > before["f1_pu"].high
    assert found["f1_pu"].value == pytest.approx(mature["f1_pu"].value, abs=0.05)
    assert found["f1"].value == before["f1"].value
    assert found["label_frequency"].value == pytest.approx(before["label_frequency"].value / 0.4)


def test_intervals_close_as_labels_arrive() -> None:
    now, _ = window(np.random.default_rng(2), labeled=60, share=0.8)
    known = estimates(now)
    few, many, all_of_them = (
        expected_at_maturity(now, known, share, class_prior=PRIOR, threshold=THRESHOLD)
        for share in (
            ShareKnown(value=0.5, low=0.45, high=0.55),
            ShareKnown(value=0.95, low=0.93, high=0.97),
            ShareKnown.all_known(),
        )
    )
    for name in ("aul", "f1", "recall", "f1_pu", "label_frequency"):
        widths = [one[name].high - one[name].low for one in (few, many, all_of_them)]
        assert widths[0] > widths[1] > widths[2]
        assert all_of_them[name].value == pytest.approx(known[name].value)
    for name in ("aul", "recall", "f1_pu", "auc_pu", "label_frequency"):
        assert all_of_them[name].low == pytest.approx(all_of_them[name].high)
    # Half of the labels now: the other half makes as much of a difference as these did.
    assert few["recall"].se == pytest.approx(known["recall"].se * np.sqrt(0.5))
    assert few["aul"].high - few["aul"].value == pytest.approx(
        (known["aul"].high - known["aul"].value) * np.sqrt(0.5)
    )
    assert few["predicted_positive_rate"].low == few["predicted_positive_rate"].high
    assert not [name for name in few if "_max" in name]


UNCERTAIN = {"given interval": 0.0, "followed from auto": 0.1, "auto": 1.0}
"""By how a class prior came about how much of its error the labels to come take away."""


@pytest.mark.parametrize("method", UNCERTAIN)
def test_what_is_common_to_now_and_maturity_widens_nothing(method: str) -> None:
    """The error of a given class prior is in both estimates; that of a followed one nearly so."""
    now, _ = window(np.random.default_rng(2), labeled=60, share=0.5)
    prior = ClassPriorEstimate(
        value=0.1,
        low=0.05,
        high=0.2,
        unlabeled_prior=0.09,
        unlabeled_prior_interval=(0.04, 0.19),
        method=method,
        diagnostics={"over_time": {"windows": 9}} if method.startswith("followed") else {},
    )
    of_labels = ShareKnown(value=0.75, low=0.7, high=0.8)
    (precision, width), (known, known_width) = (
        expected_of_precision(now, of_labels, one) for one in (prior, PRIOR)
    )
    moves = UNCERTAIN[method]
    assert width.high - width.low == pytest.approx(0.5 * 0.15 * moves)
    assert known_width.low == known_width.high == 0.1
    if moves < 1:
        assert precision.high - precision.low == pytest.approx(known.high - known.low, rel=0.15)
        assert precision.se == pytest.approx(known.se, rel=0.15)
    else:
        assert precision.high - precision.low > 1.5 * (known.high - known.low)


def expected_of_precision(
    table: ScoreTable, share: ShareKnown, prior: ClassPriorEstimate
) -> tuple[Uncertain, Uncertain]:
    """Expected at maturity with this class prior: precision, and the class prior itself."""
    problem = make_problem(table, prior)
    now = {
        one.name: one
        for one in (
            class_prior_estimate(problem),
            PRECISION.estimate(at_threshold(problem, THRESHOLD)),
        )
    }
    found = expected_at_maturity(table, now, share, class_prior=prior, threshold=THRESHOLD)
    return found["precision"], found["class_prior"]


def test_with_no_label_yet_the_number_to_come_is_still_bounded() -> None:
    found = expected_positives(0, ShareKnown(value=0.5, low=0.4, high=0.6))
    assert (found.value, found.low) == (0.0, 0.0)
    assert 1 <= found.high <= 6


def test_propensities_play_no_part_in_uncorrected_numbers() -> None:
    rng = np.random.default_rng(3)
    positive = rng.random(3000) < 0.1
    scores = rng.normal(2.0 * positive)
    labels = positive & (rng.random(3000) < 0.5)
    chance = np.where(scores > 1, 0.9, 0.4)
    of_labels = ShareKnown(value=0.5, low=0.45, high=0.55)
    with_chance, without = (
        ScoreTable.from_arrays(labels, scores, thresholds=(THRESHOLD,), propensity=propensity)
        for propensity in (chance, None)
    )
    found, plain = (
        expected_at_maturity(
            table, estimates(table), of_labels, class_prior=PRIOR, threshold=THRESHOLD
        )
        for table in (with_chance, without)
    )
    assert found["auc_pu"] == plain["auc_pu"]
    assert found["recall"].value != plain["recall"].value


@pytest.mark.parametrize(("positives", "uneven"), [(50, 0.0), (300, 0.0), (300, 0.3)])
def test_the_number_to_come_is_held_where_windows_differ_in_how_fast_labels_arrive(
    positives: int, uneven: float
) -> None:
    """Each window has a share of its own about .5, and dispersion says by how much."""
    rng = np.random.default_rng(11)
    runs, held = 300, 0
    chance = 0.25 / positives
    share = ShareKnown(value=0.5, low=0.49, high=0.51, dispersion=1 + (0.5 * uneven) ** 2 / chance)
    for seed in range(runs):
        own = float(np.clip(rng.normal(0.5, 0.5 * uneven), 0.02, 0.98))
        known = int(rng.binomial(positives, own))
        found = expected_positives(known, share, rng=seed)
        held += found.low <= positives <= found.high
    assert 0.9 <= held / runs <= 0.99


def test_there_are_no_more_positives_than_rows() -> None:
    found = expected_positives(40, ShareKnown(value=0.1, low=0.02, high=0.3), most=120)
    assert (found.value, found.high) == (120, 120)
