"""The count contract for Spark, whose start and statements take seconds: one slow test of all."""

from __future__ import annotations

from contextlib import closing

import polars as pl
import pytest

from tests.sources.monitored import REQUEST, assert_equal, labels, opened, predictions

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
