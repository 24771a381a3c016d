"""SQL of warehouses that cannot be run here: parsed in their dialect, and run by a stand-in.

What these tests show and what they cannot is told in `translated.py`.
"""

from __future__ import annotations

import re
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sqlalchemy
import sqlglot
from sqlglot.dialects import bigquery, redshift
from sqlglot.tokens import TokenType

from pumonitor.errors import InputError
from pumonitor.ports import SampleRequest
from pumonitor.sources.column_types.monitored_tables import SqlTable
from pumonitor.sources.column_types.time_columns import microseconds
from pumonitor.sources.column_types.warehouses import WAREHOUSES
from pumonitor.sources.engines import registry
from pumonitor.sources.opening import open_source
from tests.sources.monitored import (
    DRAW,
    LABELS,
    NOW,
    PREDICTIONS,
    REQUEST,
    WITH_CHANNELS,
    assert_equal,
    labels,
    opened,
    predictions,
)
from tests.sources.translated import Translated, translated

pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")

# Functions of each dialect's statements; each was looked up in the documentation of the service.
COMMON = {
    "abs",
    "coalesce",
    "concat",
    "count",
    "floor",
    "length",
    "max",
    "min",
    "mod",
    "sum",
    "substr",
}
COMMON |= {"first_value", "lag", "row_number"}
FUNCTIONS = {
    # docs.snowflake.com/en/sql-reference/functions-all
    "snowflake": {
        "collate",
        "date_part",
        "number",
        "regexp_like",
        "regexp_substr",
        "sha2",
        "to_char",
        "to_timestamp_ntz",
        "to_timestamp_tz",
        "try_cast",
        "try_to_timestamp_ntz",
    },
    # cloud.google.com/bigquery/docs/reference/standard-sql/functions-all
    "bigquery": {
        "collate",
        "div",
        "is_inf",
        "from_hex",
        "is_nan",
        "nullif",
        "regexp_contains",
        "regexp_extract",
        "safe_cast",
        "safe_convert_bytes_to_string",
        "safe_offset",
        "sha256",
        "split",
        "timestamp",
        "to_hex",
        "unix_micros",
        "unix_seconds",
        "unnest",
    },
    # docs.aws.amazon.com/redshift/latest/dg/c_SQL_functions.html
    "redshift": {
        "ascii",
        "chr",
        "collate",
        "datediff",
        "nullif",
        "regexp_substr",
        "right",
        "rtrim",
        "sha2",
        "to_char",
        "try_cast",
        "varchar",
    },
    # trino.io/docs/current/functions.html
    "trino": {
        "date_diff",
        "date_trunc",
        "from_hex",
        "from_utf8",
        "is_finite",
        "lower",
        "nullif",
        "regexp_extract",
        "regexp_like",
        "rpad",
        "sha256",
        "split",
        "split_part",
        "timestamp",
        "to_hex",
        "to_utf8",
        "try_cast",
        "unnest",
    },
    # docs.databricks.com/sql/language-manual/sql-ref-functions-builtin
    "databricks": {
        "decode",
        "explode",
        "nullif",
        "regexp_replace",
        "sha2",
        "split",
        "split_part",
        "timestampdiff",
        "try_cast",
        "unhex",
        "unix_micros",
    },
}
NO_FUNCTIONS = {"as", "and", "by", "case", "cast", "else", "exists", "from", "in", "not", "or"}
NO_FUNCTIONS |= {"join", "over", "pieces", "select", "then", "when", "where"}


@pytest.fixture(params=sorted(WAREHOUSES))
def warehouse(request):
    return request.param


@pytest.fixture
def stand_in(monkeypatch):
    """Opens a source whose tables are in a warehouse that DuckDB stands in for."""
    engines = []

    @contextmanager
    def make(name, made, known, made_columns=PREDICTIONS, known_columns=LABELS, *, travels=False):
        engine = Translated(name, {"predictions": made, "labels": known})
        engines.append(engine)
        monkeypatch.setattr("pumonitor.sources.opening.open_engine", lambda *_, **__: engine)
        places = (SqlTable(url=f"{name}://x", table=one) for one in ("predictions", "labels"))
        made_place, known_place = next(places), known if travels else next(places)
        source = open_source(
            made_place, made_columns, known_place, known_columns, clock=lambda: NOW
        )
        with closing(source):
            yield source, engine

    yield make
    # What was asked was parsed as of the dialect, to be translated; it calls its functions alone.
    for engine in engines:
        assert engine.asked
        for sql in set(engine.asked):
            assert_is_of(engine.dialect.name, sql)


def assert_is_of(dialect, sql):
    # Nothing in it is taken for a parameter on the way to the driver.
    assert sqlalchemy.text(sql).compile().params == {}
    tokens = sqlglot.tokenize(sql, read=dialect)
    called = {
        one.text.lower()
        for one, after in pairwise(tokens)
        if after.token_type is TokenType.L_PAREN
        and one.token_type not in {TokenType.STRING, TokenType.NUMBER}
        and re.fullmatch(r"[A-Za-z]\w*", one.text)
    }
    # The names of our own parts are followed by brackets nowhere, those of lists are.
    assert called - NO_FUNCTIONS <= COMMON | FUNCTIONS[dialect], dialect


@pytest.mark.parametrize(
    "text_ids",
    [
        pytest.param(True, id="text"),
        pytest.param(False, id="whole numbers", marks=pytest.mark.slow),
    ],
)
def test_counts_are_those_of_the_embedded_engine(stand_in, warehouse, text_ids):
    made, known = predictions(text_ids=text_ids), labels(text_ids=text_ids)
    with closing(opened(made, known)) as source:
        counts, span, look = source.counts(REQUEST), source.span(), source.describe()
    with stand_in(warehouse, made, known) as (source, _):
        assert_equal(source.counts(REQUEST), counts)
        assert source.span() == span
        found = source.describe()
    assert found.delay_quantiles == look.delay_quantiles
    assert (found.predictions, found.labels) == (look.predictions, look.labels)


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param("text", marks=pytest.mark.slow),
        "whole numbers",
        pytest.param("odd text", marks=pytest.mark.slow),
    ],
)
def test_labels_from_elsewhere_travel(stand_in, warehouse, ids):
    is_text = ids != "whole numbers"
    made, known = predictions(text_ids=is_text), labels(text_ids=is_text)
    if ids == "odd text":
        for frame, column in ((made, "prediction id"), (known, "case")):
            frame[column] = [f"{one} é:x,/'%s\\😀" for one in frame[column]]
    with closing(opened(made, known)) as source:
        counts, look = source.counts(REQUEST), source.describe()
    with stand_in(warehouse, made, known, travels=True) as (source, _):
        assert_equal(source.counts(REQUEST), counts)
        found = source.describe()
    assert found.delay_quantiles == look.delay_quantiles
    assert (found.predictions, found.labels) == (look.predictions, look.labels)


def test_no_labels_at_all_travel(stand_in, warehouse):
    made, known = predictions(text_ids=True), labels(text_ids=True).head(0)
    with closing(opened(made, known)) as source:
        counts = source.counts(REQUEST)
    with stand_in(warehouse, made, known, travels=True) as (source, _):
        assert_equal(source.counts(REQUEST), counts)


def stored_otherwise(kind):
    """Tables whose times are stored in another way, and how their columns are named then."""
    made, known = predictions(text_ids=True), labels(text_ids=True)
    columns, label_columns = PREDICTIONS, LABELS
    for frame, name in ((made, "scored_at"), (known, "confirmed_at")):
        times = frame[name]
        if kind == "whole numbers":
            frame[name] = [microseconds(one.to_pydatetime()) for one in times]
        elif kind == "milliseconds":
            frame[name] = [microseconds(one.to_pydatetime()) // 1000 for one in times]
        elif kind == "nanoseconds":
            frame[name] = [microseconds(one.to_pydatetime()) * 1000 + 999 for one in times]
        elif kind == "text":
            frame[name] = [written(one, place) for place, one in enumerate(times)]
        elif kind == "date":
            frame[name] = times.dt.tz_convert("Europe/Berlin").dt.date
        else:
            frame[name] = times.dt.tz_convert("Europe/Berlin").dt.tz_localize(None)
    units = {"whole numbers": "us", "milliseconds": "ms", "nanoseconds": "ns"}
    if kind in units:
        columns = replace(columns, time_unit=units[kind])
        label_columns = replace(label_columns, time_unit=units[kind])
    else:
        columns = replace(columns, time_zone="Europe/Berlin")
        label_columns = replace(label_columns, time_zone="Europe/Berlin")
    return made, columns, known, label_columns


def written(moment, place):
    """ISO 8601 in all the ways in which it is written."""
    if place % 5 == 0:
        return moment.tz_convert("Europe/Berlin").tz_localize(None).isoformat(sep=" ")
    text = moment.tz_convert(["UTC", "Asia/Kathmandu", "America/New_York"][place % 3]).isoformat()
    if place % 7 == 0:
        text = text.replace("+00:00", "Z")
    if place % 4 == 0:
        text = re.sub(r"(\d\d):(\d\d)$", r"\1\2", text)
    return text


@pytest.mark.parametrize(
    "kind",
    [
        "local",
        "date",
        "text",
        "nanoseconds",
        # Multiplied, or as they are: nothing of it differs between dialects.
        pytest.param("milliseconds", marks=pytest.mark.slow),
        pytest.param("whole numbers", marks=pytest.mark.slow),
    ],
)
def test_every_kind_of_times(stand_in, warehouse, kind):
    if warehouse == "databricks" and kind == "text":
        pytest.skip("Spark's own reading of text is run on Spark, in test_spark_counts.py")
    made, columns, known, label_columns = stored_otherwise(kind)
    source = open_source(made, columns, known, label_columns, clock=lambda: NOW)
    with closing(source):
        counts = source.counts(REQUEST)
    with stand_in(warehouse, made, known, columns, label_columns) as (source, _):
        assert_equal(source.counts(REQUEST), counts)


def test_a_date_is_its_midnight_in_every_window():
    # This window ends an hour after a midnight of the zone: that day belongs to it.
    made, columns, known, label_columns = stored_otherwise("date")
    midnights = made.assign(scored_at=pd.to_datetime(made["scored_at"]))
    counts = []
    for one in (made, midnights):
        source = open_source(one, columns, known, label_columns, clock=lambda: NOW)
        with closing(source):
            counts.append(source.counts(REQUEST))
    assert counts[0].found.predictions > 300
    assert_equal(*counts)


@pytest.mark.parametrize("moment", ["1969-07-20 20:17:40.000001", "9999-12-31 23:59:59.999999"])
@pytest.mark.parametrize("kind", ["moment", "naive", "text"])
def test_microseconds_far_from_today(warehouse, moment, kind):
    dialect = WAREHOUSES[warehouse]()
    stored = {"moment": f"TIMESTAMPTZ '{moment}+00:00'", "naive": f"TIMESTAMP '{moment}'"}
    engine = Translated(warehouse, {})
    engine._duck.execute(f"CREATE TABLE t AS SELECT {stored.get(kind, repr(moment))} AS at")
    clock = dialect.clock_without_offset("at") if kind == "text" else dialect.clock("at", kind)
    if warehouse == "databricks" and kind == "text":
        pytest.skip("Spark's own reading of text is run on Spark")
    assert found(engine, clock) == [
        (microseconds(datetime.fromisoformat(moment).replace(tzinfo=UTC)),)
    ]


@pytest.mark.parametrize(
    "text",
    ["2026-02-30 08:30:00Z", "2026-01-31", "31.01.2026", "", "2026-01-31T08:30:00+01:00 ", "1767"],
)
def test_what_is_no_moment_is_null(warehouse, text):
    if warehouse == "databricks":
        pytest.skip("Spark's own reading of text is run on Spark")
    clock = WAREHOUSES[warehouse]().clock_with_offset("at")
    engine = Translated(warehouse, {})
    engine._duck.execute("CREATE TABLE t AS SELECT ? AS at", [text])
    assert found(engine, clock) == [(None,)]


def found(engine, expression):
    sql = translated(f"SELECT {expression} FROM t", engine.dialect.name)  # noqa: S608 (ours)
    return engine._duck.execute(sql).fetchall()


def test_samples_draws_and_bins(stand_in, warehouse):
    made, known = predictions(text_ids=True), labels(text_ids=True)
    made["Channel"] = made["Channel"].astype(float)
    sample = SampleRequest(window=REQUEST.window, as_of=REQUEST.as_of, rows=50, labels=40)
    with closing(open_source(made, WITH_CHANNELS, known, LABELS, clock=lambda: NOW)) as source:
        expected = source.sample(sample), source.draw(DRAW), source.bins(DRAW)
    with stand_in(warehouse, made, known, WITH_CHANNELS) as (source, _):
        found = source.sample(sample)
        assert source.draw(DRAW) == expected[1]
        assert source.bins(DRAW) == expected[2]
    assert len(expected[1]) > 20
    assert found.key.tolist() == expected[0].key.tolist()
    assert found.history.tolist() == expected[0].history.tolist()
    assert found.features["Channel"].tolist() == expected[0].features["Channel"].tolist()


def test_rows_that_cannot_be_used_are_shown(stand_in, warehouse):
    made, known = predictions(text_ids=True), labels(text_ids=True)
    made["score"] = made["score"].where(np.arange(len(made)) % 50 > 0, np.inf)
    made.loc[made.index % 70 == 1, "score"] = 1.5
    with closing(opened(made, known)) as source, pytest.raises(InputError) as expected:
        source.counts(REQUEST)
    with stand_in(warehouse, made, known) as (source, _), pytest.raises(InputError) as found:
        source.counts(REQUEST)
    assert "infinite or NaN" in str(found.value)
    told = str(expected.value).replace("the data frame of predictions", "predictions predictions")
    assert re.sub("'[^']*' \\(", "(", str(found.value)) == re.sub("'[^']*' \\(", "(", told)


def test_ids_that_differ_in_trailing_blanks_or_case_alone_are_different(stand_in, warehouse):
    made = predictions(text_ids=True).drop_duplicates("prediction id").head(400)
    ids = [f"id{place // 3}" + ["", " ", "X"][place % 3] for place in range(400)]
    made["prediction id"] = ids
    known = pd.DataFrame(
        {
            "case": ids[:60],
            "confirmed_at": made["scored_at"].to_numpy()[:60],
            "label": 1,
            "review_rate": 0.5,
        }
    )
    known["confirmed_at"] = made["scored_at"].array[:60]
    with closing(opened(made, known)) as source:
        expected = source.counts(REQUEST)
    assert expected.found.duplicate_predictions == 0
    with stand_in(warehouse, made, known) as (source, _):
        assert_equal(source.counts(REQUEST), expected)


@pytest.mark.parametrize("dialect", [bigquery.BigQuery, redshift.Redshift])
def test_no_name_of_ours_is_reserved(stand_in, dialect):
    name = dialect.__name__.lower()
    reserved = {one.lower() for one in dialect.Generator.RESERVED_KEYWORDS}
    with stand_in(name, predictions(), labels()) as (source, engine):
        source.counts(REQUEST)
        source.describe()
    for sql in engine.asked:
        tree = sqlglot.parse_one(sql, dialect=name)
        names = {one.name for one in tree.find_all(sqlglot.exp.Identifier) if not one.quoted}
        assert not names & reserved
        assert {"stored", "timed"} <= names or "pumonitor_window" not in sql


def test_the_name_of_each_is_that_of_its_dialect_in_sqlglot(warehouse):
    assert WAREHOUSES[warehouse].name == warehouse
    assert registry.scheme_of(f"{warehouse}://x") == warehouse
