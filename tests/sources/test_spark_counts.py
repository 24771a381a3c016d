"""The count contract for Spark, whose start and statements take seconds: one slow test of all."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from pumonitor.ports import Window
from pumonitor.sources.column_types.warehouses.databricks import Databricks
from pumonitor.sources.windows.counts_query import Statement
from pumonitor.sources.windows.counts_spark import SparkEngine
from pumonitor.sources.windows.unmatched_labels import _TRIED
from tests.sources.monitored import DAY, REQUEST, assert_equal, labels, opened, predictions

# Arrow reads pandas in a way that pandas announces to change.
pytestmark = pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning")


@pytest.fixture(scope="module")
def frames():
    return predictions(text_ids=True), labels(text_ids=True)


@pytest.fixture(scope="module")
def spark_frames(frames, spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("frames")
    read = []
    for name, frame in zip(("predictions", "labels"), frames, strict=True):
        pl.from_pandas(frame).write_parquet(folder / f"{name}.parquet")
        read.append(spark.read.parquet(str(folder / f"{name}.parquet")))
    return read


@pytest.mark.slow
def test_spark_counts_as_the_embedded_engine(frames, spark_frames, spark):
    with closing(opened(*frames)) as source:
        expected, look = source.counts(REQUEST), source.describe()
    views = len(spark.catalog.listTables())
    with closing(opened(*spark_frames)) as source:
        assert_equal(source.counts(REQUEST), expected)
        found = source.describe()
    assert found.engine == "pyspark"
    assert (found.first, found.last) == (look.first, look.last)
    assert (found.predictions, found.labels) == (look.predictions, look.labels)
    assert found.delay_quantiles == look.delay_quantiles
    # Labels from elsewhere travel to Spark.
    with closing(opened(spark_frames[0], frames[1])) as source:
        assert_equal(source.counts(REQUEST), expected)
    # What was registered is forgotten, and the session goes on.
    assert len(spark.catalog.listTables()) == views


@pytest.mark.slow
def test_windows_of_a_round_are_one_job_that_leaves_nothing_behind(
    frames, spark_frames, spark, monkeypatch
):
    requests = [
        replace(
            REQUEST,
            window=Window(start=start, end=start + DAY, index=day),
            as_of=(start + DAY, start + (3 + day) * DAY)[: 1 + day],
        )
        for day, start in enumerate((REQUEST.window.start, REQUEST.window.end))
    ]
    with closing(opened(*frames)) as source:
        expected = list(source.counts_of_many(requests))
    asked = []
    spark.conf.set("spark.sql.shuffle.partitions", "200")
    with closing(opened(*spark_frames)) as source:
        engine = source._engine
        answer = engine._answer
        monkeypatch.setattr(
            engine,
            "_answer",
            lambda statement, about: asked.append(statement) or answer(statement, about),
        )
        for found, wanted in zip(source.counts_of_many(requests), expected, strict=True):
            assert_equal(found, wanted)
    # For labels, for rows, for different ids, and once more for all as ids stand twice there.
    assert len(asked) == 4
    assert spark.conf.get("spark.sql.shuffle.partitions") == "200"
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0


def noting(arrow, answers):
    def noted(frame):
        answers.append(arrow(frame))
        return answers[-1]

    return noted


@pytest.mark.slow
@pytest.mark.parametrize("text_ids", [False, True])
def test_rows_that_no_label_is_about_never_leave_spark(spark, tmp_path, monkeypatch, text_ids):
    frames = [
        predictions(text_ids=text_ids).drop_duplicates("prediction id"),
        labels(text_ids=text_ids),
    ]
    read = []
    for name, frame in zip(("predictions", "labels"), frames, strict=True):
        pl.from_pandas(frame).write_parquet(tmp_path / f"{name}.parquet")
        read.append(spark.read.parquet(str(tmp_path / f"{name}.parquet")))
    with closing(opened(*frames)) as source:
        expected = source.counts(REQUEST)
    setting = "spark.sql.codegen.aggregate.fastHashMap.capacityBit"
    views = len(spark.catalog.listTables())
    for labels_of in (read[1], frames[1]):
        answers = []
        with closing(opened(read[0], labels_of)) as source:
            engine = source._engine
            monkeypatch.setattr(engine, "_arrow", noting(engine._arrow, answers))
            assert_equal(source.counts(REQUEST), expected)
        # Labels, rows, different ids, and ids that were looked for among all predictions; then
        # numbers and examples of labels that no prediction has.
        assert max(answer.num_rows for answer in answers[4:]) <= _TRIED
        by_themselves = sum(code < 0 for code in answers[1]["code"].to_pylist())
        assert 0 < by_themselves <= answers[0].num_rows
        assert answers[2]["n"].to_pylist() == [expected.found.predictions]
        assert spark.conf.get(setting, None) is None
    assert len(spark.catalog.listTables()) == views


class Refusing:
    """Settings of a session of which a server lets only one be read, and none be set."""

    def get(self, name, *_):
        if name == "spark.sql.shuffle.partitions":
            return "200"
        raise PySparkException(f"{name} is not available")

    def set(self, name, _value):
        raise PySparkException(f"{name} is not available")

    def unset(self, name):
        self.set(name, None)


def test_a_session_that_lets_nothing_be_set_is_asked_all_the_same():
    engine = SparkEngine(SimpleNamespace(conf=Refusing()))
    with engine._set_for(Statement(sql="SELECT 1")):
        pass


@pytest.mark.parametrize("key", ["text", "integer"])
def test_labels_that_databricks_gets_in_a_statement(spark, key):
    """A SQL warehouse is not at hand; its SQL is Spark's."""
    ids = ["a-1", "", "é:x,/'%s\\😀", "it's"] if key == "text" else [0, -5, 2**62, 7]
    labels = pa.table(
        {
            "id": ids,
            "known": pa.array([1, -2, None, 2**53 + 1], pa.int64()),
            "label": [1, -1, 0, 1],
            "propensity": [None, 0.1, 5e-324, 1.0],
        }
    )
    for rows in (labels, labels.slice(0, 1), labels.slice(0, 0)):
        written = Databricks().labels_written(rows, key=key)
        found = spark.sql(f"SELECT * FROM {written} AS labels")  # noqa: S608 (ours)
        assert found.columns == rows.column_names
        assert [tuple(row) for row in found.collect()] == [
            tuple(row.values()) for row in rows.to_pylist()
        ]
