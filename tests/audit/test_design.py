"""Score bins, allocation and order of an audit."""

import numpy as np
import pytest

from pumonitor.audit.allocation import design_audit, expected_shares
from pumonitor.audit.bins import score_bins
from pumonitor.audit.counts import AuditDesign
from pumonitor.audit.ordering import draw_key, first_keys
from pumonitor.errors import InputError
from pumonitor.tables import ScoreTable
from tests.audit.made_up_audit import CONFIRMED, ROWS, bins


def window(seed=0, rows=5000):
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.1
    score = rng.normal(size=rows) + 2 * positive
    return score, positive & (rng.random(rows) < 0.3)


def binned(score, confirmed, *, threshold=1.5):
    return score_bins(
        ScoreTable.from_arrays(confirmed.astype(int), score, thresholds=[threshold]),
        threshold=threshold,
    )


def test_bins_count_every_row_once_and_begin_at_the_threshold():
    score, confirmed = window()
    found = binned(score, confirmed)
    assert 6 <= len(found.rows) <= 14
    assert 1.5 in found.edges
    place = found.bin_of(score)
    assert np.array_equal(np.bincount(place), found.rows)
    assert np.array_equal(np.bincount(place, weights=confirmed), found.labeled)
    assert np.array_equal(found.above[place], score >= 1.5)
    mass = 0.65 * found.labeled / confirmed.sum() + 0.35 * found.rows / len(score)
    assert mass == pytest.approx(1 / len(mass), abs=0.6 / len(mass))
    assert found.rank == pytest.approx(2 * (np.cumsum(mass) - mass / 2) - 1)


def test_concordance_is_that_of_the_pairs_of_a_bin():
    score, confirmed = window(1)
    found = binned(np.round(score, 1), confirmed)
    place = found.bin_of(np.round(score, 1))
    for at in range(len(found.rows)):
        inside = np.round(score, 1)[place == at]
        sure = confirmed[place == at]
        apart = inside[sure][:, None] - inside[~sure]
        won = ((apart > 0) + 0.5 * (apart == 0)).sum() / (~sure).sum()
        assert found.concordance[at] == pytest.approx((won + 0.5) / (sure.sum() + 1))


def test_concordance_of_a_bin_is_known_where_scores_are_tied_and_uncertain_where_labels_are_few():
    score, confirmed = window(4)
    few, many = binned(score, confirmed), binned(np.tile(score, 9), np.tile(confirmed, 9))
    assert few.concordance_error[-1] == pytest.approx((12 * (few.labeled[-1] + 1)) ** -0.5, rel=0.1)
    assert many.concordance_error[-1] < 0.5 * few.concordance_error[-1]
    tied = binned(np.repeat([0.0, 1.0], 500), np.arange(1000) % 20 == 0, threshold=0.5)
    assert tied.concordance_error == pytest.approx(0, abs=1e-9)


def test_order_of_rows_does_not_matter():
    score, confirmed = window(2)
    order = np.random.default_rng(0).permutation(len(score))
    one, other = binned(score, confirmed), binned(score[order], confirmed[order])
    assert np.array_equal(one.rows, other.rows)
    assert np.array_equal(one.labeled, other.labeled)


@pytest.mark.parametrize("threshold", [-99.0, 99.0])
def test_threshold_outside_of_all_scores(threshold):
    score, confirmed = window(3)
    found = binned(score, confirmed, threshold=threshold)
    assert np.all(found.above == (threshold < 0))
    assert found.rows.sum() == len(score)


def test_scores_of_two_values_make_two_bins():
    score = np.repeat([0.0, 1.0], 500)
    found = binned(score, np.arange(1000) % 20 == 0, threshold=0.5)
    assert found.rows.tolist() == [500, 500]
    assert found.above.tolist() == [False, True]


def test_weights_are_refused():
    score, confirmed = window()
    table = ScoreTable.from_arrays(
        confirmed.astype(int), score, thresholds=[0], sample_weight=np.full(len(score), 2.0)
    )
    with pytest.raises(InputError, match="rows that count one each"):
        score_bins(table, threshold=0)


def test_all_cases_are_planned_and_none_twice():
    for cases in (1, 10, 300, 10**6):
        planned = design_audit(bins(), cases=cases, label_frequency=0.2).planned
        assert planned.sum() == min(cases, bins().unlabeled.sum())
        assert np.all(planned <= bins().unlabeled)


def test_hidden_positives_are_expected_with_the_odds_of_a_missed_confirmation():
    """More of them below the threshold, where an estimate from scores knows least."""
    found = bins([1000, 1000, 1000, 1000], [0, 10, 20, 30], above=2)
    share = expected_shares(found, label_frequency=0.25)
    plain = 3 * (found.labeled + 0.05) / found.unlabeled
    assert share == pytest.approx(plain * [1.3, 1.3, 1, 1])


def test_more_cases_hold_the_fewer():
    smaller = design_audit(bins(), cases=120, label_frequency=0.2)
    larger = design_audit(bins(), cases=121, label_frequency=0.2)
    assert (larger.planned - smaller.planned).sum() == 1
    assert np.all(larger.planned >= smaller.planned)
    other = design_audit(
        bins(), cases=200, label_frequency=0.5, metrics=["auc"], drawn=smaller.planned
    )
    assert other.planned.sum() == 200
    assert np.all(other.planned >= smaller.planned)


@pytest.mark.parametrize(("share", "cases"), [(0.85, 300), (0.3, 200), (0.999, 100)])
def test_a_share_of_the_cases_lies_at_or_above_the_threshold(share, cases):
    base = bins()
    found = design_audit(base, cases=cases, label_frequency=0.2, above=share).planned
    assert found[base.above].sum() == round(share * cases)
    assert found.sum() == cases
    # Inside a side cases are spread as they would be by themselves.
    free = design_audit(base, cases=cases, label_frequency=0.2).planned
    for side in (base.above, ~base.above):
        if found[side].sum() > 50:
            assert np.corrcoef(found[side], free[side])[0, 1] > 0.95


def test_a_side_with_too_few_rows_leaves_its_cases_to_the_other():
    base = bins()
    upper = int(base.unlabeled[base.above].sum())
    found = design_audit(base, cases=1000, label_frequency=0.2, above=0.85).planned
    assert found[base.above].sum() == upper < 850
    assert found.sum() == 1000
    every = design_audit(base, cases=10**6, label_frequency=0.2, above=0.01).planned
    assert np.array_equal(every, base.unlabeled)


def test_more_cases_with_a_share_above_hold_the_fewer():
    first = design_audit(bins(), cases=120, label_frequency=0.2, above=0.85).planned
    for cases in (121, 127, 200):
        more = design_audit(bins(), cases=cases, label_frequency=0.2, above=0.85).planned
        assert np.all(more >= first)
    # Drawn without the share: what is above already stays, and the rest goes below.
    free = design_audit(bins(), cases=120, label_frequency=0.2).planned
    more = design_audit(bins(), cases=130, label_frequency=0.2, above=0.1, drawn=free).planned
    assert np.all(more >= free)
    assert more[bins().above].sum() == free[bins().above].sum()


@pytest.mark.parametrize("share", [0.0, 1.0, 85, float("nan")])
def test_a_share_above_is_between_0_and_1(share):
    with pytest.raises(ValueError, match="above must satisfy 0 < above < 1, got"):
        design_audit(bins(), cases=10, label_frequency=0.2, above=share)


def test_allocation_has_the_least_error_that_is_expected():
    base = bins()
    share = expected_shares(base, label_frequency=0.2)
    planned = design_audit(base, cases=400, label_frequency=0.2, metrics=["precision"]).planned

    def error(cases):
        above = base.above
        spread = base.unlabeled**2 * share * (1 - share) / np.maximum(cases, 0.5)
        return spread[above].sum()

    assert error(planned) < 1.25 * error(np.where(base.above, 100, 0))
    assert planned[base.above].sum() > 0.85 * 400
    assert planned.min() >= 2  # spread evenly and by size as well


def test_inclusion_is_the_chance_to_be_drawn():
    design = design_audit(bins(), cases=300, label_frequency=0.2)
    assert (design.inclusion * bins().unlabeled).sum() == pytest.approx(300)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"cases": 0}, "cases must be at least 1"),
        ({"cases": 5, "drawn": 1}, r"those drawn before \(12\), got 5"),
        ({"cases": 5, "metrics": ["f11"]}, "no metric of an audit 'f11'; did you mean 'f1'"),
        ({"cases": 5, "label_frequency": 1.0}, "0 < label_frequency < 1, got 1"),
    ],
)
def test_wrong_designs_are_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        design_audit(bins(), **{"label_frequency": 0.2, **asked})


def test_more_than_the_unlabeled_rows_cannot_be_planned():
    with pytest.raises(InputError, match="0 <= planned <= rows - labeled"):
        AuditDesign(bins=bins(), planned=bins().rows)


def test_order_is_that_of_keys_and_later_rows_move_no_other():
    ids = [f"case {number}" for number in range(300)]
    few = first_keys("march", ids, 20)
    assert first_keys("march", reversed(ids), 50)[:20] == few
    assert first_keys("april", ids, 20) != few
    late = first_keys("march", [*ids, "late"], 21)
    assert [one for one in late if one != "late"][:20] == few
    assert draw_key("march", "case 1") == (
        "c257434e517ba432521f71bf7dd24ba0f4588f18c4de6cb20d55d77a21473b7a"
    )


@pytest.mark.parametrize("metric", ["specificity", "mcc"])
def test_a_metric_that_is_the_same_whatever_is_found_spreads_cases_by_size(metric):
    base = bins(above=12)  # all rows are flagged
    planned = design_audit(base, cases=120, label_frequency=0.2, metrics=[metric]).planned
    shares = 0.5 * (base.unlabeled / base.unlabeled.sum() + 1 / 12)
    assert planned == pytest.approx(120 * shares, abs=1)


def test_a_metric_below_0_is_planned_for_as_well():
    """A model that ranks the wrong way round: cases go where errors matter, not by size alone."""
    base = bins(ROWS[::-1], CONFIRMED[::-1])
    planned = design_audit(base, cases=120, label_frequency=0.2, metrics=["mcc"]).planned
    by_size = 0.5 * (base.unlabeled / base.unlabeled.sum() + 1 / 12)
    assert abs(planned - 120 * by_size).max() > 4
