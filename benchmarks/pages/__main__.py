"""CPU and statements of what pages read: `python -m benchmarks.pages [--postgresql ADDRESS]`.

A ledger of 50 monitors with 1,000 windows of five panes each (17 million results, 5 GB, some
minutes) is filled by SQL, in a file of SQLite or in an empty database of PostgreSQL. Then each read
is repeated, with the way before it beside it. Printed are milliseconds of this process' CPU (median
and 95th percentile), of the clock, and the number of statements. Then come whole answers of pages
and the API: through the application, and by 20 readers at once of a real server. `--keep` reads the
same ledger again another time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from sqlalchemy import select

from benchmarks.pages.made_up_details import add_details
from benchmarks.pages.made_up_ledger import DAY, Extent, fill, monitor_name
from benchmarks.pages.watched import Watched
from benchmarks.pages.whole_answers import (
    by_many_readers,
    by_number_of_monitors,
    configured_monitors,
    through_the_application,
)
from pumonitor.monitor.inspection.exposition import exposition
from pumonitor.monitor.inspection.insights import insight_of
from pumonitor.monitor.ledger.database.queries import is_latest, of_monitor, same_pane
from pumonitor.monitor.ledger.database.schema import latest, panes, results, windows
from pumonitor.monitor.ledger.ledger import Ledger


def read_all(ledger: Ledger, extent: Extent, *, repeats: int) -> None:
    """Each read, and the way before it."""
    watched = Watched(ledger, repeats=repeats)
    names = tuple(monitor_name(number) for number in range(extent.monitors))
    one, now = names[len(names) // 2], extent.now
    print(f"{'ms':<58} {'CPU':>8} {'p95':>8} {'wall':>8} {'SQL':>5}")
    f1 = dict.fromkeys(names, "f1")
    watched.read(
        f"in its place: insight_of of each of {len(names)}",
        lambda: [insight_of(ledger, name, now=now) for name in names],
        repeats=3,
    )
    watched.read(f"overview of {len(names)}", lambda: ledger.overview(f1))
    mcc = dict.fromkeys(names, "mcc")
    watched.read(
        f"overview of {len(names)} by a metric that is no headline",
        lambda: ledger.overview(mcc),
    )
    watched.read("overview of one", lambda: ledger.overview({one: "f1"}))
    watched.read(f"what is due of {len(names)}", lambda: ledger.work(names, now=now))
    watched.read(
        "before: a metric of one, an object a row", lambda: rows_before(ledger, monitor=one)
    )
    watched.read("a metric of one", lambda: ledger.series_of(["f1"], monitors=[one]))
    six = ["class_prior", "aul", "auc", "precision", "recall", "f1"]
    watched.read("six metrics of one", lambda: ledger.series_of(six, monitors=[one]))
    then = now - 100 * DAY
    watched.read(
        "a metric of one as of an earlier moment",
        lambda: ledger.series_of(["f1"], monitors=[one], as_of=then),
    )
    since = now - 90 * DAY
    watched.read(
        "before: a metric of all over 90 days",
        lambda: rows_before(ledger, since=since),
        repeats=3,
    )
    watched.read("a metric of all over 90 days", lambda: ledger.series_of(["f1"], since=since))
    watched.read(
        "the newest mature results of one",
        lambda: ledger.newest_results(monitors=[one], mature=True),
    )
    scrape = exposition(ledger, monitors=configured_monitors(extent), clock=lambda: now)
    print(f"a scrape has {len(scrape()) / 1000:.0f} kB")
    watched.read("scrape of /metrics", scrape)


def rows_before(ledger: Ledger, *, monitor: str | None = None, since: Any = None) -> int:
    """Newest results of F1 as they were read before there was a table of newest panes."""
    query = (
        select(windows, panes, results)
        .join_from(results, panes, same_pane(results))
        .join(windows, windows.c.window_key == panes.c.window_key)
        .join(latest, is_latest(results))
        .where(
            *of_monitor(monitor, None),
            *([] if since is None else [windows.c.window_start >= since]),
            results.c.metric == "f1",
        )
        .order_by(windows.c.monitor, windows.c.window_start)
    )
    with ledger.database.reading() as connection:
        return len([dict(row._mapping) for row in connection.execute(query)])


def main() -> None:
    """Fill the ledger unless it is there, then read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--monitors", type=int, default=50)
    parser.add_argument("--windows", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--postgresql", metavar="ADDRESS", help="of an empty database")
    parser.add_argument("--keep", type=Path, help="file of SQLite that stays, or is there already")
    parser.add_argument("--only-answers", action="store_true", help="pages and API alone")
    options = parser.parse_args()
    extent = Extent(monitors=options.monitors, windows=options.windows)
    with tempfile.TemporaryDirectory() as folder:
        file = options.keep or Path(folder) / "state.db"
        with Ledger.open(options.postgresql or f"sqlite:///{file.absolute()}") as ledger:
            if not ledger.standings.all():
                started = time.perf_counter()
                number = fill(ledger, extent)
                print(f"{number:,} results stored in {time.perf_counter() - started:.0f} s")
            add_details(ledger, extent)
            if not options.only_answers:
                read_all(ledger, extent, repeats=options.repeats)
            watched = Watched(ledger, repeats=options.repeats)
            print(f"{'ms of whole answers':<58} {'CPU':>8} {'p95':>8} {'wall':>8} {'SQL':>5}")
            through_the_application(ledger, extent, watched)
            by_number_of_monitors(ledger, extent, watched)
        by_many_readers(options.postgresql or f"sqlite:///{file.absolute()}", extent)


if __name__ == "__main__":
    main()
