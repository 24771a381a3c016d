"""Windows that are counted by one query have the counts that each has alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pumonitor.errors import PumonitorError
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
    PredictionColumns,
    SqlTable,
)
from pumonitor.sources.opening import open_source
from tests.sources.monitored import assert_equal

ZONES = ("UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns")
# Around both changes of the clocks in each of these zones.
BEGINNINGS = (datetime(2026, 3, 27), datetime(2026, 10, 23), datetime(2026, 4, 3))
DAYS = 6
SECONDS = DAYS * 86_400


@st.composite
def cases(draw):
    """Tables with everything that happens to rows, and windows on the bounds of a zone's days."""
    zone, first = ZoneInfo(draw(st.sampled_from(ZONES))), draw(st.sampled_from(BEGINNINGS))
    bounds = [(first + timedelta(days=day)).replace(tzinfo=zone) for day in range(DAYS + 1)]
    start = bounds[0].astimezone(UTC)
    moment = st.one_of(
        st.integers(0, SECONDS).map(lambda second: start + timedelta(seconds=second)),
        st.sampled_from([bound.astimezone(UTC) for bound in bounds]),
    )
    score = st.sampled_from([0.0, -0.0, 0.25, 0.5, 0.75, 1.0, 5e-324])
    country = st.sampled_from(["DE", "de", "", None])
    good = st.tuples(st.integers(0, 9), moment, score, st.sampled_from(["a", "b"]), country)
    predictions = draw(st.lists(good, min_size=1, max_size=40))
    bad = st.sampled_from(["none", "score", "score", "id", "time"])
    for what in draw(st.lists(bad, max_size=2)):
        row = list(predictions[0])
        row[1] = draw(moment)
        if what != "none":
            row[{"score": 2, "id": 0, "time": 1}[what]] = None
            predictions.append(tuple(row))
    known = st.integers(-2 * 86_400, 3 * SECONDS).map(
        lambda second: start + timedelta(seconds=second)
    )
    label = st.tuples(
        st.integers(0, 12), known, st.sampled_from([1, 1, 1, -1, 0]), st.sampled_from([0.25, 1.0])
    )
    labels = draw(st.lists(label, max_size=30))
    if draw(st.integers(0, 9)) == 0:
        labels.append((1, draw(known), 7, 1.0))
    chosen = sorted(draw(st.sets(st.integers(0, DAYS - 1), min_size=2)))
    requests = []
    for day in chosen:
        window = Window(
            start=bounds[day].astimezone(UTC), end=bounds[day + 1].astimezone(UTC), index=day
        )
        ages = sorted(draw(st.sets(st.integers(0, 30), min_size=1, max_size=4)))
        requests.append(
            CountRequest(
                window=window,
                as_of=tuple(window.end + timedelta(hours=12 * age) for age in ages),
                threshold=0.5,
                delay_edges=(3600.0, 86_400.0),
            )
        )
    return predictions, labels, requests


def tables(predictions, labels):
    made = pa.table(
        {
            "id": pa.array([row[0] for row in predictions], pa.int64()),
            "time": pa.array([row[1] for row in predictions], pa.timestamp("us", "UTC")),
            "score": pa.array([row[2] for row in predictions], pa.float64()),
            "version": pa.array([row[3] for row in predictions], pa.string()),
            "country": pa.array([row[4] for row in predictions], pa.string()),
        }
    )
    known = pa.table(
        {
            "id": pa.array([row[0] for row in labels], pa.int64()),
            "known": pa.array([row[1] for row in labels], pa.timestamp("us", "UTC")),
            "label": pa.array([row[2] for row in labels], pa.int64()),
            "chance": pa.array([row[3] for row in labels], pa.float64()),
        }
    )
    return made, known


def opened(made, known):
    return open_source(
        made,
        PredictionColumns(
            id="id", time="time", score="score", model_version="version", segments=("country",)
        ),
        known,
        LabelColumns(id="id", known_at="known", label="label", propensity="chance"),
    )


def alone(source, requests):
    found = []
    for request in requests:
        try:
            found.append(source.counts(request))
        except PumonitorError as error:
            found.append(error)
    return found


def assert_same(source, requests):
    expected = alone(source, requests)
    found = list(source.counts_of_many(requests))
    assert len(found) == len(expected)
    for one, wanted in zip(found, expected, strict=True):
        if isinstance(wanted, Exception):
            assert (type(one), str(one)) == (type(wanted), str(wanted))
        else:
            assert_equal(one, wanted)


@given(case=cases())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_windows_counted_at_once_are_as_counted_alone(case):
    predictions, labels, requests = case
    with closing(opened(*tables(predictions, labels))) as source:
        assert_same(source, requests)


@given(case=cases())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_database_that_answers_by_one_statement_counts_the_same(tmp_path_factory, case):
    predictions, labels, requests = case
    path = tmp_path_factory.mktemp("database") / "rows.db"
    write(path, predictions, labels)
    url = f"sqlite:///{path}"
    with (
        closing(opened(*tables(predictions, labels))) as here,
        closing(opened(SqlTable(url=url, table="made"), SqlTable(url=url, table="known"))) as there,
    ):
        found = list(there.counts_of_many(requests))
        for one, wanted in zip(found, alone(here, requests), strict=True):
            assert isinstance(one, Exception) == isinstance(wanted, Exception)
            if not isinstance(wanted, Exception):
                assert_equal(one, wanted)
        assert_same(there, requests)


def write(path: Path, predictions, labels) -> None:
    def text(value):
        return value.isoformat() if isinstance(value, datetime) else value

    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE made (id, time, score, version, country)")
        connection.execute("CREATE TABLE known (id, known, label, chance)")
        # SQLite tells types by values; these are of a day that nobody asks about.
        typed = (99, datetime(2020, 1, 1, tzinfo=UTC), 0.5, "a", "DE")
        said = (99, datetime(2020, 1, 2, tzinfo=UTC), 1, 0.5)
        for table, rows in (("made", [typed, *predictions]), ("known", [said, *labels])):
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(
                f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608 (the tables are ours)
                [tuple(map(text, row)) for row in rows],
            )
        connection.commit()
