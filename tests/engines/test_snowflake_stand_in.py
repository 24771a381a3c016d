"""The engine of Snowflake on fakesnow, a stand-in that runs Snowflake's SQL in DuckDB.

It is not the service: what a function really does there, only the service tells. It is skipped
where fakesnow is not installed; tests/engines/stand_ins.lock puts it beside the environment.
"""

# ruff: noqa: S608 (the tables are ours)

from __future__ import annotations

from contextlib import closing

import pandas as pd
import pytest

from pumonitor.conformance import verify
from pumonitor.errors import InputError, SourceError
from pumonitor.sources.column_types.monitored_tables import SqlQuery, SqlTable
from tests.sources.monitored import REQUEST, assert_equal, labels, opened, predictions

fakesnow = pytest.importorskip("fakesnow", reason="fakesnow is not installed")
pytestmark = [
    pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result:UserWarning"),
]

URL = "snowflake://user:hidden-word@account/scores/public"


@pytest.fixture(scope="module")
def frames():
    return predictions(text_ids=True), labels(text_ids=True)


@pytest.fixture(scope="module")
def account(frames):
    import snowflake.connector

    with fakesnow.patch():
        with closing(snowflake.connector.connect(database="scores", schema="public")) as session:
            for name, frame in zip(("PREDICTIONS", "LABELS"), frames, strict=True):
                columns = ", ".join(f'"{_stored(one)}" {_type(frame[one])}' for one in frame)
                session.cursor().execute(f"CREATE TABLE {name} ({columns})")
                rows = [
                    f"({', '.join(map(_written, row))})" for row in frame.itertuples(index=False)
                ]
                session.cursor().execute(f"INSERT INTO {name} VALUES {', '.join(rows)}")
        yield


def _stored(name):
    # Made without quotes a name is stored in capitals; with a blank or a capital it takes quotes.
    return name.upper() if name == name.lower() and " " not in name else name


def _type(column):
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        return "TIMESTAMP_TZ"
    return {"i": "NUMBER(38, 0)", "f": "FLOAT"}.get(column.dtype.kind, "VARCHAR")


def _written(value):
    if pd.isna(value):
        return "NULL"
    if isinstance(value, pd.Timestamp):
        return f"'{value.tz_convert('UTC').isoformat(sep=' ')}'"
    return repr(value) if isinstance(value, float | int) else "'" + value.replace("'", "''") + "'"


def tables():
    return [SqlTable(url=URL, table=name) for name in ("predictions", "public.labels")]


def test_counts_are_those_of_the_embedded_engine(frames, account):
    with closing(opened(*frames)) as source:
        counts, look = source.counts(REQUEST), source.describe()
    with closing(opened_here(*tables())) as source:
        counted = source.counts(REQUEST)
        assert_equal(counted, counts)
        found = source.describe()
    read = counted.versions["read_by"]
    assert read["engine"] == "snowflake"
    assert len(read["query_ids"].split()) >= 1
    assert 0 < float(read["seconds"]) < 600
    assert found.engine == "snowflake"
    assert found.delay_quantiles == look.delay_quantiles


def test_labels_from_elsewhere_travel_to_it(frames, account):
    with closing(opened(*frames)) as source:
        counts = source.counts(REQUEST)
    with closing(opened_here(tables()[0], frames[1])) as source:
        assert_equal(source.counts(REQUEST), counts)


def test_a_query_in_place_of_a_table(frames, account):
    with closing(opened(*frames)) as source:
        counts = source.counts(REQUEST)
    query = "SELECT * FROM predictions WHERE scored_at >= :start AND scored_at < :end"
    with closing(opened_here(SqlQuery(url=URL, query=query), tables()[1])) as source:
        assert_equal(source.counts(REQUEST), counts)


def test_a_table_that_is_not_there_is_told_without_a_secret(account):
    absent = SqlTable(url=URL, table="nothing_here")
    with pytest.raises((InputError, SourceError), match="nothing_here") as error:
        opened_here(absent, tables()[1])
    assert "hidden-word" not in str(error.value)


A_FEW = ("labels a microsecond apart", "ties at cell edges", "text ids: blanks", "labels elsewhere")


@pytest.mark.parametrize("only", [*A_FEW, pytest.param("", marks=pytest.mark.slow)])
def test_the_kit_agrees(account, only):
    """Of the whole kit, scores in 32 bits are what Snowflake does not have."""
    found = verify(URL, only=only)
    assert [(one.name, one.detail) for one in found.cases if one.status == "differs"] == []
    assert [one.name for one in found.cases if one.status == "not run"] == (
        [] if only else ["scores in 32 bits"]
    )
    assert found.is_verified


def opened_here(made, known):
    return opened(made, known)
