"""What the engines of warehouses take from their drivers, without any driver."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace

import pyarrow as pa
import pytest
import sqlalchemy

from pumonitor.errors import ExtraMissingError, InputError
from pumonitor.scans import Parts, Scan
from pumonitor.sources.engines import registry
from pumonitor.sources.engines.bigquery import BigQueryBackend
from pumonitor.sources.engines.databricks import DatabricksBackend
from pumonitor.sources.engines.redshift import RedshiftBackend
from pumonitor.sources.engines.registry import EngineKind, engine_kind, open_engine
from pumonitor.sources.engines.snowflake import SnowflakeBackend
from pumonitor.sources.engines.sql_engine import SQLEngine
from pumonitor.sources.engines.trino import TrinoBackend
from pumonitor.sources.engines.verified import is_verified
from pumonitor.sources.engines.warehouse_engine import WarehouseEngine
from pumonitor.sources.windows.counts_query import Statement

NAMES = ("snowflake", "bigquery", "redshift", "trino", "databricks")


def column(name, kind, scale=None):
    return (name, kind, None, None, None, scale, True)


@pytest.mark.parametrize(
    ("backend", "kinds"),
    [
        (
            SnowflakeBackend(),
            {(0, 0): "integer", (0, 2): "number", (1, None): "number", (2, None): "text"}
            | {(3, None): "date", (6, None): "moment", (7, None): "moment", (8, None): "naive"}
            | {(13, None): "boolean", (5, None): "other"},
        ),
        (
            BigQueryBackend(),
            {("INTEGER", None): "integer", ("FLOAT", None): "number", ("STRING", None): "text"}
            | {("NUMERIC", None): "number", ("TIMESTAMP", None): "moment"}
            | {("DATETIME", None): "naive", ("DATE", None): "date", ("RECORD", None): "other"},
        ),
        (
            RedshiftBackend(),
            {(20, None): "integer", (700, None): "single", (701, None): "number"}
            | {(1043, None): "text", (1114, None): "naive", (1184, None): "moment"},
        ),
        (
            TrinoBackend(),
            {("bigint", None): "integer", ("real", None): "single", ("varchar(20)", None): "text"}
            | {("timestamp(6) with time zone", None): "moment", ("timestamp(3)", None): "naive"}
            | {("decimal(18, 0)", None): "integer", ("decimal(18, 2)", None): "number"}
            | {("array(varchar)", None): "other"},
        ),
        (
            DatabricksBackend(),
            {("bigint", None): "integer", ("float", None): "single", ("string", None): "text"}
            | {("timestamp", None): "moment", ("timestamp_ntz", None): "naive"}
            | {("decimal", 0): "integer", ("decimal", 4): "number"},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_types_are_read_as_what_they_hold(backend, kinds):
    described = [column("a", stored, scale) for stored, scale in kinds]
    found = [kind for _, kind in backend.column_types(described, [])]
    assert found == list(kinds.values())


def test_names_of_snowflake_are_shown_as_people_write_them():
    backend = SnowflakeBackend()
    assert backend.shown_name("SCORED_AT") == "scored_at"
    assert backend.shown_name("Scored At") == "Scored At"
    assert backend.path_of("risk.public.scored") == '"RISK"."PUBLIC"."SCORED"'
    assert backend.path_of("risk.Odd Name") == '"RISK"."Odd Name"'


def test_parts_of_a_name_are_quoted_apart():
    assert TrinoBackend().path_of("lake.fraud.scored") == '"lake"."fraud"."scored"'
    assert DatabricksBackend().path_of("risk.scored") == "`risk`.`scored`"
    assert BigQueryBackend().path_of("p-1.fraud.scored") == "`p-1.fraud.scored`"


@pytest.mark.parametrize(
    ("backend", "options"),
    [
        (
            SnowflakeBackend(),
            {
                "session_parameters": {
                    "TIMEZONE": "UTC",
                    "STATEMENT_TIMEOUT_IN_SECONDS": 90,
                    "QUERY_TAG": "pumonitor",
                }
            },
        ),
        (
            TrinoBackend(),
            {
                "timezone": "UTC",
                "source": "pumonitor",
                "session_properties": {"query_max_run_time": "90s"},
            },
        ),
        (
            DatabricksBackend(),
            {"session_configuration": {"TIMEZONE": "UTC", "STATEMENT_TIMEOUT": "90"}},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_sessions_are_in_utc_and_end_in_time(backend, options):
    url = sqlalchemy.make_url("x://host")
    assert backend.connect_to(url, timeout=90.2) == (url, options)


def error(**told):
    return SimpleNamespace(**told)


@pytest.mark.parametrize(
    ("backend", "late", "mistake", "neither"),
    [
        (
            SnowflakeBackend(),
            error(errno=630, sqlstate="57014"),
            error(errno=2003, sqlstate="42S02"),
            error(errno=3001, sqlstate="42501"),
        ),
        (
            RedshiftBackend(),
            error(args=({"C": "57014"},)),
            error(args=({"C": "42P01"},)),
            error(args=({"C": "42501"},)),
        ),
        (
            TrinoBackend(),
            error(error_name="EXCEEDED_TIME_LIMIT", error_type="INSUFFICIENT_RESOURCES"),
            error(error_name="TABLE_NOT_FOUND", error_type="USER_ERROR"),
            error(error_name="PERMISSION_DENIED", error_type="USER_ERROR"),
        ),
        (
            BigQueryBackend(),
            Exception("Operation timed out: Job timed out after 90s"),
            error(args=(error(code=404),)),
            error(args=(error(code=403),)),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_errors_are_told_apart(backend, late, mistake, neither):
    assert [backend.is_late(one) for one in (late, mistake, neither)] == [True, False, False]
    assert [backend.is_mistake(one, "") for one in (mistake, neither)] == [True, False]


def test_errors_of_databricks_go_by_their_names():
    backend = DatabricksBackend()
    assert backend.is_mistake(None, "[TABLE_OR_VIEW_NOT_FOUND] The table `a`.`b` cannot be found")
    assert not backend.is_mistake(None, "[INSUFFICIENT_PERMISSIONS] no SELECT on `a`.`b`")


def test_a_blank_at_the_end_is_as_it_was_stored():
    backend = RedshiftBackend()
    assert [backend.plain(one) for one in ("a \x01", "a", 3, None)] == ["a ", "a", 3, None]
    assert backend.version("PostgreSQL 8.0.2 on i686, Redshift 1.0.61395") == "1.0.61395"


@pytest.mark.parametrize("name", NAMES)
def test_an_engine_is_labeled_as_not_run_on_the_service(name):
    kind = engine_kind(name)
    assert isinstance(kind, EngineKind)
    assert not kind.was_run
    assert not is_verified(name, "1")


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_package_is_named_with_its_extra(name, monkeypatch):
    monkeypatch.setattr(registry, "find_spec", lambda _: None)
    with pytest.raises(ExtraMissingError, match=rf"pip install 'pumonitor\[{name}\]'") as told:
        open_engine(f"{name}://user:hidden-word@host/db", timeout=1)
    assert "hidden-word" not in str(told.value)


@pytest.mark.parametrize("backend", [TrinoBackend(), BigQueryBackend(), DatabricksBackend()])
def test_labels_that_make_a_statement_too_long_are_refused_with_what_to_do(backend, monkeypatch):
    engine = WarehouseEngine.__new__(WarehouseEngine)
    engine._backend, engine.dialect = backend, backend.dialect
    numbers = range(3)
    labels = pa.table(
        {"id": numbers, "known": numbers, "label": [1] * 3, "propensity": [None, 0.5, None]}
    )
    relation = engine.receive(labels, name="positives labels.csv", key="integer")
    asked = []
    monkeypatch.setattr(SQLEngine, "_answered", lambda *told: asked.append(told[2]) or ([], []))
    engine._answered(None, relation.sql, {}, "p")
    assert len(asked) == 1
    monkeypatch.setattr(type(backend.dialect), "longest_statement", len(asked[0]) - 1)
    with pytest.raises(InputError, match="load them into the warehouse, beside the predictions"):
        engine.expected(reading(asked[0]), about="p")
    with pytest.raises(InputError) as told:
        engine._answered(None, asked[0], {}, "p")
    assert str(told.value) == (
        "the 3 positives labels.csv are elsewhere than the predictions and written into "
        f"statements: they are too many for 64 of them, and one becomes {len(asked[0])} characters "
        f"long where {backend.dialect.name} takes {len(asked[0]) - 1}; load them into the "
        "warehouse, beside the predictions"
    )
    assert len(asked) == 1


def reading(sql, **values):
    return SimpleNamespace(statement=Statement(sql=sql, values=values))


class Answers:
    """A connection that answers whatever it is asked with one column."""

    def __init__(self, *rows):
        self._rows = rows
        self.asked = []

    def execute(self, sql, values=None):
        self.asked.append((str(sql), values))
        return SimpleNamespace(
            keys=lambda: ["plan"], fetchall=lambda: [(one,) for one in self._rows]
        )


# In the form that its documentation shows.
IO_PLAN = {
    "inputTableColumnInfos": [
        {"table": {}, "columnConstraints": [], "estimate": {"outputSizeInBytes": 1200.0}},
        {"table": {}, "columnConstraints": [], "estimate": {"outputSizeInBytes": 34.0}},
    ]
}


def test_a_plan_of_trino_tells_what_its_tables_give():
    connection = Answers(json.dumps(IO_PLAN))
    found = TrinoBackend().expected(connection, reading("SELECT :a", a=1))
    assert found == Scan(read=1234, is_most=False)
    assert connection.asked == [("EXPLAIN (TYPE IO, FORMAT JSON) SELECT :a", {"a": 1})]
    # Without statistics of one table the sum would be too small.
    IO_PLAN["inputTableColumnInfos"][0]["estimate"]["outputSizeInBytes"] = "NaN"
    assert TrinoBackend().expected(Answers(json.dumps(IO_PLAN)), reading("SELECT 1")) is None


def test_a_plan_of_databricks_tells_the_sizes_of_tables():
    text = (
        "== Optimized Logical Plan ==\n"
        "Join Inner, Statistics(sizeInBytes=64.0 TiB)\n"
        ":- Relation spark_catalog.risk.scored[id#1L,at#2] parquet, "
        "Statistics(sizeInBytes=1.5 KiB, rowCount=7)\n"
        "+- Relation spark_catalog.risk.labels[id#3L] parquet, Statistics(sizeInBytes=100.0 B)\n\n"
        "== Physical Plan ==\nFileScan of Relation x Statistics(sizeInBytes=9.0 B)\n"
    )
    connection = Answers(text)
    found = DatabricksBackend().expected(connection, reading("SELECT 1"))
    assert found == Scan(read=1636, is_most=False)
    assert connection.asked[0][0] == "EXPLAIN COST SELECT 1"
    assert DatabricksBackend().expected(Answers("== Physical Plan =="), reading("SELECT 1")) is None


def test_a_plan_of_redshift_tells_rows_and_their_width():
    lines = (
        "XN Hash Join DS_BCAST_INNER  (cost=0.01..9.99 rows=10 width=99)",
        "  ->  XN Seq Scan on scored  (cost=0.00..10.00 rows=1000 width=24)",
        "        Filter: (at >= '2026-03-10'::date)",
        "  ->  XN Seq Scan on labels  (cost=0.00..0.10 rows=10 width=16)",
    )
    found = RedshiftBackend().expected(Answers(*lines), reading("SELECT 1"))
    assert found == Scan(read=24_160, is_most=False)
    assert RedshiftBackend().expected(Answers("XN Result"), reading("SELECT 1")) is None


def test_a_dry_run_of_bigquery_has_the_values_of_a_query_and_its_own_colons():
    asked = []

    def query(sql, *, job_config):
        asked.append((sql, job_config))
        return SimpleNamespace(total_bytes_processed="77")

    module = ModuleType("google.cloud.bigquery")
    module.QueryJobConfig = lambda **given: given
    driver = SimpleNamespace(_client=SimpleNamespace(query=query))
    connection = SimpleNamespace(connection=SimpleNamespace(driver_connection=driver))
    statement = reading(r"SELECT '\:a' FROM p WHERE made < :end", end=7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "google.cloud.bigquery", module)
        patch.setitem(sys.modules, "google.cloud", ModuleType("google.cloud"))
        found = BigQueryBackend().expected(connection, statement)
    assert found == Scan(read=77)
    sql, config = asked[0]
    assert sql == "SELECT ':a' FROM p WHERE made < 7"
    assert config == {"dry_run": True, "use_query_cache": False}


def test_ids_and_bytes_are_what_drivers_tell():
    trino = TrinoBackend()
    trino.answered(SimpleNamespace(query_id="20261123_1"))
    trino.fetched(SimpleNamespace(stats={"processedBytes": 900, "physicalInputBytes": 1000}))
    trino.fetched(SimpleNamespace(stats={"processedBytes": 5}))
    assert trino.spent(None) == {"query_ids": "20261123_1", "bytes": "1005"}
    databricks = DatabricksBackend()
    databricks.answered(SimpleNamespace(query_id="01f0-aa"))
    assert databricks.spent(None) == {"query_ids": "01f0-aa"}
    # Of the window before nothing is left.
    trino.begins()
    assert trino.spent(None) == {}


@pytest.mark.parametrize(("answer", "told"), [(5437, {"query_ids": "5437"}), (-1, {})])
def test_redshift_is_asked_for_the_id_of_its_last_query(answer, told):
    asked = []

    def execute(sql):
        asked.append(sql)
        return SimpleNamespace(scalar=lambda: answer)

    assert RedshiftBackend().spent(SimpleNamespace(exec_driver_sql=execute)) == told
    assert asked == ["SELECT last_user_query_id()"]


def test_a_service_that_does_not_know_the_id_is_no_failure():
    def execute(sql):
        raise sqlalchemy.exc.ProgrammingError(sql, {}, Exception("no such function"))

    assert RedshiftBackend().spent(SimpleNamespace(exec_driver_sql=execute)) == {}


def test_a_plan_of_snowflake_tells_what_is_read():
    engine = sqlalchemy.create_engine("sqlite://")
    plan = (
        'SELECT \'TableScan\' AS operation, 365 AS "partitionsTotal", 3 AS "partitionsAssigned", '
        "1000 AS \"bytesAssigned\" UNION ALL SELECT 'TableScan', 10, 10, 234 "
        "UNION ALL SELECT 'Join', NULL, NULL, NULL"
    )
    with engine.connect() as connection:
        told = SimpleNamespace(execute=lambda *_: connection.execute(sqlalchemy.text(plan)))
        scan = SnowflakeBackend().expected(told, reading("SELECT 1"))
    engine.dispose()
    assert scan == Scan(read=1234, parts=(Parts(named="partitions", read=13, of=375),))
    assert scan.said == "1.23 kB at most, in 13 of 375 partitions"


def test_what_a_job_of_bigquery_has_read_is_added_up():
    backend = BigQueryBackend()
    for place in (1, 2):
        job = SimpleNamespace(job_id=f"job_{place}", total_bytes_processed=1_000)
        backend.answered(SimpleNamespace(query_job=job))
    assert (backend.query_ids, backend.bytes_read) == (["job_1", "job_2"], 2_000)
