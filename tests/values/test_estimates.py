"""Estimates by value: what they must equal, what they cannot exceed, and what they do not read."""

import numpy as np
import pytest

import pumonitor
from pumonitor import Reviews
from pumonitor._valued import ValuedRows
from pumonitor.audit.bins import ScoreBins
from pumonitor.names import VALUE
from pumonitor.values.positives import BinnedRows
from tests.values.valued_rows import shop

SHOP = shop(5)
FLAGGED = SHOP.scores >= 2.0


def by_value(values=SHOP.amounts, *, reviews=None, complained=SHOP.complained, **settings):
    return pumonitor.evaluate(
        complained,
        SHOP.scores,
        threshold=2.0,
        reviews=SHOP.reviews if reviews is None else reviews,
        value=values,
        **settings,
    )


@pytest.fixture(scope="module")
def evaluation():
    return by_value(value_unit="EUR")


@pytest.fixture(scope="module")
def fair():
    return pumonitor.evaluate(
        SHOP.confirmed, SHOP.scores, threshold=2.0, class_prior=0.03, value=SHOP.amounts
    )


@pytest.mark.parametrize("made", ["evaluation", "fair"])
def test_intervals_hold_the_truth_and_stay_within_what_is_there(made, request):
    ev = request.getfixturevalue(made)
    caught, missed = SHOP.worth(FLAGGED), SHOP.worth(~FLAGGED)
    truth = {
        "caught_value": caught,
        "missed_value": missed,
        "recall_value": caught / (caught + missed),
        "precision_value": caught / SHOP.amounts[FLAGGED].sum(),
    }
    for name in VALUE:
        rounding = 1e-9 * truth[name]
        assert ev[name].low - rounding <= truth[name] <= ev[name].high + rounding, name
        least, most = ev[name].range
        assert least <= ev[name].low <= ev[name].high <= most
    known = SHOP.confirmed if made == "fair" else SHOP.complained
    assert ev["missed_value"].low >= SHOP.amounts[known & ~FLAGGED].sum()
    assert ev["missed_value"].range[1] == pytest.approx(SHOP.amounts[~FLAGGED].sum())


def test_rows_of_one_value_give_the_numbers_of_counts():
    ev = by_value(np.full(len(SHOP.scores), 2.0))
    for name in ("recall", "precision"):
        counted, valued = ev[name], ev[f"{name}_value"]
        assert (valued.value, valued.low, valued.high) == pytest.approx(
            (counted.value, counted.low, counted.high), rel=1e-9
        )
    assert ev["caught_value"].value == pytest.approx(2 * ev["precision"].value * FLAGGED.sum())


def test_another_unit_changes_amounts_alone(evaluation):
    # A power of 2, as steps of values are.
    ev = by_value(1024 * SHOP.amounts)
    for name in ("recall_value", "precision_value"):
        assert ev[name].low == pytest.approx(evaluation[name].low, rel=1e-9)
    for name in ("caught_value", "missed_value"):
        assert ev[name].high == pytest.approx(1024 * evaluation[name].high, rel=1e-9)


def test_where_everything_is_known_it_is_a_sum():
    verdicts = SHOP.is_positive.astype(float)
    ev = by_value(reviews=Reviews(verdicts, blocks=True), complained=SHOP.complained & False)
    assert (ev["missed_value"].low, ev["missed_value"].high) == pytest.approx(
        (SHOP.worth(~FLAGGED), SHOP.worth(~FLAGGED))
    )
    assert ev["recall_value"].value == pytest.approx(
        SHOP.worth(FLAGGED) / SHOP.worth(np.ones_like(FLAGGED))
    )


def test_rows_worth_nothing_are_in_no_sum(evaluation):
    values = np.where(FLAGGED, 0.0, SHOP.amounts)
    ev = by_value(values)
    assert ev["precision_value"].undefined_reason == "the flagged rows are worth nothing"
    assert ev["caught_value"].high == 0
    assert ev["recall_value"].value == 0


def test_other_estimates_are_as_without_values(evaluation):
    plain = pumonitor.evaluate(SHOP.complained, SHOP.scores, threshold=2.0, reviews=SHOP.reviews)
    assert set(evaluation.estimates) - set(plain.estimates) == set(VALUE)
    assert all(evaluation[name] == plain[name] for name in ("recall", "f1", "auc"))
    assert evaluation.settings["value_unit"] == "EUR"
    assert evaluation.settings["value_total"] == pytest.approx(SHOP.amounts.sum())
    assert "value_unit" not in plain.settings


def test_dear_positives_that_a_rule_found_do_not_make_hidden_ones_dear():
    rng = np.random.default_rng(2)
    size = 4000
    is_known = np.arange(size) < 200
    values = np.ones(size) + 99 * (rng.random(size) < 0.1)
    # 100 known at random, then 100 that a rule chose for what they are worth.
    values[100:200] = 100.0
    by_rule = (np.arange(size) >= 100) & (np.arange(size) < 200)
    hidden = np.full((500, 1), 300.0)

    def hidden_worth(is_fair):
        rows = BinnedRows(
            valued=ValuedRows.of_rows(values, is_known.astype(np.int8), np.zeros(size)),
            bins=ScoreBins.counted(edges=[], threshold=1.0, rows=[size], labeled=[200]),
            bin_of_row=np.zeros(size, dtype=np.intp),
            is_known=is_known,
            is_silent=~is_known,
            is_fair=is_fair,
        )
        return float(rows.draws(hidden, method="").hidden_value.mean()) / 300

    assert hidden_worth(~by_rule) == pytest.approx(10.9, abs=3.5)
    assert hidden_worth(np.ones(size, dtype=bool)) > 25


def test_rows_stopped_beside_reviewed_ones_are_worth_what_these_are():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        high = np.arange(6000) < 1500
        is_positive = rng.random(6000) < np.where(high, 0.5, 0.01)
        values = np.where(rng.random(6000) < np.where(is_positive, 0.5, 0.1), 100.0, 1.0)
        stopped = high & (rng.random(6000) < 0.5)
        ev = pumonitor.evaluate(
            is_positive & ~high & (rng.random(6000) < 0.5),
            np.where(high, 3.0, 0.0) + 0.3 * rng.random(6000),
            threshold=2.0,
            reviews=Reviews(
                np.where(high & ~stopped, is_positive, np.nan), blocks=True, stopped=stopped
            ),
            value=values,
        )
        caught, found = values[is_positive & high].sum(), ev["caught_value"]
        assert found.value == pytest.approx(caught, rel=0.06)
        # 375 reviewed positives say what those among the stopped are worth.
        assert found.high - found.low < 0.2 * caught


def test_a_queue_that_ranks_by_score_times_amount_is_allowed_for():
    ranked_by = SHOP.scores + 0.8 * np.log(SHOP.amounts)
    reviewed = ranked_by >= np.quantile(ranked_by, 0.95)
    rng = np.random.default_rng(8)
    ev = by_value(
        complained=SHOP.is_positive & ~reviewed & (rng.random(len(reviewed)) < 0.6),
        reviews=Reviews(
            np.where(reviewed, SHOP.is_positive, np.nan), blocks=True, ranked_by=ranked_by
        ),
    )
    caught, missed = SHOP.worth(FLAGGED), SHOP.worth(~FLAGGED)
    assert ev["recall_value"].low <= caught / (caught + missed) <= ev["recall_value"].high
    assert ev["caught_value"].low <= caught <= ev["caught_value"].high
