"""The same counts by Spark: `python -m benchmarks.monitoring.spark --folder FOLDER`.

Reads the files that `python -m benchmarks.monitoring.backfill --folder FOLDER` has written, counts
some of their days by Spark (`pyspark`, on this machine) and by DuckDB, and compares every number.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.monitoring.backfill import FIRST
from benchmarks.monitoring.small_java import java_home
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.windows.opening import open_monitor_source
from pumonitor.ports import CountRequest, PredictionSource, Window, WindowCounts
from pumonitor.sources.column_types.monitored_tables import LabelColumns, PredictionColumns
from pumonitor.sources.opening import open_source

__all__ = ["main"]


def main() -> None:
    """Count, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--days", type=int, default=100, help="that there are")
    parser.add_argument("--every", type=int, default=10, help="count each so many-th of them")
    options = parser.parse_args()
    monitor = read_configuration(options.folder / "pumonitor.yaml").configuration.monitors[
        "card-fraud"
    ]
    by_duckdb = open_monitor_source(monitor)
    by_spark = open_in_spark(options.folder)
    rows, equal, seconds = 0, 0, {"DuckDB": 0.0, "Spark": 0.0}
    days = range(0, options.days, options.every)
    for day in days:
        start = FIRST + timedelta(days=day)
        window = Window(start=start, end=start + timedelta(days=1), index=day)
        request = CountRequest(
            window=window,
            as_of=tuple(window.end + timedelta(days=age) for age in (0, 5, 10)),
            threshold=monitor.threshold,
            delay_edges=(86_400.0, 5 * 86_400.0, 10 * 86_400.0),
        )
        counts = []
        for name, source in (("DuckDB", by_duckdb), ("Spark", by_spark)):
            begun = time.perf_counter()
            counts.append(source.counts(request))
            seconds[name] += time.perf_counter() - begun
        rows += int(counts[0].rows.sum())
        equal += is_equal(*counts)
    print(f"{equal} of {len(days)} days equal in every count, {rows:,} rows")
    for name, took in seconds.items():
        print(f"{name}: {took / len(days):.2f} s a day")
    by_spark.close()
    by_duckdb.close()


def open_in_spark(folder: Path) -> PredictionSource:
    """The same tables as Spark frames."""
    from pyspark.sql import SparkSession

    os.environ["JAVA_HOME"] = str(java_home(folder))
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.memory", "3g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    frames = [
        session.read.parquet(str(folder / name / "*.parquet"))
        for name in ("predictions", "confirmations")
    ]
    predictions, positives = frames
    return open_source(
        predictions,
        PredictionColumns(id="id", time="scored_at", score="score"),
        positives,
        LabelColumns(id="id", known_at="confirmed_at"),
    )


def is_equal(one: WindowCounts, other: WindowCounts) -> bool:
    """Whether two engines counted the same to the last digit."""
    return all(
        _is_same(getattr(one, field.name), getattr(other, field.name))
        for field in fields(WindowCounts)
        # What was read, by which engine, in how many seconds.
        if field.name != "versions"
    )


def _is_same(left: Any, right: Any) -> bool:
    if isinstance(left, Mapping):
        return left.keys() == right.keys() and all(_is_same(left[key], right[key]) for key in left)
    if isinstance(left, np.ndarray):
        return np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
    return bool(left == right)


if __name__ == "__main__":
    main()
