"""Tables of databases give the counts of the same rows as data frames, and are only read."""

# ruff: noqa: S608 (the tables are ours)

from __future__ import annotations

from contextlib import closing

import duckdb
import numpy as np
import pytest
import sqlalchemy
from sqlalchemy.dialects import mysql

from pumonitor.conformance import verify
from pumonitor.errors import ExtraMissingError, InputError, SourceError
from pumonitor.sources.column_types.monitored_tables import SqlQuery, SqlTable
from pumonitor.sources.engines import registry, verified
from pumonitor.sources.engines.registry import EngineKind, engine_kind, engine_kinds, open_engine
from pumonitor.sources.engines.verified import is_verified
from pumonitor.sources.windows.counts_query import Statement
from tests.sources.monitored import REQUEST, assert_equal, labels, opened, predictions

# Arrow reads pandas in a way that pandas announces to change.
pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")


@pytest.fixture(scope="module", params=["whole numbers", "text"])
def frames(request):
    text_ids = request.param == "text"
    return predictions(text_ids=text_ids), labels(text_ids=text_ids)


@pytest.fixture(scope="module")
def expected(frames):
    with closing(opened(*frames)) as source:
        return source.counts(REQUEST)


def assert_counted(url, frames, expected, names=("p", "l")):
    """As tables, as queries, and with either table elsewhere."""
    made, known = (SqlTable(url=url, table=name) for name in names)
    queries = (
        SqlQuery(
            url=url,
            query=f"SELECT * FROM {names[0]} WHERE scored_at >= :start AND scored_at < :end",
        ),
        SqlQuery(url=url, query=f"SELECT * FROM {names[1]} WHERE confirmed_at <= :as_of"),
    )
    for tables in ((made, known), queries, (made, frames[1]), (frames[0], known)):
        with closing(opened(*tables)) as source:
            assert_equal(source.counts(REQUEST), expected)


@pytest.fixture
def duckdb_file(frames, tmp_path):
    file = tmp_path / "scores.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE SCHEMA risk")
        for name, frame in zip(("p", "risk.l"), frames, strict=True):
            connection.register("given", frame)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            connection.unregister("given")
    return f"duckdb:///{file}"


def test_a_file_of_duckdb(duckdb_file, frames, expected):
    assert_counted(duckdb_file, frames, expected, names=("p", "risk.l"))


def test_a_file_of_duckdb_is_only_read(duckdb_file):
    with closing(open_engine(duckdb_file, timeout=10)) as engine:
        for sql in ("CREATE TABLE q AS SELECT 1 AS a", "DELETE FROM p"):
            with pytest.raises((InputError, SourceError), match="read-only"):
                engine.rows(Statement(sql=sql), about="p")
        with pytest.raises((InputError, SourceError), match=r"disabled|locked|permission"):
            engine.rows(Statement(sql="SELECT * FROM read_csv('/etc/hosts')"), about="p")


def test_a_statement_of_duckdb_may_take_only_so_long(duckdb_file):
    with closing(open_engine(duckdb_file, timeout=0.2)) as engine:
        slow = (
            "SELECT count(*) FROM range(100000) AS a, range(100000) AS b WHERE a.range <> b.range"
        )
        with pytest.raises(SourceError, match=r"p took longer to read than the 0\.2 s allowed"):
            engine.rows(Statement(sql=slow), about="p")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("duckdb:////nowhere/a.duckdb", "DuckDB database"),
        ("exasol://me:canary@host/db", "databases of the kind exasol are not read"),
        ("clickhouse://me:canary@127.0.0.1:1/db", "127.0.0.1:1 cannot be reached"),
        ("clickhouse://me:canary@host/db?password=canary", "must be clickhouse://USER@HOST"),
        ("mariadb://me:canary@127.0.0.1:1/db", "cannot be reached"),
    ],
)
def test_what_cannot_be_opened_is_said_without_secrets(url, said):
    with pytest.raises((InputError, SourceError), match=said) as raised:
        open_engine(url, timeout=2).version()
    assert "canary" not in str(raised.value)


def in_mariadb(url, frames):
    """With times in columns of the type `timestamp`, written by a session in UTC."""
    driver = sqlalchemy.create_engine(url.replace("mariadb:", "mariadb+pymysql:"))

    @sqlalchemy.event.listens_for(driver, "connect")
    def _in_utc(connection, _):
        with connection.cursor() as cursor:
            cursor.execute("SET time_zone = '+00:00'")

    for name, frame in zip(("p", "l"), frames, strict=True):
        time = "scored_at" if name == "p" else "confirmed_at"
        rows = frame.assign(**{time: frame[time].dt.tz_localize(None)})
        rows = rows.replace({np.nan: None})
        numbers = {one: mysql.DOUBLE for one in ("score", "review_rate") if one in rows}
        rows.to_sql(
            name,
            driver,
            index=False,
            if_exists="replace",
            dtype={time: mysql.TIMESTAMP(fsp=6), **numbers},
        )
    driver.dispose()


def test_mariadb(mariadb, frames, expected):
    in_mariadb(mariadb, frames)
    assert_counted(mariadb, frames, expected)


def test_mariadb_is_only_read(mariadb, frames):
    in_mariadb(mariadb, frames)
    with closing(open_engine(mariadb, timeout=10)) as engine:
        for sql in ("CREATE TABLE q (a INT)", "DELETE FROM p"):
            with pytest.raises(SourceError, match="READ ONLY"), engine.snapshot():
                engine.rows(Statement(sql=sql), about="p")


def test_a_statement_of_mariadb_may_take_only_so_long(mariadb):
    slow = Statement(sql="SELECT sleep(5) FROM information_schema.tables")
    with (
        closing(open_engine(mariadb, timeout=0.5)) as engine,
        pytest.raises(SourceError, match=r"took longer to read than the 0\.5 s"),
        engine.snapshot(),
    ):
        engine.rows(slow, about="p")


def fill(run, frames, folder):
    for name, frame in zip(("p", "l"), frames, strict=True):
        frame.to_parquet(folder / f"{name}.parquet")
        run(f"DROP TABLE IF EXISTS default.{name}")
        run(
            f"CREATE TABLE default.{name} ENGINE = MergeTree ORDER BY tuple() AS "
            f"SELECT * FROM file('{folder / name}.parquet', Parquet)"
        )


def test_clickhouse_embedded(chdb_folder, frames, expected, tmp_path):
    import chdb

    connection = chdb.connect(str(chdb_folder / "db"))
    fill(connection.query, frames, tmp_path)
    connection.close()
    url = f"chdb:///{chdb_folder / 'db'}"
    assert_counted(url, frames, expected)
    with closing(open_engine(url, timeout=1)) as engine:
        assert is_verified(engine.dialect.name, engine.version())
        for sql in ("CREATE TABLE q (a Int8) ENGINE = Memory", "DROP TABLE p"):
            with pytest.raises(SourceError, match="readonly"):
                engine.rows(Statement(sql=sql), about="p")
        with pytest.raises(SourceError, match="took longer to read than the 1 s"):
            engine.rows(Statement(sql="SELECT count(*) FROM numbers(10000000000000)"), about="p")


def test_clickhouse_by_http(clickhouse_server, frames, expected, tmp_path):
    fill(clickhouse_server.run, frames, tmp_path)
    assert_counted(clickhouse_server.address(), frames, expected)
    asked = clickhouse_server.asked[-1]
    assert {asked["readonly"], asked["join_use_nulls"], asked["max_execution_time"]} == {
        "2",
        "1",
        "600",
    }
    with closing(open_engine(clickhouse_server.address(), timeout=2)) as engine:
        # Of the same version as the library, but nobody has asked a real server.
        assert not is_verified(engine.dialect.name, engine.version())
    with pytest.raises(SourceError, match="Authentication failed") as raised:
        open_engine(clickhouse_server.address("hunter2"), timeout=2).version()
    assert "hunter2" not in str(raised.value)


def test_what_is_not_installed_names_its_extra(monkeypatch):
    kind = EngineKind(
        name="x", title="X", example="x://", opens="no:thing", spoken="", extra="x", needs=("nope",)
    )
    with pytest.raises(ExtraMissingError, match=r"needs nope.*pip install 'pumonitor\[x\]'"):
        kind.open("x://", timeout=1)


def test_engines_of_other_packages_stand_beside_ours(monkeypatch):
    other = EngineKind(name="exasol", title="Exasol", example="", opens="", spoken="")
    monkeypatch.setattr(registry, "_of_others", lambda: {"exasol": other})
    assert engine_kind("exasol") is other
    assert {"postgresql", "exasol"} < set(engine_kinds())


def test_a_version_that_was_not_verified_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(verified, "VERIFIED", {"duckdb": ("2",)})
    database = tmp_path / "a.db"
    rows = {"id": [1], "made": ["2026-03-10T08:00:00Z"], "score": [0.5]}
    import pandas as pd

    driver = sqlalchemy.create_engine(f"sqlite:///{database}")
    frame = (
        pd.DataFrame(rows)
        .rename(columns={"id": "prediction id", "made": "scored_at"})
        .assign(version="v1", country="DE", Channel=1)
    )
    frame.to_sql("p", driver, index=False)
    driver.dispose()
    known = labels().head(0)
    with closing(opened(SqlTable(url=f"sqlite:///{database}", table="p"), known)) as source:
        assert source.counts(REQUEST).versions["unverified_engine"]["name"] == "sqlite"
        (doubt,) = source.describe().doubts
    assert "was not verified" in doubt
    assert "pumonitor engines verify" in doubt


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "postgresql", "mariadb", "chdb"])
def test_the_kit_agrees(engine, request):
    """All cases; `python -m pytest -m slow tests/engines`."""
    url = {"duckdb": "duckdb://", "sqlite": "sqlite://", "chdb": "chdb://"}.get(engine)
    if engine == "chdb":
        request.getfixturevalue("chdb_folder")
    found = verify(url or request.getfixturevalue(engine))
    assert [(one.name, one.detail) for one in found.cases if one.status == "differs"] == []
    assert found.is_verified


@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "postgresql", "mariadb", "chdb"])
def test_the_kit_agrees_on_a_few_cases(engine, request):
    """Cases that engines were seen to differ in."""
    url = {"duckdb": "duckdb://", "sqlite": "sqlite://", "chdb": "chdb://"}.get(engine)
    if engine == "chdb":
        request.getfixturevalue("chdb_folder")
    for only in (
        "labels a microsecond apart",
        "ties at cell edges",
        "text ids: blanks",
        "no predictions at all",
        "what rows are worth",
    ):
        found = verify(url or request.getfixturevalue(engine), only=only)
        assert [(one.name, one.detail) for one in found.cases if one.status == "differs"] == []
