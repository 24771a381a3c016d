"""Windows that are counted by one query have the counts that each has alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
import sqlalchemy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pumonitor.errors import InputError, PumonitorError
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
    PredictionColumns,
    SqlQuery,
    SqlTable,
)
from pumonitor.sources.opening import open_source
from pumonitor.sources.windows import asking, counting, together
from pumonitor.sources.windows.counting import count_windows
from tests.sources.monitored import REQUEST, assert_equal, labels, predictions
from tests.sources.monitored import opened as monitored

ZONES = ("UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns")
# Around both changes of the clocks in each of these zones.
BEGINNINGS = ((2026, 3, 27), (2026, 10, 23), (2026, 4, 3))
DAYS = 6
SECONDS = DAYS * 86_400


@st.composite
def cases(draw):
    """Tables with everything that happens to rows, and windows on the bounds of a zone's days."""
    zone, first = ZoneInfo(draw(st.sampled_from(ZONES))), draw(st.sampled_from(BEGINNINGS))
    # By the clock of the zone: days of 23, 24 and 25 hours, and of others where it moves less.
    bounds = [datetime(*first, tzinfo=zone) + timedelta(days=day) for day in range(DAYS + 1)]
    start = bounds[0].astimezone(UTC)
    moment = st.one_of(
        st.integers(0, SECONDS).map(lambda second: start + timedelta(seconds=second)),
        st.sampled_from([bound.astimezone(UTC) for bound in bounds]),
    )
    score = st.sampled_from([0.0, -0.0, 0.25, 0.5, 0.75, 1.0, 5e-324])
    country = st.sampled_from(["DE", "de", "", None])
    good = st.tuples(st.integers(0, 5), moment, score, st.sampled_from(["a", "b"]), country)
    made = draw(st.lists(good, min_size=12, max_size=40))
    bad = st.sampled_from(["none", "score", "score", "id", "time"])
    for what in draw(st.lists(bad, max_size=2)):
        row = list(made[0])
        row[1] = draw(moment)
        if what != "none":
            row[{"score": 2, "id": 0, "time": 1}[what]] = None
            made.append(tuple(row))
    known = st.integers(-2 * 86_400, 3 * SECONDS).map(
        lambda second: start + timedelta(seconds=second)
    )
    label = st.tuples(
        st.integers(0, 6), known, st.sampled_from([1, 1, 1, -1, 0]), st.sampled_from([0.25, 1.0])
    )
    said = draw(st.lists(label, min_size=6, max_size=30))
    if draw(st.integers(0, 9)) == 0:
        said.append((1, draw(known), 7, 1.0))
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
    return made, said, requests


def tables(rows, said):
    made = pa.table(
        {
            "id": pa.array([row[0] for row in rows], pa.int64()),
            "time": pa.array([row[1] for row in rows], pa.timestamp("us", "UTC")),
            "score": pa.array([row[2] for row in rows], pa.float64()),
            "version": pa.array([row[3] for row in rows], pa.string()),
            "country": pa.array([row[4] for row in rows], pa.string()),
        }
    )
    known = pa.table(
        {
            "id": pa.array([row[0] for row in said], pa.int64()),
            "known": pa.array([row[1] for row in said], pa.timestamp("us", "UTC")),
            "label": pa.array([row[2] for row in said], pa.int64()),
            "chance": pa.array([row[3] for row in said], pa.float64()),
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
            assert_equal_but_for_unmatched(one, wanted)
    if found and not isinstance(expected[-1], Exception):
        assert_equal(found[-1], expected[-1])


def assert_equal_but_for_unmatched(counts, expected):
    """Of windows counted together only the newest looks at labels without prediction."""
    if counts.unmatched is None:
        expected = replace(expected, unmatched=None)
    assert_equal(counts, expected)


@given(case=cases())
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_windows_counted_at_once_are_as_counted_alone(case):
    made, known, requests = case
    with closing(opened(*tables(made, known))) as source:
        assert_same(source, requests)


@given(case=cases())
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_database_that_answers_by_one_statement_counts_the_same(tmp_path_factory, case):
    made, known, requests = case
    path = tmp_path_factory.mktemp("database") / "rows.db"
    write(path, made, known)
    url = f"sqlite:///{path}"
    with (
        closing(opened(*tables(made, known))) as here,
        closing(opened(SqlTable(url=url, table="made"), SqlTable(url=url, table="known"))) as there,
    ):
        found = list(there.counts_of_many(requests))
        for one, wanted in zip(found, alone(here, requests), strict=True):
            assert isinstance(one, Exception) == isinstance(wanted, Exception)
            if not isinstance(wanted, Exception):
                assert_equal_but_for_unmatched(one, wanted)
        assert_same(there, requests)


@pytest.fixture(scope="module")
def week():
    """A request for each of four days, and the two halves of a fifth."""
    start = REQUEST.window.start - timedelta(days=1)
    edges = [*(start + timedelta(hours=24 * day) for day in range(5)), start + timedelta(hours=108)]
    return [
        CountRequest(
            window=Window(start=first, end=last, index=place),
            as_of=tuple(last + timedelta(days=age) for age in (0, 2, 30)[: 1 + place % 3]),
            threshold=0.7,
            delay_edges=REQUEST.delay_edges,
        )
        for place, (first, last) in enumerate(pairwise(edges))
    ]


@pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")
@pytest.mark.parametrize(
    ("module", "limit"), [(asking, "_ROWS_TOGETHER"), (counting, "MOST_GROUPS")]
)
def test_what_is_too_much_at_once_is_counted_in_parts(week, monkeypatch, module, limit):
    with closing(monitored(predictions(), labels())) as source:
        expected = alone(source, week)
        monkeypatch.setattr(module, limit, 700)
        counted = []
        monkeypatch.setattr(together, "count_windows", noting(counted))
        for one, wanted in zip(source.counts_of_many(week), expected, strict=True):
            assert_equal(one, wanted)
        # How many were borne is kept.
        assert len(list(source.counts_of_many(week))) == len(week)
    assert counted.count(len(week)) == 1


def test_files_that_have_too_many_rows_are_counted_before_any_is_held(week, monkeypatch, tmp_path):
    made, known = (tmp_path / f"{name}.parquet" for name in ("made", "known"))
    predictions().to_parquet(made)
    labels().to_parquet(known)
    with closing(monitored(made, known)) as source:
        expected = alone(source, week)
        monkeypatch.setattr(asking, "_ROWS_TOGETHER", 700)
        engine, held = source._engine, []
        keep = engine.keep

        def kept(name, statement, *, about):
            held.append(name)
            return keep(name, statement, about=about)

        monkeypatch.setattr(engine, "keep", kept)
        for one, wanted in zip(source.counts_of_many(week), expected, strict=True):
            assert_equal(one, wanted)
    # Labels without prediction were asked for once; that all rows were too many, too.
    assert held[0] == "pumonitor_unmatched"
    assert held.count("pumonitor_unmatched") == 1
    assert held.count("pumonitor_rows") == held.count("pumonitor_states")


@pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")
def test_predictions_are_read_once_for_all_windows(week, monkeypatch):
    counted = []
    monkeypatch.setattr(together, "count_windows", noting(counted))
    with closing(monitored(predictions(), labels())) as source:
        assert len(list(source.counts_of_many(week))) == len(week)
    assert counted == [len(week)]


@pytest.fixture(scope="module")
def in_postgresql(postgresql):
    """The tables in a PostgreSQL database."""
    engine = sqlalchemy.create_engine(postgresql)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE SCHEMA several"))
    for frame, name in ((predictions(), "predictions"), (labels(), "labels")):
        frame.to_sql(name, engine, schema="several", index=False)
    engine.dispose()
    return [SqlTable(url=postgresql, table=f"several.{name}") for name in ("predictions", "labels")]


@pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")
def test_postgresql_counts_several_windows_as_the_embedded_engine(week, in_postgresql):
    with (
        closing(monitored(predictions(), labels())) as here,
        closing(monitored(*in_postgresql)) as there,
    ):
        for one, wanted in zip(there.counts_of_many(week), alone(here, week), strict=True):
            assert_equal(one, wanted)


@pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")
def test_a_database_is_not_asked_for_a_larger_answer_than_can_be_held(
    week, in_postgresql, monkeypatch
):
    with closing(monitored(*in_postgresql)) as source:
        expected = alone(source, week)
        ask_columns, sizes = source._engine.columns, []

        def columns(statement, **options):
            answer = ask_columns(statement, **options)
            sizes.append(len(answer["n"]))
            return answer

        monkeypatch.setattr(source._engine, "columns", columns)
        monkeypatch.setattr(asking, "_ROWS_TOGETHER", 700)
        counted = list(source.counts_of_many(week))
    for counts, wanted in zip(counted, expected, strict=True):
        assert_equal(counts, wanted)
    # Beside groups an answer has a few rows of totals for each window.
    assert max(sizes) < 800 < sum(len(counts.rows) for counts in counted)


def noting(counted):
    def count(engine, query, **options):
        counted.append(len(query.windows))
        return count_windows(engine, query, **options)

    return count


def test_a_query_that_takes_a_stretch_of_time_is_asked_for_each_window(week, tmp_path):
    """It may answer another stretch in another way."""
    path = tmp_path / "rows.db"
    start = week[0].window.start
    rows = [(number, start + timedelta(hours=6 * number), 0.5, "a", "DE") for number in range(24)]
    write(path, rows, [(1, start + timedelta(hours=30), 1, 0.5)])
    url = f"sqlite:///{path}"
    # Of each stretch the first prediction alone.
    query = "SELECT * FROM made WHERE time >= :start AND time < :end ORDER BY time LIMIT 1"
    known = SqlTable(url=url, table="known")
    with closing(opened(SqlQuery(url=url, query=query), known)) as source:
        assert [one.found.predictions for one in source.counts_of_many(week[:4])] == [1] * 4


def test_an_error_in_place_of_a_window_is_the_one_that_it_raises_alone(week):
    start = week[2].window.start
    made = [(number, start + timedelta(hours=number), 0.5, "a", "DE") for number in range(40)]
    made.append((99, start + timedelta(hours=1), None, "a", "DE"))
    with closing(opened(*tables(made, [(1, start, 1, 0.5)]))) as source:
        found = list(source.counts_of_many(week))
        assert [isinstance(one, InputError) for one in found] == [False, False, True, False, False]
        assert start.isoformat() in str(found[2])
        assert_same(source, week)


def write(path: Path, rows_made, rows_known) -> None:
    def text(value):
        return value.isoformat() if isinstance(value, datetime) else value

    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE made (id, time, score, version, country)")
        connection.execute("CREATE TABLE known (id, known, label, chance)")
        # SQLite tells types by values; these are of a day that nobody asks about.
        typed = (99, datetime(2020, 1, 1, tzinfo=UTC), 0.5, "a", "DE")
        said = (99, datetime(2020, 1, 2, tzinfo=UTC), 1, 0.5)
        for table, rows in (("made", [typed, *rows_made]), ("known", [said, *rows_known])):
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(
                f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608 (the tables are ours)
                [tuple(map(text, row)) for row in rows],
            )
        connection.commit()
