from __future__ import annotations

import math

import pytest

from pumonitor.report.numbers import interval_text, number, percent, percent_with_interval, rows


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.6234, "0.623"),
        (0.0481, "0.0481"),
        (12.345, "12.3"),
        (999.6, "1,000"),
        (-0.25, "-0.250"),
        (0.9999, "0.9999"),
        (0.99962, "0.9996"),
        (0.9951, "0.995"),
        (0.999999999, "1.000000"),
        (1.0, "1.00"),
        (0, "0"),
        (3e-7, "3e-07"),
    ],
)
def test_numbers_have_three_significant_digits_and_more_only_next_to_one(
    value: float, text: str
) -> None:
    assert number(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_without_a_value_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="value must be finite"):
        number(value)


def test_percentages_are_as_exact_as_their_interval() -> None:
    assert percent_with_interval(0.6234, 0.54, 0.7) == "62% (54 to 70%)"
    assert percent_with_interval(0.6234, 0.6211, 0.6257) == "62.34% (62.11 to 62.57%)"
    assert percent_with_interval(0.00123, 0.001, 0.0015) == "0.123% (0.100 to 0.150%)"


def test_a_percentage_without_interval_has_three_significant_digits() -> None:
    assert [percent(share) for share in (0.05, 0.12345, 1.0, 0.0, 0.000456)] == [
        "5%",
        "12.3%",
        "100%",
        "0%",
        "0.0456%",
    ]


def test_intervals_and_counts_read_as_words() -> None:
    assert interval_text(-0.2, 0.31) == "-0.200 to 0.310"
    assert rows(1_234_567) == "1,234,567"
