"""Many rows: `python -m benchmarks.scale rows --rows 1000000000 --folder FOLDER`.

Days of generated rows in Parquet are counted, all days as one window and each by itself; both must
agree in every count. Then some numbers of days are counted, from the fewest to all of them, and a
line is fitted to the CPU seconds; what it says of more rows than were counted is marked so. With
`--spark` Spark counts the days as well, and has a line of its own.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.monitoring.backfill import write
from benchmarks.monitoring.spark import open_in_spark
from benchmarks.scale.generated import measured, opened, requests, whole
from pumonitor.ports import CountRequest, PredictionSource, WindowCounts

__all__ = ["main"]

DAYS = 100
_BEYOND = 1_000_000_000
_DAYS_COUNTED = (1, 3, 10, 30, DAYS)


def main() -> None:
    """Write, count, compare, fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=_BEYOND, help="in 100 days")
    parser.add_argument("--folder", type=Path, help="where files are kept; else a temporary one")
    parser.add_argument("--spark", action="store_true", help="fit a line to Spark as well")
    parser.add_argument("--only-lines", action="store_true", help="not all days as one window")
    parser.add_argument("--days", type=int, default=DAYS, help="most that a line is fitted to")
    options, _ = parser.parse_known_args()
    folder = options.folder or Path(tempfile.mkdtemp())
    # Of 2% fraud half: 1e9 rows have 1e7 labels.
    days = options.days if options.only_lines else DAYS
    write(folder, days=days, rows=options.rows // DAYS, confirmed=0.5)
    if not options.only_lines:
        one_window_and_its_days(folder)
    fitted("DuckDB", lambda: opened(folder), options.rows, days=options.days)
    if options.spark:
        fitted_in_spark(folder, options.rows, days=options.days)
    if options.folder is None:
        shutil.rmtree(folder)


def one_window_and_its_days(folder: Path) -> None:
    """Print what all days as one window take, and whether its counts are the sum of the days'."""
    source = opened(folder)
    request = whole(DAYS, moment_of=DAYS)
    with measured() as spent:
        counts = source.counts(request)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = counts.found
    print(
        f"  one window of {found.predictions:,} rows and {found.label_rows:,} labels: "
        f"{spent.wall:.1f} s, {spent.cpu:.1f} s CPU, at most {peak:.2f} GB",
        flush=True,
    )
    days = [
        CountRequest(window=one.window, as_of=request.as_of, threshold=request.threshold)
        for one in requests(DAYS)
    ]
    summed: Counter[tuple[int, int]] = Counter()
    with measured() as spent:
        for day in source.counts_of_many(days):
            if isinstance(day, Exception):
                raise day
            summed.update(_cells(day))
    source.close()
    verdict = "equal" if summed == Counter(_cells(counts)) else "DIFFERENT"
    print(f"  its {DAYS} days: {spent.wall:.1f} s, {spent.cpu:.1f} s CPU; their sum is {verdict}")


def _cells(counts: WindowCounts) -> dict[tuple[int, int], int]:
    keys = zip(counts.cell.tolist(), counts.history.tolist(), strict=True)
    return dict(zip(keys, counts.rows.tolist(), strict=True))


def fitted(
    engine: str, open_tables: Callable[[], PredictionSource], rows: int, *, days: int = DAYS
) -> None:
    """Print CPU seconds of some numbers of days, and the line through them.

    Beside each what the line says of it, and so of how many rows it can be believed.
    """
    sizes, seconds = [], []
    for some in (one for one in _DAYS_COUNTED if one <= days):
        source = open_tables()
        with measured() as spent:
            for _ in source.counts_of_many(requests(some)):
                pass
        sizes.append(some * (rows // DAYS))
        seconds.append(spent.cpu)
    slope, base = np.polyfit(sizes, seconds, 1)
    print(f"  {engine}: line: {base:.2f} s and {1e6 * slope:.3f} s a million rows of CPU")
    for many, cpu in zip(sizes, seconds, strict=True):
        off = cpu - (base + slope * many)
        print(f"  {engine}: {many:>14,} rows: {cpu:.2f} s, {off:+.2f} s off the line")
    for many in (10**7, 10**8, 10**9, 10**10):
        if many > sizes[-1]:
            print(f"  {engine}: {many:>14,} rows: {base + slope * many:.0f} s, EXTRAPOLATED")


def fitted_in_spark(folder: Path, rows: int, *, days: int) -> None:
    """The same of Spark, which runs its first jobs before Java has compiled them."""
    source = open_in_spark(folder)
    for _ in range(2):
        list(source.counts_of_many(requests(3)))
    fitted("Spark", lambda: source, rows, days=days)


if __name__ == "__main__":
    main()
