"""Values that cannot be used are refused with a sentence that says what to do."""

import re

import numpy as np
import pytest

import pumonitor
from pumonitor.errors import InputError
from pumonitor.values.given import as_worth
from tests.values.valued_rows import shop

SHOP = shop(1, rows=400, class_prior=0.2)


def with_value_at(row, value):
    return [value if at == row else 1.5 for at in range(4)]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, 2.0, 3.0], "value must have one value a row: got 3 for 4 rows"),
        (with_value_at(2, -3.5), "value is negative in 1 of 4 rows, first -3.5 at row 2: a value"),
        (with_value_at(3, np.nan), "value is missing in 1 of 4 rows, first at row 3: give every"),
        (with_value_at(1, None), "value has 1 missing values"),
        (with_value_at(1, np.inf), "value is infinite in 1 of 4 rows, first at row 1: give what"),
        (with_value_at(1, 1e308), "value is above 1e15 in 1 of 4 rows, first at row 1: give"),
        ([0, 0, 0, 0], "value is 0 in all 4 rows: check that the column"),
        (
            with_value_at(1, "EUR 12"),
            "value holds 'EUR 12', which is no number, and 1 of 4 rows like it: convert",
        ),
    ],
)
def test_values_that_are_none_are_refused(values, message):
    given = np.array(values, dtype=object) if not isinstance(values[1], float) else values
    with pytest.raises(InputError, match=re.escape(message)):
        as_worth(given, None, rows=4)


@pytest.mark.parametrize("unit", ["", "  ", 5, "a currency of twenty-one"])
def test_a_unit_is_a_short_word(unit):
    with pytest.raises(ValueError, match="value_unit must be a short word such as 'EUR'"):
        as_worth([1.0], unit, rows=1)


def test_a_unit_needs_values():
    with pytest.raises(ValueError, match="give value as well"):
        pumonitor.evaluate(SHOP.confirmed, SHOP.scores, value_unit="EUR")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"propensity": np.full(400, 0.5)}, "leave out propensity, or value"),
        ({"sample_weight": np.ones(400)}, "leave out sample_weight, or value"),
        ({"scenario": "case-control"}, "single-training-set scenario"),
        ({"label_purity": 0.9}, "label_purity of 1"),
    ],
)
def test_what_does_not_go_with_values_is_named(setting, message):
    with pytest.raises(ValueError, match=message):
        pumonitor.evaluate(
            SHOP.confirmed, SHOP.scores, threshold=1.0, value=SHOP.amounts, **setting
        )


def test_whole_numbers_and_zeros_are_values():
    worth = as_worth(np.array([0, 3, 5]), " EUR ", rows=3)
    assert worth.values.tolist() == [0.0, 3.0, 5.0]
    assert worth.unit == "EUR"
