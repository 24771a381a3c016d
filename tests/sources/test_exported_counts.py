"""SQL that a team runs with its own tools counts what a source counts, to the last byte."""

# ruff: noqa: S608 (the tables are ours)

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlalchemy
import sqlglot

from pumonitor.errors import InputError
from pumonitor.sources.column_types.dialects import DuckDB, PostgreSQL, SQLite
from pumonitor.sources.column_types.time_columns import microseconds
from pumonitor.sources.column_types.warehouses import WAREHOUSES
from pumonitor.sources.counted.source import open_counted
from pumonitor.sources.counted.statement import (
    DeclaredTables,
    counting_statement,
    table_definition,
)
from pumonitor.sources.opening import open_source
from tests.sources.monitored import (
    LABELS,
    NOW,
    PREDICTIONS,
    REQUEST,
    assert_table_equal,
    labels,
    predictions,
)
from tests.sources.translated import Translated, translated

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

KINDS = {"Channel": "integer", "label": "integer"}


@pytest.fixture(scope="module")
def frames():
    return predictions(text_ids=True), labels(text_ids=True)


@pytest.fixture(scope="module")
def expected(frames):
    with closing(open_source(frames[0], PREDICTIONS, frames[1], LABELS, clock=lambda: NOW)) as one:
        return one.counts(REQUEST)


def statement(dialect, *, request=REQUEST, made=PREDICTIONS, known=LABELS, later=0, **kinds):
    return counting_statement(
        DeclaredTables(
            predictions="predictions",
            prediction_columns=made,
            positives="labels",
            label_columns=known,
            kinds=KINDS | kinds,
        ),
        request,
        dialect=dialect,
        score_scale="probability",
        counted_at=NOW + timedelta(seconds=later),
    )


def read(place, request=REQUEST):
    source = open_counted(
        f"counts://{place}",
        segments=PREDICTIONS.segments,
        score_scale="probability",
        timeout=60,
    )
    with closing(source):
        return source.counts(request)


def duckdb_with(frames):
    found = duckdb.connect()
    found.execute("SET timezone = 'UTC'")
    for name, frame in zip(("predictions", "labels"), frames, strict=True):
        found.register("given", frame)
        found.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        found.unregister("given")
    return found


def test_run_by_duckdb(frames, expected, tmp_path):
    file = tmp_path / "counts.parquet"
    with closing(duckdb_with(frames)) as session:
        session.execute(f"COPY ({statement(DuckDB())}) TO '{file}'")
    assert_table_equal(read(file), expected)


def test_run_by_postgresql(frames, expected, postgresql):
    engine = sqlalchemy.create_engine(postgresql)
    with engine.begin() as session:
        for name, frame in zip(("predictions", "labels"), frames, strict=True):
            frame.to_sql(name, session, index=False)
        made = table_definition("public.card_counts", segments=2, dialect=PostgreSQL())
        for sql in (made, f"INSERT INTO public.card_counts {statement(PostgreSQL())}"):
            session.exec_driver_sql(sql.replace("%", "%%"))
    engine.dispose()
    assert_table_equal(read(f"{postgresql}#public.card_counts"), expected)


def test_run_by_sqlite(frames, expected, tmp_path):
    # Times are whole numbers there: of text it knows milliseconds at most.
    url = f"sqlite:///{tmp_path / 'rows.db'}"
    columns = replace(PREDICTIONS, time_unit="us"), replace(LABELS, time_unit="us")
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as session:
        for name, frame in zip(("predictions", "labels"), frames, strict=True):
            time = "scored_at" if name == "predictions" else "confirmed_at"
            counted = [microseconds(one.to_pydatetime()) for one in frame[time]]
            frame.assign(**{time: counted}).to_sql(name, session, index=False)
        sql = statement(SQLite(), made=columns[0], known=columns[1])
        session.exec_driver_sql(table_definition("counts", segments=2, dialect=SQLite()))
        session.exec_driver_sql(f"INSERT INTO counts {sql}")
    engine.dispose()
    assert_table_equal(read(f"{url}#counts"), expected)


def test_sqlite_reads_no_text_as_times_by_itself():
    with pytest.raises(InputError, match=r"store times as whole numbers, with their time_unit"):
        statement(SQLite())


@pytest.mark.parametrize("name", sorted(WAREHOUSES))
def test_parsed_and_run_by_a_stand_in(name, frames, expected, tmp_path):
    made, known = frames
    dialect = WAREHOUSES[name]()
    engine = Translated(name, {})
    sql = statement(dialect)
    for table, frame in (("predictions", made), ("labels", known)):
        engine._duck.register("given", frame)
        engine._duck.execute(f"CREATE TABLE {table} AS SELECT * FROM given")
        engine._duck.unregister("given")
    file = tmp_path / "counts.parquet"
    run = translated(sql, name)
    if name == "snowflake":
        # It stores such names in capitals, and the engine shows them in small letters.
        names = engine._duck.execute(f"DESCRIBE {run}").fetchall()
        listed = ", ".join(f'"{one}" AS "{one.lower()}"' for one, *_ in names)
        run = f"SELECT {listed} FROM ({run})"
    engine._duck.execute(f"COPY ({run}) TO '{file}'")
    assert_table_equal(read(file), expected)
    assert sqlglot.parse_one(table_definition("a.b", segments=2, dialect=dialect), dialect=name)


def test_of_two_sets_the_later_one_stands(frames, expected, tmp_path):
    with closing(duckdb_with(frames)) as session:
        session.execute(f"COPY ({statement(DuckDB())}) TO '{tmp_path / 'a.parquet'}'")
        session.execute("DELETE FROM predictions WHERE score > 0.5")
        session.execute(f"COPY ({statement(DuckDB(), later=60)}) TO '{tmp_path / 'b.parquet'}'")
    found = read(tmp_path / "*.parquet")
    assert found.found.predictions < expected.found.predictions


def test_a_window_without_a_row_has_a_whole_set(frames, tmp_path):
    empty = frames[0].head(0), frames[1]
    file = tmp_path / "counts.parquet"
    with closing(duckdb_with(empty)) as session:
        session.execute(f"COPY ({statement(DuckDB())}) TO '{file}'")
    with closing(open_source(empty[0], PREDICTIONS, frames[1], LABELS, clock=lambda: NOW)) as one:
        assert_table_equal(read(file), one.counts(REQUEST))


@pytest.mark.parametrize(
    ("table", "broken", "told"),
    [
        (
            "predictions",
            {"score": 1.5},
            r"4 or more rows of predictions have a wrong score out of range",
        ),
        ("labels", {"label": 7}, r"3 or more rows of positives have a wrong label"),
    ],
)
def test_rows_that_cannot_be_used_are_told_by_the_set(frames, tmp_path, table, broken, told):
    made, known = (frame.copy() for frame in frames)
    frame = made if table == "predictions" else known
    inside = frame.index[:3]
    if table == "predictions":
        start, end = REQUEST.window.start, REQUEST.window.end
        within = (made["scored_at"] >= start) & (made["scored_at"] < end)
        once = ~made["prediction id"].duplicated(keep=False)
        # And a row that comes second after one without fault.
        second = made[within & made["prediction id"].duplicated()].sort_values("scored_at")
        inside = [*frame.index[within & once][:3], second.index[-1]]
    for column, value in broken.items():
        frame.loc[inside, column] = value
    file = tmp_path / "counts.parquet"
    with closing(duckdb_with((made, known))) as session:
        session.execute(f"COPY ({statement(DuckDB())}) TO '{file}'")
    with pytest.raises(InputError, match=told):
        read(file)


def test_snowflake_finds_columns_that_were_made_without_quotes():
    sql = statement(WAREHOUSES["snowflake"]())
    assert 'source."SCORED_AT"' in sql
    assert 'source."prediction id"' in sql
    assert '"PREDICTIONS" AS source' in sql


def test_kinds_that_a_column_cannot_have_are_refused():
    with pytest.raises(InputError, match=r"id column 'prediction id' .* is stored as number"):
        statement(DuckDB(), **{"prediction id": "number"})
    with pytest.raises(InputError, match="say their time_zone"):
        statement(DuckDB(), scored_at="naive")
    with pytest.raises(InputError, match="say their time_unit"):
        statement(DuckDB(), scored_at="integer")


def test_ids_as_whole_numbers(tmp_path):
    made, known = predictions(), labels()
    file = tmp_path / "counts.parquet"
    sql = statement(DuckDB(), **{"prediction id": "integer", "case": "integer"})
    with closing(duckdb_with((made, known))) as session:
        session.execute(f"COPY ({sql}) TO '{file}'")
    with closing(open_source(made, PREDICTIONS, known, LABELS, clock=lambda: NOW)) as source:
        assert_table_equal(read(file), source.counts(REQUEST))
    assert isinstance(made, pd.DataFrame)
    assert np.issubdtype(made["prediction id"].dtype, np.integer)
