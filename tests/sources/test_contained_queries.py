"""A query of an operator is one SELECT; a database is only read, for a while, and nothing told."""

# ruff: noqa: S608 (the queries are ours)

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy

from pumonitor.errors import InputError, SourceError
from pumonitor.ports import CountRequest, Window
from pumonitor.sources.column_types.monitored_tables import (
    LabelColumns,
    PredictionColumns,
    SqlQuery,
    SqlTable,
)
from pumonitor.sources.opening import open_source
from pumonitor.sources.windows.contained_sql import check_query

START = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)
NOW = START + 20 * DAY
PREDICTIONS = PredictionColumns(id="id", time="made", score="score")
LABELS = LabelColumns(id="id", known_at="known")
REQUEST = CountRequest(
    window=Window(start=START, end=START + DAY, index=0), as_of=(START + 9 * DAY,), threshold=0.5
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select 1; select 2", "has 2 statements: it must be one SELECT"),
        ("select 1; drop table p", "has 2 statements"),
        ("insert into p select * from q", "begins with INSERT: it must be one SELECT"),
        ("update p set a = 1", "begins with UPDATE"),
        ("drop table p", "begins with DROP"),
        ("copy p to 'file'", "begins with COPY"),
        ("pragma query_only = off", "begins with PRAGMA"),
        ("attach 'other.db' as other", "begins with ATTACH"),
        ("call f()", "begins with CALL"),
        ("explain analyze delete from p", "begins with EXPLAIN"),
        ("with gone as (delete from p returning id) select * from gone", "holds DELETE"),
        ("with x as (select 1) delete from p", "holds DELETE"),
        ("select * into copied from p", "holds INTO"),
        ("select * from p for update", "holds LOCK"),
        ("", "begins with nothing"),
        ("-- only a remark", "begins with nothing"),
        ("select from where", "cannot be read as SQL: Expected table name"),
        ("select * from p where a > :begin", "has a parameter 'begin', and what it is given is"),
        ("select * from p where made > :strat", "did you mean 'start'?"),
        ("select * from p where made > ?", "has a parameter"),
    ],
)
@pytest.mark.parametrize("dialect", [None, "postgres", "sqlite"])
def test_queries_that_do_more_than_read(query, expected, dialect):
    with pytest.raises(InputError) as caught:
        check_query(query, dialect=dialect, name="the query of predictions")
    assert str(caught.value).startswith("the query of predictions ")
    assert expected in str(caught.value)


def test_what_is_checked_is_what_runs():
    query = "select a /* :x */ from p where b >= :start and b < :end and c = 'of :day' -- ; drop"
    assert check_query(query, dialect="postgres", parameters={"start", "end"}) == (
        r"SELECT a FROM p WHERE b >= :start AND b < :end AND c = 'of \:day'"
    )
    assert check_query("select b::date, c from p where b < :end").startswith("SELECT CAST(b AS")
    assert check_query("(select 1 as a) union select 2")
    assert check_query("with x as (select 1 as a) select a from x")


def test_parameters_that_are_missing():
    with pytest.raises(InputError) as caught:
        check_query("select * from p where made >= :start", parameters={"start", "end"})
    assert str(caught.value).startswith("the query lacks :end: without it all rows would be read")


@pytest.fixture
def sqlite(tmp_path):
    file = tmp_path / "store.db"
    engine = sqlalchemy.create_engine(f"sqlite:///{file}")
    with engine.begin() as connection:
        for sql in (
            "create table predictions (id integer, made text, score real)",
            "create table confirmed (id integer, known text)",
            "insert into predictions values (1, '2026-01-05T01:00:00.000001Z', 0.9), "
            "(2, '2026-01-05 02:00:00.5+00:00', 0.2), (3, '2026-01-06T00:00:00+0000', 0.1)",
            "insert into confirmed values (1, '2026-01-06T00:00Z')",
        ):
            connection.execute(sqlalchemy.text(sql))
    engine.dispose()
    return file


def opened(made, known, **options):
    return open_source(made, PREDICTIONS, known, LABELS, clock=lambda: NOW, **options)


def tables(url):
    return SqlTable(url=url, table="predictions"), SqlTable(url=url, table="confirmed")


def test_text_times_of_sqlite_are_exact(sqlite):
    with closing(opened(*tables(f"sqlite:///{sqlite}"))) as source:
        assert source.counts(REQUEST).rows.tolist() == [1, 1]
        assert source.span() == (START + timedelta(hours=1, microseconds=1), START + DAY)


def test_a_file_that_is_not_there_is_not_created(tmp_path):
    with pytest.raises(InputError, match="there is no SQLite database"):
        opened(*tables(f"sqlite:///{tmp_path / 'none.db'}"))
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "store.db").touch()
    with pytest.raises(InputError) as caught:
        opened(*tables(f"sqlite:///{tmp_path / 'stor.db'}"))
    assert str(caught.value) == (
        f"there is no SQLite database {tmp_path / 'stor.db'}; did you mean {tmp_path / 'store.db'}?"
    )


def test_a_database_that_another_program_has_locked(sqlite):
    url = f"sqlite:///{sqlite}"
    with closing(sqlite3.connect(sqlite, isolation_level=None)) as writer:
        writer.execute("begin exclusive")
        with pytest.raises(SourceError) as caught:
            opened(*tables(url), statement_timeout=0.05)
        assert str(caught.value) == (
            "predictions predictions cannot be read: another program has locked the database for "
            "longer than 0.05 s; try again, or set PRAGMA journal_mode = WAL there, which lets "
            "rows be read while others are written"
        )
        writer.execute("rollback")
    with closing(opened(*tables(url))) as source:
        assert source.counts(REQUEST).rows.tolist() == [1, 1]


def test_a_query_keeps_its_text_to_the_last_sign(sqlite):
    """Percent signs, semicolons, quotes and colons inside strings are no part of SQL."""
    text = "100%; drop :start %s %(a)s ''quoted'' -- no remark"
    query = (
        f"select id, made, score, '{text}' as kind from predictions where made >= :start and "
        "made < :end and 'a;b' <> 'a%b' and 'x' like '%' and 17 % 5 = 2;"
    )
    url = f"sqlite:///{sqlite}"
    columns = PredictionColumns(id="id", time="made", score="score", segments=("kind",))
    source = open_source(
        SqlQuery(url=url, query=query), columns, tables(url)[1], LABELS, clock=lambda: NOW
    )
    with closing(source):
        assert set(source.counts(REQUEST).segments["kind"]) == {text.replace("''", "'")}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select nowhere, made, score from predictions", "no such column: nowhere"),
        ("select * from nowhere", "no such table: nowhere"),
        ("select number_of(id) as id, made, score from predictions", "no such function"),
    ],
)
def test_a_query_for_what_is_not_there_is_a_mistake_of_the_configuration(sqlite, query, expected):
    url = f"sqlite:///{sqlite}"
    with pytest.raises(InputError) as caught:
        opened(SqlQuery(url=url, query=f"{query} where :start < :end"), tables(url)[1])
    message = str(caught.value)
    assert message.startswith("the query of predictions cannot be read: ")
    assert expected in message


@pytest.mark.parametrize("columns", ["*, score", "id, made, score, 1 as x, 2 as x"])
def test_a_query_with_two_columns_of_one_name(sqlite, columns):
    url = f"sqlite:///{sqlite}"
    query = f"select {columns} from predictions where made >= :start and made < :end"
    with pytest.raises(InputError, match=r"has 2 columns named '(score|x)': rename one"):
        opened(SqlQuery(url=url, query=query), tables(url)[1])


def test_nothing_is_written_to_sqlite(sqlite, tmp_path):
    (tmp_path / "confirmed.csv").write_text("id,known\n1,2026-01-06T00:00Z\n")
    before = hashlib.sha256(sqlite.read_bytes()).hexdigest()
    made, _ = tables(f"sqlite:///{sqlite}")
    # Labels travel into a temporary table.
    with closing(opened(made, tmp_path / "confirmed.csv")) as source:
        assert source.counts(REQUEST).found.label_rows == 1
    assert hashlib.sha256(sqlite.read_bytes()).hexdigest() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["confirmed.csv", "store.db"]


def test_a_table_that_is_not_there(sqlite):
    with pytest.raises(InputError) as caught:
        opened(
            SqlTable(url=f"sqlite:///{sqlite}", table="prediction"),
            tables(f"sqlite:///{sqlite}")[1],
        )
    assert str(caught.value) == (
        "predictions prediction: the sqlite database has no such table or view; did you mean "
        "'predictions'?"
    )


def test_a_statement_may_take_only_so_long(sqlite):
    url = f"sqlite:///{sqlite}"
    endless = SqlQuery(
        url=url,
        query="with recursive n(x) as (select 1 union all select x + 1 from n) "
        "select x as id, '2026-01-05T01:00Z' as made, 0.5 as score from n where :start < :end "
        "and x < 0",
    )
    with pytest.raises(SourceError) as caught:
        opened(endless, tables(url)[1], statement_timeout=0.2)
    assert "the query of predictions took longer to read than the 0.2 s allowed" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql+psycopg://me:canary@127.0.0.1:1/db?sslpassword=canary", "cannot be reached"),
        ("postgresql+psycopg://me@127.0.0.1:1/db?sslmode=canary", 'sslmode value: "***"'),
        ("mysql://me:canary@host/db", "databases of the kind mysql are not read"),
        ("canary", "the url of a database is not one"),
    ],
)
def test_messages_show_no_secret(url, expected):
    with pytest.raises((InputError, SourceError)) as caught:
        opened(*tables(url))
    assert expected in str(caught.value)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "canary" not in repr(SqlTable(url=url, table="t"))


@pytest.fixture(scope="module")
def warehouse(postgresql):
    engine = sqlalchemy.create_engine(postgresql)
    with engine.begin() as connection:
        for sql in (
            "create schema contained",
            "create table contained.predictions (id bigint, made timestamptz, score real)",
            "create table contained.confirmed (id bigint, known timestamp)",
            "insert into contained.predictions values (1, '2026-01-05 01:00Z', 0.7), "
            "(2, '2026-01-05 23:59:59.999999Z', 0.2), (3, '2026-01-06 00:00Z', 0.1)",
            "insert into contained.confirmed values (1, '2026-01-05 19:00')",
            "create function contained.sneaky() returns bigint language sql as "
            "'insert into contained.confirmed values (9, null) returning id'",
        ):
            connection.execute(sqlalchemy.text(sql))
    engine.dispose()
    return postgresql


KNOWN = LabelColumns(id="id", known_at="known", time_zone="America/New_York")


def warehouse_source(url, query, **options):
    return open_source(
        SqlQuery(url=url, query=query),
        PREDICTIONS,
        SqlTable(url=url, table="contained.confirmed"),
        KNOWN,
        clock=lambda: NOW,
        **options,
    )


def test_scores_in_32_bits_are_held_against_the_threshold_in_32_bits(warehouse):
    query = "select * from contained.predictions where made >= :start and made < :end"
    request = CountRequest(window=REQUEST.window, as_of=(START + DAY,), threshold=0.7)
    with closing(warehouse_source(warehouse, query)) as source:
        counts = source.counts(request)
    assert (counts.cell % 2).tolist() == [0, 1]
    assert counts.upper[1] == 0.7
    # Seven in the evening in New York is midnight in UTC, the moment asked for.
    assert counts.history.tolist() == [1, 2]


def test_a_transaction_of_postgresql_only_reads(warehouse):
    query = (
        "select id, made, score, contained.sneaky() as other from contained.predictions "
        "where made >= :start and made < :end"
    )
    columns = PredictionColumns(id="id", time="made", score="score", segments=("other",))
    with (
        closing(
            open_source(
                SqlQuery(url=warehouse, query=query),
                columns,
                SqlTable(url=warehouse, table="contained.confirmed"),
                KNOWN,
                clock=lambda: NOW,
            )
        ) as source,
        pytest.raises(SourceError, match="cannot execute INSERT in a read-only transaction"),
    ):
        source.counts(REQUEST)


def test_a_statement_of_postgresql_may_take_only_so_long(warehouse):
    query = (
        "select id, made, score, pg_sleep(60)::text as other from contained.predictions "
        "where made >= :start and made < :end"
    )
    columns = PredictionColumns(id="id", time="made", score="score", segments=("other",))
    with (
        closing(
            open_source(
                SqlQuery(url=warehouse, query=query),
                columns,
                SqlTable(url=warehouse, table="contained.confirmed"),
                KNOWN,
                clock=lambda: NOW,
                statement_timeout=0.3,
            )
        ) as source,
        pytest.raises(SourceError, match=r"took longer to read than the 0\.3 s allowed"),
    ):
        source.counts(REQUEST)


def test_text_that_is_no_time_is_named_in_postgresql(warehouse):
    query = (
        "select id, case id when 1 then '2026-01-05T07:00:00.1234567+0600' else 'soon' end "
        "as made, score from contained.predictions where :start < :end"
    )
    with (
        closing(warehouse_source(warehouse, query)) as source,
        pytest.raises(InputError) as caught,
    ):
        source.counts(REQUEST)
    assert (
        "time column 'made' of the query of predictions has 2 times that are missing, not in ISO "
        "8601, or without an offset in 3 rows"
    ) in str(caught.value)
    assert "'soon' (2 times)" in str(caught.value)


@pytest.mark.parametrize("time", ["infinity", "-infinity"])
def test_a_time_called_infinity_is_no_time_in_postgresql(warehouse, time):
    query = (
        f"select id, case id when 1 then timestamptz '{time}' else made end as made, score "
        "from contained.predictions where :start < :end"
    )
    with (
        closing(warehouse_source(warehouse, query)) as source,
        pytest.raises(InputError) as caught,
    ):
        source.span()
    assert (
        "time column 'made' of the query of predictions has 1 times that are missing or no times "
        f"in 3 rows: '{time}' (1 times)"
    ) in str(caught.value)


def test_ids_that_postgresql_cannot_hold(warehouse, tmp_path):
    (tmp_path / "known.csv").write_bytes(
        b"id,known\na\x00b,2026-01-06T00:00Z\nc,2026-01-06T00:00Z\n"
    )
    query = (
        "select id::text as id, made, score from contained.predictions "
        "where made >= :start and made < :end"
    )
    source = open_source(
        SqlQuery(url=warehouse, query=query),
        PREDICTIONS,
        tmp_path / "known.csv",
        LABELS,
        clock=lambda: NOW,
    )
    with closing(source), pytest.raises(InputError) as caught:
        source.counts(REQUEST)
    assert str(caught.value) == (
        f"positives {tmp_path / 'known.csv'} has 1 ids that hold a NUL character, which postgresql "
        "does not store: remove it where the rows are written"
    )


def test_a_query_with_an_error_is_told_in_one_line(warehouse):
    query = "select nothing from contained.predictions where :start < :end"
    with pytest.raises(InputError) as caught:
        warehouse_source(warehouse, query)
    assert str(caught.value) == (
        'the query of predictions cannot be read: column "nothing" does not exist'
    )
