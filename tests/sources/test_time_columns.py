"""Local times become moments as the zone's own rules have it, in plain SQL."""

# ruff: noqa: S608 (the numbers are ours)

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from pumonitor.errors import InputError
from pumonitor.sources.column_types.time_columns import (
    bounds_of,
    check_unit,
    from_microseconds,
    microseconds,
    to_utc,
)

ZONES = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",  # half an hour
    "Africa/Casablanca",  # changes that follow the moon
    "America/Sao_Paulo",  # none any more
    "Asia/Kathmandu",
    "UTC",
]


def converted(local, zone, **options):
    expression = to_utc("local", zone, **options)
    return (
        sqlite3.connect(":memory:")
        .execute(
            f"SELECT {expression} FROM (SELECT {microseconds(local.replace(tzinfo=UTC))} AS local)"
        )
        .fetchone()[0]
    )


def both_readings(local, zone):
    """UTC of the first and the second time the clocks show this; equal if they show it once."""
    return [
        local.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC).replace(tzinfo=UTC)
        for fold in (0, 1)
    ]


@pytest.mark.parametrize("zone", ZONES)
def test_every_local_time_is_the_moment_the_zone_says(zone):
    rng = np.random.default_rng(3)
    hours = np.r_[rng.integers(0, 80 * 8766, 60), rng.integers(55 * 8766, 58 * 8766, 60)]
    for hour in hours.tolist():
        moment = datetime(1971, 1, 1, tzinfo=UTC) + timedelta(hours=hour, microseconds=hour)
        local = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        first, second = both_readings(local, zone)
        expected = microseconds(moment) if first == second else None
        assert converted(local, zone) == expected


@pytest.mark.parametrize("local", ["2026-03-29T02:30", "2026-10-25T02:30", "2026-10-25T02:00"])
def test_what_the_clocks_show_twice_or_never_is_no_moment(local):
    assert converted(datetime.fromisoformat(local), "Europe/Berlin") is None


@pytest.mark.parametrize(
    ("local", "utc"),
    [
        ("2026-03-29T01:59:59.999999", "2026-03-29T00:59:59.999999"),
        ("2026-03-29T03:00", "2026-03-29T01:00"),
        ("2026-10-25T01:59:59.999999", "2026-10-24T23:59:59.999999"),
        ("2026-10-25T03:00", "2026-10-25T02:00"),
    ],
)
def test_moments_beside_a_change(local, utc):
    found = converted(datetime.fromisoformat(local), "Europe/Berlin")
    assert from_microseconds(found) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


@pytest.mark.parametrize("zone", ZONES)
def test_only_changes_near_a_window_are_needed(zone):
    # Days on which clocks change here or there, and others.
    for month, day in ((3, 8), (3, 28), (7, 1), (10, 24)):
        start = datetime(2026, month, day, 12, tzinfo=UTC)
        between = (start, start + timedelta(days=1))
        for hour in range(25):
            local = (start + timedelta(hours=hour)).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
            assert converted(local, zone, between=between) == converted(local, zone)


@pytest.mark.parametrize("zone", ZONES)
def test_bounds_leave_out_no_row_of_a_window(zone):
    for day in range(365):
        start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)
        end = start + timedelta(days=1)
        low, high = bounds_of(start, end, zone=zone, unit=None)
        for moment in (start, start + timedelta(hours=13), end - timedelta(microseconds=1)):
            local = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
            assert low <= local < high


def test_whole_numbers_begin_with_the_next_one():
    start = datetime(2026, 1, 1, microsecond=1, tzinfo=UTC)
    end = start + timedelta(seconds=1)
    low, high = bounds_of(start, end, zone=None, unit="s")
    assert (low, high) == (1767225601, 1767225602)


def test_numbers_of_no_age():
    with pytest.raises(InputError, match=r"are in the year 1970 when 12 is read as seconds"):
        check_unit([12, 13], unit="s", column="made", where="predictions")
    with pytest.raises(InputError, match=r"a year after 9999 .* look like nanoseconds"):
        check_unit([1767225600 * 10**9], unit="s", column="made", where="predictions")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("ambiguous", ["earlier", "later"])
def test_a_time_shown_twice_or_never_is_one_of_its_two_readings(zone, ambiguous):
    choose = min if ambiguous == "earlier" else max
    unclear = 0
    days = [datetime(2026, 1, 1) + timedelta(days=day) for day in range(365)]  # noqa: DTZ001
    offsets = [day.replace(tzinfo=ZoneInfo(zone)).utcoffset() for day in days]
    changed = [
        day for day, *two in zip(days, offsets, offsets[1:], strict=False) if len({*two}) > 1
    ]
    for local in (day + timedelta(minutes=30 * half) for day in changed for half in range(48)):
        readings = both_readings(local, zone)
        if readings[0] == readings[1]:
            continue
        unclear += 1
        assert converted(local, zone, ambiguous=ambiguous) == microseconds(choose(readings))
        moment = choose(readings)
        for hour in (0, 1):
            start = moment.replace(minute=0) - timedelta(hours=hour)
            low, high = bounds_of(start, start + timedelta(hours=hour + 1), zone=zone, unit=None)
            assert low <= local < high
    assert bool(unclear) is (zone not in {"America/Sao_Paulo", "Asia/Kathmandu", "UTC"})
