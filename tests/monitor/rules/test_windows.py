from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pumonitor.errors import InputError
from pumonitor.monitor.rules.windows.windows import WindowGrid

LENGTHS = ("1h", "2h", "5h", "6h", "1d", "3d", "7d", "1w", "2w", "1mo", "3mo", "5mo")
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Havana",  # back from 01:00 to 00:00: midnight twice
    "America/Sao_Paulo",  # forward from 00:00 to 01:00: no midnight
    "Asia/Kolkata",
    "Australia/Lord_Howe",  # by half an hour
)
MOMENTS = st.datetimes(
    min_value=datetime.fromisoformat("1985-01-01"),
    max_value=datetime.fromisoformat("2035-01-01"),
    timezones=st.just(UTC),
)
BERLIN = ZoneInfo("Europe/Berlin")


@settings(derandomize=True, deadline=None)
@given(every=st.sampled_from(LENGTHS), zone=st.sampled_from(ZONES), moment=MOMENTS)
@example(every="1d", zone="America/Havana", moment=datetime(2025, 11, 2, 4, 30, tzinfo=UTC))
@example(every="1d", zone="America/Sao_Paulo", moment=datetime(2018, 11, 4, 3, tzinfo=UTC))
@example(every="2h", zone="Australia/Lord_Howe", moment=datetime(2025, 4, 5, 15, tzinfo=UTC))
def test_windows_tile_time(every: str, zone: str, moment: datetime) -> None:
    grid = WindowGrid(every=every, zone=zone)
    window = grid.containing(moment)
    after, before = grid.next(window), grid.previous(window)

    assert window.start <= moment < window.end
    assert after.start == window.end
    assert before.end == window.start
    assert (before.index, after.index) == (window.index - 1, window.index + 1)
    assert grid.containing(window.start) == window
    assert grid.containing(window.end - timedelta.resolution) == window
    assert window.start.tzinfo is UTC
    assert window.end.tzinfo is UTC


@settings(derandomize=True, deadline=None)
@given(
    every=st.sampled_from(LENGTHS[3:]),
    zone=st.sampled_from(ZONES),
    start=MOMENTS,
    length=st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=40)),
)
def test_between_holds_the_range_and_no_window_more(
    every: str, zone: str, start: datetime, length: timedelta
) -> None:
    grid = WindowGrid(every=every, zone=zone)
    windows = list(grid.between(start, start + length))

    if not length:
        assert windows == []
        return
    assert windows[0].start <= start < windows[0].end
    assert windows[-1].start < start + length <= windows[-1].end
    assert all(one.end == other.start for one, other in pairwise(windows))


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", "2026-03-29"),
        ("Europe/Berlin", "2026-10-25"),
        ("America/Sao_Paulo", "2018-02-18"),
        ("America/Sao_Paulo", "2018-11-04"),
        ("Pacific/Apia", "2011-12-30"),  # forward by a day
        ("Antarctica/Troll", "2025-03-30"),  # by two hours
    ],
)
@pytest.mark.parametrize("every", LENGTHS)
def test_windows_around_a_change_of_clocks_leave_no_gap_and_do_not_overlap(
    every: str, zone: str, day: str
) -> None:
    grid = WindowGrid(every=every, zone=zone)
    change = datetime.fromisoformat(day).replace(tzinfo=UTC)
    around = timedelta(days=4 if every.endswith("h") else 400 if every.endswith("mo") else 30)
    windows = list(grid.between(change - around, change + around))
    for one, other in pairwise(windows):
        assert one.start < one.end == other.start
        assert one.index < other.index
    for window in windows:
        for moment in (window.start, window.end - timedelta.resolution):
            assert grid.containing(moment) == window
    assert [grid.next(one) for one in windows[:-1]] == windows[1:]
    assert [grid.previous(one) for one in windows[1:]] == windows[:-1]


@pytest.mark.parametrize(
    ("every", "start"),
    [
        ("1d", "2026-07-15"),
        ("1w", "2026-07-13"),
        ("7d", "2026-07-13"),
        ("1mo", "2026-07-01"),
        ("3mo", "2026-07-01"),
        ("6h", "2026-07-15T12:00"),
        ("1h", "2026-07-15T17:00"),
    ],
)
def test_windows_begin_where_a_calendar_does(every: str, start: str) -> None:
    grid = WindowGrid(every=every, zone="Europe/Berlin")
    window = grid.containing(datetime(2026, 7, 15, 17, 20, tzinfo=BERLIN))
    assert window.start == datetime.fromisoformat(start).replace(tzinfo=BERLIN)


@pytest.mark.parametrize(("month", "day", "hours"), [(3, 29, 23), (10, 25, 25)])
def test_days_on_which_clocks_change_have_their_true_length(
    month: int, day: int, hours: int
) -> None:
    noon = datetime(2026, month, day, 12, tzinfo=BERLIN)
    window = WindowGrid(every="1d", zone="Europe/Berlin").containing(noon)
    assert window.end - window.start == timedelta(hours=hours)

    every_hour = list(
        WindowGrid(every="1h", zone="Europe/Berlin").between(window.start, window.end)
    )
    assert len(every_hour) == hours
    assert {one.end - one.start for one in every_hour} == {timedelta(hours=1)}

    quarters = list(WindowGrid(every="6h", zone="Europe/Berlin").between(window.start, window.end))
    assert [one.start.astimezone(BERLIN).hour for one in quarters] == [0, 6, 12, 18]
    assert quarters[0].end - quarters[0].start == timedelta(hours=hours - 18)


def test_a_midnight_shown_twice_is_the_first_one() -> None:
    window = WindowGrid(every="1d", zone="America/Havana").containing(
        datetime(2025, 11, 2, 4, 30, tzinfo=UTC)
    )
    assert window.start == datetime(2025, 11, 2, 4, tzinfo=UTC)
    assert window.end - window.start == timedelta(hours=25)


def test_a_midnight_that_is_skipped_is_the_moment_of_the_change() -> None:
    window = WindowGrid(every="1d", zone="America/Sao_Paulo").containing(
        datetime(2018, 11, 4, 12, tzinfo=UTC)
    )
    assert window.start == datetime(2018, 11, 4, 3, tzinfo=UTC)
    assert window.end - window.start == timedelta(hours=23)


def test_a_day_that_is_skipped_is_no_window() -> None:
    grid = WindowGrid(every="1d", zone="Pacific/Apia")
    windows = list(
        grid.between(datetime(2011, 12, 28, 12, tzinfo=UTC), datetime(2012, 1, 1, 12, tzinfo=UTC))
    )
    assert all(one.end > one.start for one in windows)
    assert all(one.end == other.start for one, other in pairwise(windows))
    assert [other.index - one.index for one, other in pairwise(windows)].count(2) == 1


def test_numbers_count_from_1970_and_hold_for_earlier_times() -> None:
    def index(every: str, *date: int) -> int:
        return WindowGrid(every=every).containing(datetime(*date, tzinfo=UTC)).index  # type: ignore[misc,arg-type]

    assert index("1d", 1970, 1, 1) == 0
    assert index("1d", 1969, 12, 31) == -1
    assert index("1d", 2026, 1, 1) == 20454
    assert index("1h", 1970, 1, 2) == 24
    assert index("1w", 1970, 1, 4) == 0
    assert index("1w", 1970, 1, 5) == 1
    assert index("1mo", 2026, 3, 31) == 56 * 12 + 2
    assert index("3mo", 2026, 3, 31) == 56 * 4


def test_moments_of_any_zone_are_read_and_such_without_are_refused() -> None:
    grid = WindowGrid(every="1d")
    late = datetime(2026, 1, 1, 23, tzinfo=timezone(-timedelta(hours=5)))
    assert grid.containing(late).start == datetime(2026, 1, 2, tzinfo=UTC)
    with pytest.raises(ValueError, match="moment must have a time zone"):
        grid.containing(late.replace(tzinfo=None))
    with pytest.raises(ValueError, match="end must have a time zone"):
        grid.between(late, late.replace(tzinfo=None))


def test_a_range_that_runs_backwards_is_refused() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(InputError, match=r"end must not be before start.*swap them"):
        WindowGrid().between(moment, moment - timedelta(days=1))


def test_between_finds_windows_as_they_are_asked_for() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    many = WindowGrid(every="1h").between(start, start + timedelta(days=36_500))
    assert len(list(takewhile(lambda one: one.start < start + timedelta(days=1), many))) == 24


@pytest.mark.parametrize(
    ("every", "message"),
    [
        ("-1d", r"got '-1d': a window cannot end before it starts"),
        ("0d", r"must be above 0, got '0d'"),
        ("1.5d", r"a whole number of h, d, w or mo"),
        ("1y", r"got '1y'; did you mean 12mo\?"),
        ("5 days", r"did you mean 5d\?"),
        ("2M", r"did you mean 2mo\?"),
        ("30min", r"no window is shorter than an hour"),
        ("", r"got ''"),
        (None, r"got None"),
        ("daily", r"got 'daily'"),
    ],
)
def test_a_length_that_cannot_be_read_is_refused(every: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        WindowGrid(every=every)


@pytest.mark.parametrize(
    ("zone", "message"),
    [
        ("Europe/Berln", r"no time zone 'Europe/Berln'; did you mean 'Europe/Berlin'\?"),
        ("", r"give a name such as UTC"),
        ("../../etc/passwd", r"no time zone"),
    ],
)
def test_a_zone_that_is_not_known_is_refused(zone: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        WindowGrid(zone=zone)
