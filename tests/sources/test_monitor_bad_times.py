"""Times that a monitor cannot use, and those it reads in every way they may be written."""

from __future__ import annotations

import re
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pandas as pd
import polars as pl
import pytest

from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
    PredictionColumns,
    SqlTable,
)
from pumonitor.sources.opening import open_source
from tests.sources.small_tables import (
    DAY,
    LABELS,
    NOW,
    PREDICTIONS,
    START,
    counts,
    csv,
    described,
    known,
    made,
    message_of,
    opened,
    request,
)

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

SECONDS = [int(moment.timestamp()) for moment in made()["made"]]


def columns(**settings):
    return PredictionColumns(id="id", time="made", score="score", **settings)


def first_and_last(predictions, prediction_columns=PREDICTIONS):
    with opened(predictions, known(), prediction_columns) as source:
        return source.span()


def test_times_without_a_zone():
    naive = made(made=made()["made"].dt.tz_localize(None))
    message = message_of(counts, naive, known())
    assert re.search(
        r"time column 'made' of .* is stored as TIMESTAMP\S*, times without a", message
    )
    assert message.endswith("say the time_zone of predictions, for example time_zone: UTC")
    zoned = PredictionColumns(id="id", time="made", score="score", time_zone="UTC")
    assert counts(naive, known(), zoned).found.predictions == 4


def test_local_times_are_those_of_their_zone():
    local = made(made=made()["made"].dt.tz_convert("Asia/Tokyo").dt.tz_localize(None))
    zoned = PredictionColumns(id="id", time="made", score="score", time_zone="Asia/Tokyo")
    assert counts(local, known(), zoned).found.predictions == 4


def test_text_without_an_offset(tmp_path):
    times = ["2026-01-05T01:00:00", "2026-01-05 02:00:00Z", "yesterday", "2026-01-05T04:00+01:00"]
    file = csv(tmp_path, made(made=times), "p.csv")
    message = message_of(counts, file, known())
    assert (
        "has 2 times that are missing, not in ISO 8601, or without an offset in 4 rows" in message
    )
    assert "'2026-01-05T01:00:00' (1 times), 'yesterday' (1 times)" in message
    assert "2026-01-31T08:30:00+00:00, or say the time_zone of predictions" in message


def test_text_with_a_zone_for_what_has_no_offset(tmp_path):
    times = ["2026-01-05T01:00:00", "2026-01-05 01:00:00Z", "2026-01-05", "2026-01-05T01:00-05:00"]
    file = csv(tmp_path, made(made=times), "p.csv")
    zoned = PredictionColumns(id="id", time="made", score="score", time_zone="America/New_York")
    source = open_source(file, zoned, known(), LABELS, clock=lambda: NOW)
    with closing(source):
        assert source.span() == (START + timedelta(hours=1), START + timedelta(hours=6))


@pytest.mark.parametrize(("hour", "is_clear"), [("01:59", True), ("02:30", False), ("03:00", True)])
def test_a_local_time_that_comes_twice(hour, is_clear):
    start = datetime(2026, 10, 24, 22, tzinfo=UTC)
    frame = made(made=[pd.Timestamp(f"2026-10-25 {hour}")] * 4)
    zoned = PredictionColumns(id="id", time="made", score="score", time_zone="Europe/Berlin")
    source = open_source(frame, zoned, known(), LABELS, clock=lambda: NOW)
    with closing(source):
        if is_clear:
            assert source.counts(request(start, start + DAY)).found.predictions == 4
            return
        message = message_of(source.counts, request(start, start + DAY))
    assert message.endswith(
        "has 4 times that are missing, or that the clocks of Europe/Berlin show twice or "
        "never where they change in 4 rows from 2026-10-24T22:00:00+00:00 to "
        "2026-10-25T22:00:00+00:00: '2026-10-25 02:30:00' (4 times); write such times in UTC "
        "or with their offset, or choose which of the two moments is meant, ambiguous: "
        "earlier or ambiguous: later of predictions"
    )


@pytest.mark.parametrize("kind", ["frame", "lazy frame", "parquet", "csv", "sqlite"])
@pytest.mark.parametrize(
    ("ambiguous", "hours"),
    # Offsets are 2 and 1 hours on 25 October, when 2:30 comes twice, 1 and 2 on 29 March, when
    # clocks go from 2:00 to 3:00.
    [("earlier", (0.5, 0.5)), ("later", (1.5, 1.5))],
)
def test_a_rule_says_which_moment_a_local_time_means(tmp_path, kind, ambiguous, hours):
    days = (datetime(2026, 10, 25, tzinfo=UTC), datetime(2026, 3, 29, tzinfo=UTC))
    frame = pl.DataFrame(
        {
            "id": range(1, 7),
            "made": [
                day.replace(tzinfo=None) + timedelta(hours=hour)
                for day in days
                for hour in (1.5, 2.5, 3.5)
            ],
            "score": [0.9, 0.8, 0.7, 0.3, 0.2, 0.1],
        }
    )
    table: object = frame
    if kind == "lazy frame":
        table = frame.lazy()
    elif kind == "parquet":
        frame.write_parquet(table := tmp_path / "p.parquet")
    elif kind == "csv":
        frame.write_csv(table := tmp_path / "p.csv")
    elif kind == "sqlite":
        url = f"sqlite:///{tmp_path / 'p.db'}"
        rows = frame.with_columns(pl.col("made").dt.strftime("%Y-%m-%d %H:%M:%S"))
        rows.to_pandas().to_sql("made", url, index=False)
        table = SqlTable(url=url, table="made")
    zoned = columns(time_zone="Europe/Berlin", ambiguous=ambiguous)
    clock = datetime(2026, 11, 1, tzinfo=UTC)
    source = open_source(table, zoned, known(), LABELS, clock=lambda: clock)
    with closing(source):
        for day, hour in zip(days, hours, strict=True):
            unclear = day + timedelta(hours=hour)
            found = {}
            for place in range(-2, 4):
                start = day + timedelta(hours=place)
                end = start + timedelta(hours=1)
                found[start] = source.counts(request(start, end)).found.predictions
            clear = (-0.5, 2.5) if day.month == 10 else (0.5, 1.5)
            expected = [unclear, *(day + timedelta(hours=one) for one in clear)]
            assert found == {
                start: sum(start <= one < start + timedelta(hours=1) for one in expected)
                for start in found
            }
            assert sum(found.values()) == 3


def test_a_missing_time_is_refused_under_any_rule():
    frame = made(made=[pd.Timestamp("2026-10-25 02:30"), None, None, pd.Timestamp("2026-10-25")])
    zoned = columns(time_zone="Europe/Berlin", ambiguous="later")
    message = message_of(first_and_last, frame, zoned)
    assert "has 2 times that are missing in 4 rows: missing (2 times); every row needs" in message


def test_times_of_labels_are_read_by_their_own_rule():
    times = [pd.Timestamp("2026-10-25 02:30")] * 3
    labels = LabelColumns(id="id", known_at="known", time_zone="Europe/Berlin")
    message = message_of(described, made(), known(known=times), PREDICTIONS, labels)
    assert "known_at column 'known' of the data frame of positives has 3 times that are" in message
    assert message.endswith("ambiguous: earlier or ambiguous: later of positives")


def test_missing_times():
    times = [*made()["made"][:3], None]
    message = message_of(counts, made(made=times), known())
    assert "time column 'made'" in message
    assert "has 1 times that are missing or no times in 4 rows" in message
    assert "missing (1 times)" in message


def test_no_such_zone():
    zoned = PredictionColumns(id="id", time="made", score="score", time_zone="Europe/Berln")
    message = message_of(counts, made(), known(), zoned)
    assert "which is no time zone; did you mean 'Europe/Berlin'?" in message


def test_whole_numbers_without_a_unit():
    seconds = [int(moment.timestamp()) for moment in made()["made"]]
    message = message_of(counts, made(made=seconds), known())
    assert "holds whole numbers such as 1767574800: say their time_unit" in message
    assert message.endswith("they look like seconds: time_unit: s")


def test_seconds_read_as_milliseconds():
    seconds = [int(moment.timestamp()) for moment in made()["made"]]
    columns = PredictionColumns(id="id", time="made", score="score", time_unit="ms")
    message = message_of(counts, made(made=seconds), known(), columns)
    assert "has 4 times of 4 looked at that are in the year 1970 when 1767574800 is read" in message
    assert message.endswith("they look like seconds: time_unit: s")


@pytest.mark.parametrize(
    ("unit", "per_second"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)]
)
def test_whole_numbers_in_their_unit(unit, per_second):
    since = [int(moment.timestamp()) * per_second for moment in made()["made"]]
    columns = PredictionColumns(id="id", time="made", score="score", time_unit=unit)
    source = open_source(made(made=since), columns, known(), LABELS, clock=lambda: NOW)
    with closing(source):
        assert source.span() == (START + timedelta(hours=1), START + timedelta(hours=4))
        assert source.counts(request()).found.predictions == 4


def test_a_unit_for_what_is_no_whole_number():
    columns = PredictionColumns(id="id", time="made", score="score", time_unit="s")
    assert "a time_unit is for whole numbers: drop it" in message_of(
        counts, made(), known(), columns
    )


def test_times_ahead():
    later = made(made=[*made()["made"][:2], NOW + 2 * DAY, NOW + 3 * DAY])
    source = open_source(later, PREDICTIONS, known(), LABELS, clock=lambda: NOW)
    with closing(source):
        message = message_of(source.span)
    assert message == (
        "time column 'made' of the data frame of predictions has 2 times more than a day in the "
        "future beside 2 rows of the last day, the last of them 2026-01-28T00:00:00+00:00: check "
        "the clock that writes it, and "
        "its time_zone or time_unit"
    )
    message = message_of(described, made(), known(known=[START, NOW + 2 * DAY, NOW + 2 * DAY]))
    assert "known_at column 'known' of the data frame of positives has 2 times more than" in message
    # Clocks differ a little.
    described(made(made=[*made()["made"][:3], NOW + DAY / 2]), known())


# Numbers of which some are in another unit


@pytest.mark.parametrize(
    ("factor", "name"), [(10**3, "milliseconds"), (10**6, "microseconds"), (10**9, "nanoseconds")]
)
def test_some_times_in_a_finer_unit(factor, name):
    times = [*SECONDS[:3], SECONDS[3] * factor]
    for work in (first_and_last, lambda *given: described(given[0], known(), given[1])):
        message = message_of(work, made(made=times), columns(time_unit="s"))
        assert message == (
            "time column 'made' of the data frame of predictions has 1 times that are missing or "
            f"no times in 4 rows: '{times[3]}' (1 times); whole numbers there look like {name} "
            "since 1970, and the time_unit of predictions is s: write all in one unit"
        )


def test_some_times_of_labels_in_a_finer_unit_are_not_lost():
    times = [SECONDS[0], SECONDS[1], SECONDS[2] * 1000]
    labels = LabelColumns(id="id", known_at="known", time_unit="s")
    message = message_of(described, made(), known(known=times), PREDICTIONS, labels)
    assert "known_at column 'known' of the data frame of positives has 1 times that are" in message
    assert f"'{times[2]}' (1 times); whole numbers there look like milliseconds" in message


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_times_of_another_age_would_be_windows_without_end(unit):
    per_second = {"s": 1, "ms": 1000}[unit]
    times = [0, *(second * per_second for second in SECONDS[1:])]
    message = message_of(first_and_last, made(made=times), columns(time_unit=unit))
    assert message == (
        "time column 'made' of the data frame of predictions has 1 times before 1990, the first "
        "1970-01-01T00:00:00+00:00: a missing time written as 0, or another time_unit; repair or "
        "drop these rows"
    )


def test_seconds_among_milliseconds():
    times = [SECONDS[0], *(second * 1000 for second in SECONDS[1:])]
    message = message_of(described, made(made=times), known(), columns(time_unit="ms"))
    assert "has 1 times before 1990, the first 1970-01-21T" in message


def test_whole_numbers_as_text(tmp_path):
    file = csv(tmp_path, made(made=SECONDS), "p.csv")
    message = message_of(first_and_last, file)
    assert "has 4 times that are missing, not in ISO 8601, or without an offset in 4" in message
    assert f"'{SECONDS[0]}' (1 times)" in message
    assert message.endswith(
        "whole numbers there look like seconds since 1970: say time_unit: s of predictions"
    )
    assert first_and_last(file, columns(time_unit="s"))[0] == START + timedelta(hours=1)
    text = made(made=list(map(str, SECONDS)))
    message = message_of(first_and_last, text)
    assert message.endswith("cast the column to whole numbers and say time_unit: s of predictions")
    message = message_of(first_and_last, text, columns(time_unit="s"))
    assert message.endswith("for whole numbers: drop it, or cast the column to whole numbers")


# Times beyond any calendar


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("0001-01-01T00:00:00Z", "has 1 times before 1990, the first 0001-01-01T00:00:00+00:00"),
        ("2026-02-30T00:00:00Z", "'2026-02-30T00:00:00Z' (1 times)"),
        ("infinity", "'infinity' (1 times)"),
    ],
)
def test_times_beyond_all_others(tmp_path, time, expected):
    times = [*(moment.isoformat() for moment in made()["made"][:3]), time]
    assert expected in message_of(first_and_last, csv(tmp_path, made(made=times), "p.csv"))


def test_a_row_of_a_far_future_is_set_aside_and_told():
    # The rows of the day before the last one that can be: 600, of which 6 may be wrong.
    day = [NOW - timedelta(minutes=2 * minute) for minute in range(600)]
    for wrong, is_refused in ((1, False), (6, False), (7, True)):
        times = [*day, *[datetime(9999, 12, 31, tzinfo=UTC)] * wrong]
        rows = pd.DataFrame({"id": range(len(times)), "made": times, "score": 0.5})
        if is_refused:
            assert (
                "has 7 times more than a day in the future beside 600 rows of the last day, the "
                "last of them 9999-12-31T"
            ) in message_of(first_and_last, rows)
            continue
        with opened(rows, known(), PREDICTIONS) as source:
            assert source.span() == (day[-1], day[0])
            (said,) = source.set_aside()
        assert said.startswith("time column 'made' of the data frame of predictions has ")
        assert f"has {wrong} time{'s' * (wrong > 1)} more than a day in the future" in said
    with opened(rows[:601], known(), PREDICTIONS) as source:
        (said,) = source.describe().doubts
    assert "has 1 time more than a day in the future" in said


def test_labels_known_in_a_far_future_are_told():
    # A label of a later moment is no row to leave out where all is looked at.
    times = [START, *[datetime(2300, 1, 1, tzinfo=UTC)] * 2]
    message = message_of(described, made(), known(known=times))
    assert (
        "known_at column 'known' of the data frame of positives has 2 times more than a day in the "
        "future, the last of them 2300-01-01T00:00:00+00:00"
    ) in message


# Zones


@pytest.mark.parametrize("naive_first", [True, False])
def test_times_with_and_without_a_zone_in_one_column(naive_first):
    times = [
        moment.tz_localize(None) if (place % 2 == 0) == naive_first else moment
        for place, moment in enumerate(made()["made"])
    ]
    frame = made(made=pd.Series(times, dtype=object))
    for zone in ({}, {"time_zone": "Asia/Tokyo"}):
        assert message_of(counts, frame, known(), columns(**zone)) == (
            "the data frame of predictions has 2 times without a zone among 4 in column 'made': "
            "give all of them their zone"
        )


def test_times_of_several_zones_in_one_column():
    times = [
        moment.tz_convert(zone)
        for moment, zone in zip(
            made()["made"], ["UTC", "Asia/Tokyo", "America/Lima", "UTC"], strict=True
        )
    ]
    frame = made(made=pd.Series(times, dtype=object))
    assert first_and_last(frame) == first_and_last(made())


def test_files_that_disagree_about_zones(tmp_path):
    frame = pl.from_pandas(made())
    frame.head(2).write_parquet(tmp_path / "p-1.parquet")
    naive = frame.tail(2).with_columns(pl.col("made").dt.replace_time_zone(None))
    naive.write_parquet(tmp_path / "p-2.parquet")
    pattern = str(tmp_path / "p-*.parquet")
    for zone in ({}, {"time_zone": "Asia/Tokyo"}):
        assert message_of(counts, pattern, known(), columns(**zone)) == (
            f"time column 'made' of predictions {pattern} is stored as TIMESTAMP in 1 of 2 files "
            "(such as p-2.parquet) and as TIMESTAMP WITH TIME ZONE in 1 of 2 files (such as "
            "p-1.parquet): write it with one type in all of them"
        )
