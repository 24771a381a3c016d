"""Ratios of time and memory, each measured in one run: `python -m benchmarks.speed`.

Peers are timed on the same arrays, in turn with ours, so that a machine whose speed drifts
drifts for both. Memory is the peak of a process of its own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Rows = tuple[NDArray[np.int8], NDArray[np.float64]]

CLASS_PRIOR = 0.02


def rows_of(count: int) -> Rows:
    """Labels (1% labeled of 2% positives) and scores without ties."""
    rng = np.random.default_rng(0)
    is_positive = rng.random(count) < CLASS_PRIOR
    labels = (is_positive & (rng.random(count) < 0.5)).astype(np.int8)
    return labels, rng.normal(1.5 * is_positive)


def in_turn(first: Callable[[], object], second: Callable[[], object], runs: int) -> list[float]:
    """Ratio of the times of two functions, pair by pair."""
    ratios = []
    for _ in range(runs):
        started = time.perf_counter()
        first()
        between = time.perf_counter()
        second()
        ratios.append((between - started) / (time.perf_counter() - between))
        print(
            f"    {between - started:7.3f} s against {time.perf_counter() - between:7.3f} s",
            flush=True,
        )
    return ratios


def compare(name: str, limit: float, ratios: list[float]) -> None:
    """Print the median ratio beside the limit it is held to."""
    median = statistics.median(ratios)
    verdict = "held" if median <= limit else "MISSED"
    print(
        f"  {name}: ratio {median:.4f} (min {min(ratios):.4f}, max {max(ratios):.4f}), "
        f"limit {limit:.4f}: {verdict}",
        flush=True,
    )


_MEMORY_SCRIPT = """
import json, resource, sys, threading
import numpy as np
import pumonitor
from pumonitor.evaluation import evaluate
from benchmarks.speed import CLASS_PRIOR, rows_of
evaluate([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1], class_prior=0.6)
labels, scores = rows_of(int(sys.argv[1]))
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
before, peak, done = resident(), [0], threading.Event()
def watch():
    while not done.is_set():
        peak[0] = max(peak[0], resident())
        done.wait(0.002)
watcher = threading.Thread(target=watch)
watcher.start()
evaluate(labels, scores, threshold=2.0, class_prior=CLASS_PRIOR)
done.set()
watcher.join()
arrays = labels.nbytes + scores.nbytes
print(json.dumps({"arrays": arrays, "added": max(peak[0] - before, 0)}))
"""


def memory_ratio(count: int) -> float:
    """Peak memory of an evaluation, input arrays included, over the size of the arrays."""
    found = subprocess.run(
        [sys.executable, "-c", _MEMORY_SCRIPT, str(count)],
        capture_output=True,
        text=True,
        check=True,
    )
    figures = json.loads(found.stdout)
    print(
        f"    arrays {figures['arrays'] / 1e6:.0f} MB, "
        f"{figures['added'] / 1e6:.0f} MB more at the peak"
    )
    return float((figures["arrays"] + figures["added"]) / figures["arrays"])


_FILE_SCRIPT = """
import json, sys, time
from pathlib import Path
from pumonitor.sources.one_table.files import read_score_table
from pumonitor.evaluation import evaluate_table
started = time.perf_counter()
table = read_score_table(sys.argv[1], labels="label", scores="score", threshold=0.8)
read = time.perf_counter() - started
ev = evaluate_table(table, threshold=0.8, class_prior=0.02)
# The high-water mark of this program alone: ru_maxrss would count its parent's before exec.
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(json.dumps({
    "seconds": time.perf_counter() - started,
    "read": read,
    "peak": int(status["VmHWM"].split()[0]) * 1024,
    "resolution": table.resolution,
    "rows": table.n_labeled + table.n_unlabeled,
    "auc": ev["auc"].value,
}))
"""


def file_of(count: int, folder: Path) -> Path:
    """A Parquet file of that many scored rows, written by DuckDB itself."""
    import duckdb

    path = folder / "scored.parquet"
    with duckdb.connect() as connection:
        connection.execute("set memory_limit = '2GB'; select setseed(0.5)")
        connection.execute(
            f"""
            copy (
                select case when positive and random() < 0.5 then 1 else 0 end::tinyint as label,
                       case when positive then 1 - pow(random(), 2)
                            else pow(random(), 3) end as score
                from (select random() < {CLASS_PRIOR} as positive from range({count}))
            ) to '{path}' (format parquet)
            """  # noqa: S608
        )
    return path


def measure_file(count: int) -> None:
    """Time and memory of a file that is larger than one wants in memory."""
    with tempfile.TemporaryDirectory() as folder:
        print(f"  writing {count:,} rows of Parquet", flush=True)
        path = file_of(count, Path(folder))
        size = path.stat().st_size / 1e9
        found = subprocess.run(
            [sys.executable, "-c", _FILE_SCRIPT, str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        import duckdb

        started = time.perf_counter()
        duckdb.execute(f"select label, count(*), avg(score) from '{path}' group by 1")  # noqa: S608
        plain = time.perf_counter() - started
    figures = json.loads(found.stdout)
    print(
        f"  {figures['rows']:,} rows, {size:.2f} GB on disk: read in {figures['read']:.1f} s "
        f"({figures['rows'] / figures['read'] / 1e6:.0f}M rows/s; a plain count and mean of "
        f"the file {plain:.1f} s), evaluated in {figures['seconds'] - figures['read']:.2f} s, "
        f"resolution {figures['resolution']:.1e}"
    )
    verdict = "held" if figures["peak"] < 1e9 else "MISSED"
    print(f"  peak memory {figures['peak'] / 1e9:.2f} GB, limit 1 GB: {verdict}", flush=True)


def main() -> None:
    """Print every ratio with the limit it is held to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--file-rows", type=int, default=100_000_000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    from sklearn.metrics import roc_auc_score

    import pumonitor

    labels, scores = rows_of(arguments.rows)

    def peer() -> object:
        return roc_auc_score(labels, scores)

    def aul() -> object:
        return pumonitor.metrics.aul(labels, scores)

    def everything() -> object:
        return pumonitor.evaluate(labels, scores, threshold=2.0, class_prior=CLASS_PRIOR)

    aul()
    print(f"{arguments.rows:,} rows, against scikit-learn's roc_auc_score on the same arrays")
    print("  aul with its interval", flush=True)
    compare("aul", 1 / 20, in_turn(aul, peer, arguments.runs))
    print("  evaluate: all estimates, curves, intervals and bounds, class prior given", flush=True)
    compare("evaluate", 1 / 4, in_turn(everything, peer, arguments.runs))
    few = rows_of(1_000_000)
    print("  evaluate with its bounds on 1,000,000 rows, against the same peer on those")
    compare(
        "evaluate, 1M rows",
        2.0,
        in_turn(
            lambda: pumonitor.evaluate(*few, threshold=2.0, class_prior=CLASS_PRIOR),
            lambda: roc_auc_score(*few),
            arguments.runs,
        ),
    )
    print("  memory of evaluate", flush=True)
    compare("peak memory over input arrays", 3.0, [memory_ratio(arguments.rows)])
    print("file through DuckDB, group-by pushed down")
    measure_file(arguments.file_rows)


if __name__ == "__main__":
    main()
