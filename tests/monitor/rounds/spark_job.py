"""A Spark job that counts the shop's windows, and kills its driver where its arguments say.

`python spark_job.py CONFIGURATION COUNTS END [FATE]`: predictions and confirmations lie beside the
configuration, sets are appended to the folder COUNTS. FATE is the number of the statement before
which the driver dies, or "writing".
"""

import os
import signal
import sys
import threading
from datetime import datetime
from pathlib import Path

from pumonitor.sources.column_types.spark_dialect import Spark
from pumonitor.sources.counted.statement import table_definition
from pumonitor.sources.windows import counts_spark
from pumonitor.spark import counts


def main(configuration: str, out: str, end: str, fate: str = "") -> None:
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .getOrCreate()
    )
    driver = session.sparkContext._gateway.proc.pid

    def die() -> None:
        os.kill(driver, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    if fate.isdigit():
        answer, seen = counts_spark.SparkEngine._answer, []

        def dying(engine, statement, about):
            seen.append(statement)
            if len(seen) == int(fate):
                die()
            return answer(engine, statement, about)

        counts_spark.SparkEngine._answer = dying
    # A catalog that a driver holds is gone with it; the files of its tables are not.
    made = table_definition("made", segments=0, dialect=Spark())
    session.sql(f"{made} USING parquet LOCATION '{out}'")
    if fate == "writing":
        # What is being written lies in a folder of its own until all of it is there.
        def watch() -> None:
            while not any(Path(out).glob("_temporary/**/*.parquet")):
                pass
            die()

        threading.Thread(target=watch, daemon=True).start()
    place = Path(configuration).parent
    now = datetime.fromisoformat(end)
    counts(
        configuration,
        predictions=session.read.parquet(str(place / "predictions.parquet")),
        positives=session.read.parquet(str(place / "confirmations.parquet")),
        start=datetime.fromisoformat("2026-01-01T00:00:00+00:00"),
        now=now,
        table="made",
    )
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
