"""Schedules: as cron means them, which is not as APScheduler reads them."""

import random
import re
from datetime import UTC, datetime, timedelta

import pytest
from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger

from pumonitor.monitor.config.values.cron import read_cron

START = datetime(2026, 1, 1, 12, 30, 30, tzinfo=UTC)  # a Thursday


def next_due(cron, moment):
    """The first scheduled moment after another, day by day."""
    start = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
    day = start.replace(hour=0, minute=0)
    while True:
        by_month, by_week = day.day in cron.days, day.isoweekday() % 7 in cron.weekdays
        is_due = by_month or by_week if cron.either_day else by_month and by_week
        if is_due and day.month in cron.months:
            for hour in sorted(cron.hours):
                for minute in sorted(cron.minutes):
                    if (found := day.replace(hour=hour, minute=minute)) >= start:
                        return found
        day += timedelta(days=1)


def due(text, count=3, after=START):
    cron, found = read_cron(text), []
    for _ in range(count):
        after = next_due(cron, after)
        found.append(f"{after:%a %Y-%m-%d %H:%M}")
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 6 * * *", ["Fri 2026-01-02 06:00", "Sat 2026-01-03 06:00", "Sun 2026-01-04 06:00"]),
        ("0 0 * * 0", ["Sun 2026-01-04 00:00", "Sun 2026-01-11 00:00", "Sun 2026-01-18 00:00"]),
        ("0 0 * * 7", ["Sun 2026-01-04 00:00", "Sun 2026-01-11 00:00", "Sun 2026-01-18 00:00"]),
        ("0 0 * * 1", ["Mon 2026-01-05 00:00", "Mon 2026-01-12 00:00", "Mon 2026-01-19 00:00"]),
        ("*/20 12 * * *", ["Thu 2026-01-01 12:40", "Fri 2026-01-02 12:00", "Fri 2026-01-02 12:20"]),
        ("0 0 29 feb *", ["Tue 2028-02-29 00:00", "Sun 2032-02-29 00:00", "Fri 2036-02-29 00:00"]),
        ("30 12 1 * FRI", ["Fri 2026-01-02 12:30", "Fri 2026-01-09 12:30", "Fri 2026-01-16 12:30"]),
        ("0 0 13 * 5", ["Fri 2026-01-02 00:00", "Fri 2026-01-09 00:00", "Tue 2026-01-13 00:00"]),
        ("5/25 3 * * *", ["Fri 2026-01-02 03:05", "Fri 2026-01-02 03:30", "Fri 2026-01-02 03:55"]),
        ("@weekly", ["Sun 2026-01-04 00:00", "Sun 2026-01-11 00:00", "Sun 2026-01-18 00:00"]),
    ],
)
def test_due_moments_are_those_of_cron(text, expected):
    assert due(text) == expected


def test_a_leap_day_is_found_across_a_century_that_has_none():
    after = datetime(2096, 3, 1, tzinfo=UTC)
    assert due("0 0 29 2 *", count=1, after=after) == ["Fri 2104-02-29 00:00"]


def test_fields_for_apscheduler_are_due_at_the_same_moments():
    rng = random.Random(5)  # noqa: S311

    def field(low, high):
        kind = rng.randrange(4)
        if kind == 0:
            return "*"
        if kind == 1:
            return str(rng.randint(low, high))
        first, last = sorted((rng.randint(low, high), rng.randint(low, high)))
        return f"{first}-{last}/{rng.randint(1, 3)}" if kind == 2 else f"{first},{last}"

    for _ in range(60):
        text = f"{field(0, 59)} {field(0, 23)} {field(1, 28)} {field(1, 12)} {field(0, 7)}"
        cron = read_cron(text)
        theirs = OrTrigger([CronTrigger(**fields, timezone=UTC) for fields in cron.fields()])
        after = START
        for _ in range(4):
            following = next_due(cron, after)
            assert following == theirs.get_next_fire_time(None, after + timedelta(seconds=1)), text
            after = following.replace(second=30)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 0 31 2 *", "is never due: Feb has no such day (31)"),
        ("0 0 31 4,6 */2", "is never due: Apr or Jun has no such day (31)"),
        ("0 6 * *", "must have five fields"),
        ("0 24 * * *", "has a hour outside 0 to 23: '24'"),
        ("0 6 * * 8", "has a day of the week outside 0 to 7: '8'"),
        ("0 6 * * monkey", "has a day of the week outside 0 to 7: 'monkey'"),
        ("0 9-5 * * *", "has a hour whose start is after its end: '9-5'"),
        ("*/0 * * * *", "has a minute with a step of 0: '*/0'"),
        ("0 6 L * *", "has a day of the month outside 1 to 31: 'L'"),
        ("0 6 1#2 * *", "has a day of the month that cannot be read: '1#2'"),
        (5, "must be a cron expression in quotes"),
    ],
)
def test_what_is_no_schedule_is_refused_in_words(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_cron(text)


def test_the_31st_of_a_short_month_or_any_monday_is_due_on_mondays():
    assert due("0 0 31 2 1", count=1) == ["Mon 2026-02-02 00:00"]
