"""Label shift between two windows: population priors, propensities, purity, cells, errors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

import pumonitor
from pumonitor import ScoreTable
from pumonitor.errors import InputError
from pumonitor.prior import METHODS, ReferenceWindow
from pumonitor.prior.reference_window.label_shift import label_shift
from pumonitor.prior.reference_window.two_windows import shares_below, two_windows
from pumonitor.results import ClassPriorEstimate
from tests.prior.shifted_samples import (
    known,
    mixed,
    rows,
    samples,
)


@pytest.mark.parametrize("prior", [0.05, 0.3])
def test_population_prior_of_a_window_from_that_of_another(prior):
    reference = ReferenceWindow.from_arrays(*rows(0.1, seed=1), class_prior=0.1)
    found = pumonitor.estimate_class_prior(
        *rows(prior, seed=2), method="label_shift", reference=reference
    )
    assert found.low < prior < found.high
    assert found.high - found.low < 0.05
    assert found.method == "label_shift"
    share = float(np.mean(rows(prior, seed=2)[0]))
    assert found.value == pytest.approx(share + (1 - share) * found.unlabeled_prior)


def test_negatives_that_look_like_positives_do_not_matter():
    """Where other methods are far too high: no score is free of either class."""
    data = rows(0.3, separation=0.8, seed=2)
    reference = ReferenceWindow.from_arrays(*rows(0.1, separation=0.8, seed=1), class_prior=0.1)
    found = pumonitor.estimate_class_prior(*data, method="label_shift", reference=reference)
    assert found.value == pytest.approx(0.3, abs=0.05)
    assert pumonitor.estimate_class_prior(*data, method="bbe").value > 0.4


def test_case_control_windows_and_coarse_equal_bins():
    edges = np.linspace(-4.0, 6.0, 11)
    tables = [
        ScoreTable.from_counts(
            np.histogram(positives, edges)[0], np.histogram(others, edges)[0], edges=edges
        )
        for positives, others in (
            (np.random.default_rng(6).normal(2.0, size=800), rows(prior, seed=6)[1])
            for prior in (0.25, 0.1)
        )
    ]
    found = pumonitor.prior.estimate_from_table(
        tables[0],
        method="label_shift",
        scenario="case-control",
        reference=ReferenceWindow(table=tables[1], class_prior=0.1),
    )
    assert found.low < 0.25 < found.high
    assert found.high - found.low < 0.06


def test_the_order_of_scores_decides():
    first, second = (
        pumonitor.estimate_class_prior(
            rows(0.3)[0],
            change(rows(0.3)[1]),
            method="label_shift",
            reference=ReferenceWindow.from_arrays(
                rows(0.1)[0], change(rows(0.1)[1]), class_prior=0.1
            ),
        ).value
        for change in (np.asarray, np.exp)
    )
    assert first == pytest.approx(second, abs=1e-4)


def test_many_rows_on_unlike_cells_still_fit():
    """Cells of two windows never end at the same scores; what that costs is below sampling."""
    windows = [rows(prior, size=400_000, label_frequency=0.01, seed=7) for prior in (0.2, 0.1)]
    reference = ReferenceWindow.from_arrays(*windows[1], class_prior=0.1)
    found = pumonitor.estimate_class_prior(*windows[0], method="label_shift", reference=reference)
    assert found.diagnostics["fit_p_value"] > 0.01
    assert found.low < 0.2 < found.high


def test_em_of_a_window():
    separation = 2.0

    def posterior(scores):
        return special.expit(separation * scores - 2.0 + special.logit(0.1))

    reference, window = rows(0.1, seed=8), rows(0.25, seed=9)
    found = pumonitor.estimate_class_prior(
        window[0],
        posterior(window[1]),
        method="label_shift_em",
        reference=ReferenceWindow.from_arrays(
            reference[0], posterior(reference[1]), class_prior=0.1
        ),
    )
    assert found.low < 0.25 < found.high
    assert found.high - found.low < 0.04
    assert found.diagnostics["odds_factor"] == pytest.approx(1.0, abs=0.15)


def test_propensities_are_of_the_whole_population():
    rng = np.random.default_rng(10)

    def window(prior):
        positive = rng.random(30_000) < prior
        scores = rng.normal(2.0 * positive)
        propensity = special.expit(scores - 2.5)
        labels = (positive & (rng.random(30_000) < propensity)).astype(int)
        return labels, scores, propensity

    labels, scores, propensity = window(0.1)
    reference = ReferenceWindow.from_arrays(labels, scores, propensity=propensity, class_prior=0.1)
    labels, scores, propensity = window(0.3)
    found = pumonitor.estimate_class_prior(
        labels, scores, propensity=propensity, method="label_shift", reference=reference
    )
    assert found.low < 0.3 < found.high
    assert found.high - found.low < 0.06


def test_mistaken_labels_are_pooled_as_they_are():
    rng = np.random.default_rng(11)

    def window(prior):
        positive = np.concatenate([rng.random(20_000) < 0.8, rng.random(100_000) < prior])
        return np.repeat([1, 0], [20_000, 100_000]), rng.normal(3.0 * positive)

    reference = ReferenceWindow.from_arrays(*window(0.1), class_prior=0.1)
    found = pumonitor.estimate_class_prior(
        *window(0.3),
        method="label_shift",
        reference=reference,
        label_purity=0.8,
        scenario="case-control",
    )
    assert found.low < 0.3 < found.high
    assert found.value == pytest.approx(0.3, abs=0.008)
    assert found.diagnostics["reference_unlabeled_prior"] == pytest.approx(0.1 / 0.8)


def test_the_references_labeled_fraction_errs_too():
    """The prior of its unlabeled rows follows from a known class prior by a share that varies."""
    window = ScoreTable.from_arrays(
        *rows(0.3, size=20_000, label_frequency=0.7, separation=5.0, seed=20)
    )
    held = 0
    for seed in range(120):
        labels, scores = rows(0.3, size=1000, label_frequency=0.7, separation=5.0, seed=21 + seed)
        found = pumonitor.prior.estimate_from_table(
            window,
            method="label_shift",
            reference=ReferenceWindow.from_arrays(labels, scores, class_prior=0.3),
        )
        held += found.low < 0.3 < found.high
    assert 109 <= held <= 119


def test_an_estimate_made_on_the_references_rows_keeps_its_interval_for_them():
    earlier = rows(0.1, size=5000, seed=12)
    estimated = pumonitor.estimate_class_prior(*earlier)
    carried_over = replace(estimated, unlabeled_prior=np.nan)
    own, over = (
        pumonitor.estimate_class_prior(
            *rows(0.1, size=500_000, seed=13),
            method="label_shift",
            reference=ReferenceWindow.from_arrays(*earlier, class_prior=prior),
        )
        for prior in (estimated, carried_over)
    )
    assert own.value == over.value
    assert own.high - own.low < over.high - over.low


def test_ends_of_another_confidence_level_are_moved():
    earlier, window = rows(0.1, seed=1), rows(0.2, seed=2)
    quantile = {level: stats.norm.ppf(0.5 + 0.5 * level) for level in (0.9, 0.99)}
    found = [
        pumonitor.estimate_class_prior(
            *window,
            method="label_shift",
            reference=ReferenceWindow.from_arrays(
                *earlier,
                class_prior=ClassPriorEstimate(
                    value=0.1,
                    low=0.1 - 0.02 * quantile[level],
                    high=0.1 + 0.02 * quantile[level],
                    confidence_level=level,
                ),
            ),
        )
        for level in (0.9, 0.99)
    ]
    assert found[0].low == pytest.approx(found[1].low, abs=1e-9)
    assert found[0].high == pytest.approx(found[1].high, abs=1e-9)


def test_a_reference_that_cannot_be_told_from_positives_is_refused():
    labels = np.repeat([1, 0], [300, 3000])
    scores = np.random.default_rng(14).normal(size=3300)
    reference = ReferenceWindow.from_arrays(labels, scores, class_prior=0.5)
    with pytest.raises(InputError, match="cannot be distinguished from confirmed positives"):
        pumonitor.estimate_class_prior(
            labels, scores, method="label_shift", reference=reference, scenario="case-control"
        )


@pytest.mark.parametrize("method", ["label_shift", "label_shift_em"])
def test_without_a_reference_the_error_says_what_to_pass(method):
    with pytest.raises(ValueError, match=r"reference=ReferenceWindow.from_arrays\("):
        pumonitor.estimate_class_prior(*rows(0.1), method=method)
    with pytest.raises(ValueError, match="give its result to evaluate as class_prior"):
        pumonitor.evaluate(*rows(0.1), threshold=1.0, class_prior=method)
    with pytest.raises(ValueError, match="needs a reference window"):
        METHODS[method](replace(samples(mixed(0.2)), reference=None))


def test_methods_that_read_no_reference_refuse_one():
    reference = ReferenceWindow.from_arrays(*rows(0.1), class_prior=0.1)
    with pytest.raises(ValueError, match="'bbe' does not read a reference window"):
        pumonitor.estimate_class_prior(*rows(0.1), method="bbe", reference=reference)


def test_em_needs_probabilities():
    reference = ReferenceWindow.from_arrays(*rows(0.1), class_prior=0.1)
    with pytest.raises(InputError, match="label_shift_em needs scores that are probabilities"):
        pumonitor.estimate_class_prior(*rows(0.1), method="label_shift_em", reference=reference)


def test_a_reference_prior_below_what_was_confirmed_is_refused():
    reference = ReferenceWindow.from_arrays(*rows(0.3), class_prior=0.01)
    with pytest.raises(InputError, match=r"class_prior=0\.01 is impossible"):
        pumonitor.estimate_class_prior(*rows(0.3), method="label_shift", reference=reference)


def test_a_reference_of_nothing_but_positives_is_refused():
    with pytest.raises(InputError, match="all positives by class_prior=1"):
        label_shift(samples(mixed(0.2), prior=known(1.0)))


def test_equal_edges_are_compared_exactly():
    edges = [0.0, 1.0, 2.0, 3.0]
    window = ScoreTable.from_counts([1, 2, 3], [10, 20, 30], edges=edges)
    reference = ScoreTable.from_counts([3, 2, 1], [40, 30, 30], edges=edges)
    sample = two_windows(window, reference, prior=known(0.1))
    assert sample.labeled[0] == pytest.approx(np.array([4, 4, 4]) / 12)
    assert sample.unlabeled[0] == pytest.approx(np.array([10, 20, 30]) / 60)
    assert sample.reference.unlabeled[0] == pytest.approx([0.4, 0.3, 0.3])
    assert (sample.n_labeled, sample.n_unlabeled) == (12, 60)
    assert sample.reference.n_unlabeled == 100


def test_the_coarser_windows_cells_are_used_whole():
    fine = ScoreTable.from_arrays(*rows(0.3, size=5000))
    coarse = ScoreTable.from_counts([5, 5], [50, 50], edges=[-10.0, 1.0, 10.0])
    for pair in ((fine, coarse), (coarse, fine)):
        sample = two_windows(*pair, prior=known(0.1))
        assert len(sample.scores) == 2
        of_fine = sample.unlabeled if pair[0] is fine else sample.reference.unlabeled
        labels, scores = rows(0.3, size=5000)
        below = np.mean(scores[labels == 0] < 1.0)
        assert of_fine[0] == pytest.approx([below, 1 - below], abs=1e-3)


def test_ties_are_below_a_cut_or_not_below():
    table = ScoreTable.from_arrays([1, 1, 0, 0, 0], [0.2, 0.8, 0.2, 0.5, 0.8])
    below = shares_below(np.array([0.1, 0.2, 0.21, 0.5, 0.8, 0.9]), table, table.unlabeled)
    assert below == pytest.approx(np.array([0, 0, 1, 1, 2, 3]) / 3)


def test_weights_count_by_their_squares():
    labels, scores = rows(0.2, size=2000)
    even = ScoreTable.from_arrays(labels, scores)
    weights = np.where(np.arange(2000) % 2, 3.0, 1.0)
    uneven = ScoreTable.from_arrays(labels, scores, sample_weight=weights)
    sample = two_windows(uneven, even, prior=known(0.2))
    kept = weights[labels == 0]
    assert sample.n_unlabeled == pytest.approx(kept.sum() ** 2 / (kept**2).sum())
    assert sample.reference.n_unlabeled == np.sum(labels == 0)
