"""A job of Spark counts windows into a table, which says what the embedded engine counts."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.windows.collect import request_at
from pumonitor.monitor.windows.opening import open_frames
from pumonitor.sources.windows.counts_spark import SparkEngine
from pumonitor.spark import counts
from tests.sources.monitored import DAY, NOW, START, assert_table_equal, labels, predictions

pytestmark = [
    pytest.mark.slow,
    # Arrow reads pandas in a way that pandas announces to change.
    pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning"),
]

CONFIGURATION = """\
monitors:
  fraud:
    predictions:
      source: COUNTS
      id: prediction id
      time: scored_at
      score: score
      model_version: version
      segments: [country, Channel]
    positives:
      {source: COUNTS, id: case, known_at: confirmed_at, label: label, propensity: review_rate}
    window: 1d
    panes: [0d, 3d]
    maturity: 30d
    threshold: 0.7
"""


@pytest.fixture
def job(spark, tmp_path):
    """A configuration, the folder of the table, and the job of frames of pandas."""
    table = f"counts_of_{tmp_path.name.replace('-', '_')}"
    warehouse = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
    folder = Path(warehouse) / table
    path = tmp_path / "pumonitor.yaml"
    path.write_text(CONFIGURATION.replace("COUNTS", f"counts://{folder}/*.parquet"))

    def run(frames, **options):
        read = []
        for name, frame in zip(("predictions", "labels"), frames, strict=True):
            pl.from_pandas(frame).write_parquet(tmp_path / f"{name}.parquet")
            read.append(spark.read.parquet(str(tmp_path / f"{name}.parquet")))
        return counts(
            path,
            predictions=read[0],
            positives=read[1],
            start=START,
            end=START + 2 * DAY,
            now=NOW,
            table=table,
            **options,
        )

    run.monitor = read_configuration(path).configuration.monitors["fraud"]
    run.address = f"counts://{folder}/*.parquet"
    run.folder = folder
    yield run
    spark.sql(f"DROP TABLE IF EXISTS {table}")


def read(job, window):
    with closing(open_frames(job.monitor, job.address, job.address)) as source:
        return source.counts(request_at(job.monitor, window, NOW))


def test_a_table_says_what_the_embedded_engine_counts(job, monkeypatch):
    answers = []
    arrow = SparkEngine._arrow
    monkeypatch.setattr(
        SparkEngine,
        "_arrow",
        staticmethod(lambda frame: answers.append(arrow(frame)) or answers[-1]),
    )
    repeated = predictions(text_ids=True), labels(text_ids=True)
    windows = job(repeated)
    assert [window.start for window in windows] == [START, START + DAY]
    # Neither rows nor groups come here, and a set is one file: it is there or it is not.
    assert max(answer.num_rows for answer in answers) <= 2
    assert len(list(job.folder.glob("*.parquet"))) == 2
    with closing(open_frames(job.monitor, *repeated)) as source:
        for window in windows:
            expected = source.counts(request_at(job.monitor, window, NOW))
            assert_table_equal(read(job, window), expected)
            assert len(expected.rows) > 100
    # A job that is run again passes over what is there.
    assert job(repeated) == []
    assert len(list(job.folder.glob("*.parquet"))) == 2
    # Where no id is repeated another statement counts; the set that was counted last stands.
    once = repeated[0].drop_duplicates("prediction id"), repeated[1]
    assert job(once, again=True) == windows
    with closing(open_frames(job.monitor, *once)) as source:
        for window in windows:
            assert_table_equal(
                read(job, window), source.counts(request_at(job.monitor, window, NOW))
            )


def test_rows_that_cannot_be_used_are_told_by_the_job_and_to_the_monitor(job):
    frames = predictions(), labels()
    frames[1].loc[:2, "label"] = 7
    with pytest.raises(InputError, match=r"rows of positives have a wrong label"):
        job(frames)
    window = next(iter(job.monitor.windows.between(START, START + DAY)))
    with pytest.raises(InputError, match=r"rows of positives have a wrong label"):
        read(job, window)
    # Repaired, they are counted by the same job.
    assert len(job((predictions(), labels()))) == 2
    assert read(job, window).found.predictions > 0
