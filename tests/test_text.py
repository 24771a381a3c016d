from __future__ import annotations

import math
import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pumonitor.text import (
    count_text,
    day_text,
    given_text,
    interval_text,
    moment_cell,
    moment_text,
    number_text,
    percent_text,
    percent_with_interval,
)


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
        (0.999999999, ">0.999999"),
        (1.0, "1.00"),
        (0, "0"),
        (3e-7, "<0.000001"),
    ],
)
def test_numbers_have_three_significant_digits_and_more_only_next_to_one(
    value: float, text: str
) -> None:
    assert number_text(value) == text


def test_a_number_without_a_value_is_a_dash() -> None:
    assert [number_text(value) for value in (math.nan, math.inf, -math.inf)] == ["–"] * 3
    assert percent_text(math.nan) == "–"


def test_percentages_are_as_exact_as_their_interval() -> None:
    assert percent_with_interval(0.6234, 0.54, 0.7) == "62% (54 to 70%)"
    assert percent_with_interval(0.6234, 0.6211, 0.6257) == "62.34% (62.11 to 62.57%)"
    assert percent_with_interval(0.00123, 0.001, 0.0015) == "0.123% (0.100 to 0.150%)"


def test_a_percentage_without_interval_has_three_significant_digits() -> None:
    assert [percent_text(share) for share in (0.05, 0.12345, 1.0, 0.0, 0.000456)] == [
        "5%",
        "12.3%",
        "100%",
        "0%",
        "0.0456%",
    ]


def test_intervals_and_counts_read_as_words() -> None:
    assert interval_text(-0.2, 0.31) == "-0.200 to 0.310"
    assert count_text(1_234_567) == "1,234,567"


finite = st.floats(-1e12, 1e12)


def read(text: str) -> float:
    """The number that a text stands for; of one below a millionth that is what it says."""
    return float(text.strip("<>%").replace(",", ""))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(finite, finite)
def test_texts_keep_the_order_of_numbers_and_have_no_exponent(one: float, other: float) -> None:
    low, high = sorted((one, other))
    for text in (number_text(low), given_text(low)):
        assert re.fullmatch(r"[<>]?-?[\d,]+(\.\d+)?", text), text
    if min(abs(low), abs(high)) >= 1e-6:
        assert read(number_text(low)) <= read(number_text(high))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.floats(1e-6, 1e6))
def test_a_text_is_off_by_half_of_its_third_digit_at_most(value: float) -> None:
    assert read(number_text(value)) == pytest.approx(value, rel=0.0051)
    assert read(given_text(value)) == pytest.approx(value, rel=5.1e-6)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.floats(0, 1, exclude_max=True))
def test_a_share_below_one_is_never_said_to_be_all(share: float) -> None:
    assert percent_text(share) != "100%"
    assert (percent_text(share) == "0%") == (share == 0)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
def test_a_moment_names_its_zone_and_a_cell_leaves_midnight_out(zone: str) -> None:
    midnight = datetime(2026, 3, 1, tzinfo=ZoneInfo(zone))
    assert moment_text(midnight, ZoneInfo(zone)) == f"2026-03-01 00:00 {zone}"
    assert moment_cell(midnight, ZoneInfo(zone)) == day_text(midnight, ZoneInfo(zone))
