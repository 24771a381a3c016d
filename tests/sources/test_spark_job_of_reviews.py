"""A job of Spark counts windows of a monitor with reviews into a table."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.windows.collect import request_at
from pumonitor.monitor.windows.opening import open_frames
from pumonitor.spark import counts
from tests.sources.monitored import DAY, NOW, START, assert_equal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Series.values returning:DeprecationWarning"),
]

CONFIGURATION = """\
monitors:
  fraud:
    predictions:
      source: COUNTS
      id: id
      time: made
      score: score
      action: {column: action, stopped: [declined]}
    positives: {source: COUNTS, id: id, known_at: known}
    reviews:
      source: COUNTS
      id: id
      verdict: verdict
      decided_at: decided
      chosen_by: reason
      ranked_by: other
      blocks: true
    window: 1d
    panes: [0d, 3d]
    maturity: 30d
    threshold: 0.5
"""


def frames():
    rng, rows = np.random.default_rng(4), 400
    made = START + pd.to_timedelta(rng.integers(0, 2 * 86_400, rows), unit="s")
    predictions = pd.DataFrame({"id": np.arange(rows), "made": made, "score": rng.random(rows)})
    predictions["other"] = rng.beta(0.2, 1, rows)
    predictions["action"] = np.where(np.arange(rows) % 9, "passed", "declined")
    some = np.arange(0, rows, 7)
    known = pd.DataFrame({"id": some, "known": made[some] + pd.Timedelta(days=2)})
    some = np.arange(0, rows, 3)
    reviews = pd.DataFrame({"id": some, "decided": made[some] + pd.Timedelta(hours=5)})
    reviews["verdict"] = some % 2
    reviews["reason"] = np.array(["score", "audit", "large amount"])[some % 4 % 3]
    return predictions, known, reviews


def test_a_table_says_what_the_embedded_engine_counts(spark, tmp_path):
    table = f"reviewed_counts_of_{tmp_path.name.replace('-', '_')}"
    warehouse = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
    address = f"counts://{Path(warehouse) / table}/*.parquet"
    path = tmp_path / "pumonitor.yaml"
    path.write_text(CONFIGURATION.replace("COUNTS", address))
    monitor = read_configuration(path).configuration.monitors["fraud"]
    in_spark = []
    for number, frame in enumerate(frames()):
        frame.to_parquet(tmp_path / f"{number}.parquet", coerce_timestamps="us")
        in_spark.append(spark.read.parquet(str(tmp_path / f"{number}.parquet")))
    job = {"start": START, "end": START + 2 * DAY, "now": NOW, "table": table}
    with pytest.raises(InputError, match="fraud has 1 queues of reviews, got 0 tables of them"):
        counts(path, predictions=in_spark[0], positives=in_spark[1], **job)

    windows = counts(
        path, predictions=in_spark[0], positives=in_spark[1], reviews=in_spark[2], **job
    )

    made, known, reviews = frames()
    with (
        closing(open_frames(monitor, made, known, reviewed=[reviews])) as rows,
        closing(open_frames(monitor, address, address)) as counted,
    ):
        for window in windows:
            request = request_at(monitor, window, NOW)
            expected, found = rows.counts(request), counted.counts(request)
            assert_equal(found, expected)
            assert found.rules == expected.rules == ("large amount",)
    assert len(windows) == 2
    spark.sql(f"DROP TABLE IF EXISTS {table}")
