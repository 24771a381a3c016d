"""The weeks of the e-mails at once, day by day with the files of each day, and as of past moments.

What is compared is all that the ledger keeps of a look at a week, to the last bit: the stored score
tables, digests, class priors, evaluations, results and messages to MLflow. Left out are who worked
when, and the counts of label rows in the source, which are of the last moment asked for
(`pane_digest`).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select

from pumonitor.demo.emails import score_later_mails
from pumonitor.demo.weeks import MONITOR, backfill_weeks, settled, write_monitor
from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.database import schema
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.ports import Pane

pytestmark = pytest.mark.slow

DAY = timedelta(days=1)
WEEKS, LOOKS_OF_A_WEEK = 9, 5
WEDNESDAY = 2
"""Looks are due on Mondays from midnight and on Thursdays from noon on."""

EXACT_SECOND_MONDAY = datetime(2012, 2, 13, tzinfo=UTC)
IN_THE_FOURTH_WEEK = datetime(2012, 2, 24, 17, 30, tzinfo=UTC)

BOOKKEEPING = {
    "window_key",
    "pane",
    "number",
    "collected_at",
    "evaluated_at",
    "superseded_at",
    "library_version",
}
KEYS = {
    "panes": (),
    "series": ("model_version", "segment"),
    "evaluations": ("model_version", "segment", "revision"),
    "results": ("model_version", "segment", "revision", "metric"),
}

Look = tuple[datetime, int]
"""Start of a week and number of a look at it."""


@dataclass
class Recorded:
    """What a ledger holds of each look that has been evaluated; `rows` as users see them."""

    looks: dict[Look, dict[Any, Any]]
    messages: dict[tuple[str, str], Any]
    rows: list[Any]

    def known_by(self, moment: datetime) -> dict[Look, dict[Any, Any]]:
        return {
            look: found for look, found in self.looks.items() if found["panes",]["as_of"] <= moment
        }


def recorded(ledger: Ledger) -> Recorded:
    looks: dict[Look, dict[Any, Any]] = {}
    with ledger.database.reading() as connection:
        starts = {
            row.window_key: row.window_start for row in connection.execute(select(schema.windows))
        }
        for name, keys in KEYS.items():
            for row in connection.execute(select(getattr(schema, name))):
                found = dict(row._mapping)
                if name == "panes" and found["status"] != "evaluated":
                    continue
                look = (starts[row.window_key], found["number" if name == "panes" else "pane"])
                kept = {key: value for key, value in found.items() if key not in BOOKKEEPING}
                key = (name, *(kept.pop(one) for one in keys))
                looks.setdefault(look, {})[key] = kept
        messages = {
            (row.destination, row.key): row.payload
            for row in connection.execute(select(schema.outbox))
        }
    # Weeks after the last mail, which a daily run looks at as well, have nothing but their panes.
    looks = {look: found for look, found in looks.items() if len(found) > 1}
    for found in looks.values():
        found["panes",]["counts"] = of_the_pane(found["panes",]["counts"])
    rows = list(ledger.results(MONITOR, revisions="all"))
    return Recorded(looks=looks, messages=messages, rows=rows)


def of_the_pane(counts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in counts.items()
        if name in {"arrivals", "late_labels"} or name.endswith("predictions")
    }


def jobs_of(path: Path, now: datetime) -> AbstractContextManager[Jobs]:
    configuration = read_configuration(path).configuration
    return open_jobs(configuration, clock=lambda: now, deliver=False)


@pytest.fixture(scope="module")
def mails() -> pd.DataFrame:
    return score_later_mails().frame


@pytest.fixture(scope="module")
def at_once(mails: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """As `pumonitor demo` does it: long after, from files that know everything."""
    path = write_monitor(mails, tmp_path_factory.mktemp("at-once"))
    with jobs_of(path, settled(mails)) as jobs:
        done = backfill_weeks(jobs, mails, on_progress=lambda what, share: None)
        assert done.failures == []
        return recorded(jobs.ledger)


def due(monitor: Monitor, first: datetime, last: datetime, now: datetime) -> set[Pane]:
    """All looks of windows whose moment has come, up to the window after that of the last mail."""
    after = monitor.windows.containing(monitor.windows.containing(last).end)
    windows = monitor.windows.between(first, min(now, after.end))
    return {pane for one in windows for pane in monitor.pane_schedule.due(one, now)}


def test_a_run_on_every_day_records_what_backfill_records(
    mails: pd.DataFrame, at_once: Recorded, tmp_path: Path
) -> None:
    """Every day at another hour, with files that hold what has happened by then and no more.

    On days on which the configuration has nothing due a run is made on Wednesdays only, and must
    find nothing to do.
    """
    path = write_monitor(mails, tmp_path)
    monitor = read_configuration(path).configuration.monitors[MONITOR]
    files = [
        (tmp_path / name, pd.read_parquet(tmp_path / name), column)
        for name, column in (
            ("predictions.parquet", "arrived_at"),
            ("reports.parquet", "reported_at"),
        )
    ]
    first, last = (mails["time"].iloc[at].to_pydatetime() for at in (0, -1))
    day = first.replace(hour=0, minute=0, second=0)
    before: set[Pane] = set()
    minutes = random.Random(7)  # noqa: S311 (no secret)
    worked = idle = 0
    while day <= settled(mails):
        now = day + minutes.randrange(24 * 60) * timedelta(minutes=1)
        looks = due(monitor, first, last, now)
        is_idle, before = looks == before, looks
        day += DAY
        if is_idle and now.weekday() != WEDNESDAY:
            continue
        for file, rows, column in files:
            rows[rows[column] <= now].to_parquet(file, index=False)
        with jobs_of(path, now) as jobs:
            done = jobs.run()
            assert done.failures == []
            assert (done.collected == done.evaluated == 0) == is_idle
            windows = jobs.ledger.windows(MONITOR)
        there = {
            (one.window.start, pane.number)
            for one in windows
            for pane in one.panes
            if pane.status == "evaluated"
        }
        assert there == {(pane.window.start, pane.number) for pane in looks}
        worked, idle = worked + (not is_idle), idle + is_idle
    assert (worked, idle) == (24, 15)
    with jobs_of(path, now) as jobs:
        daily = recorded(jobs.ledger)
    assert len(daily.looks) == WEEKS * LOOKS_OF_A_WEEK
    assert len(daily.rows) > len(daily.looks) * 40
    assert daily.looks == at_once.looks
    assert daily.rows == at_once.rows
    assert daily.messages == at_once.messages


@pytest.mark.parametrize(("moment", "looks"), [(EXACT_SECOND_MONDAY, 4), (IN_THE_FOURTH_WEEK, 9)])
def test_seen_as_of_a_past_moment_it_is_what_was_recorded_then(
    mails: pd.DataFrame, at_once: Recorded, tmp_path: Path, moment: datetime, looks: int
) -> None:
    """From files that know what came later; what is due at that very moment is part of it."""
    with jobs_of(write_monitor(mails, tmp_path), moment) as jobs:
        assert jobs.run().failures == []
        then = recorded(jobs.ledger)
    assert len(then.looks) == looks
    assert then.looks == at_once.known_by(moment)
    assert then.rows == [row for row in at_once.rows if row.as_of <= moment]
    assert then.messages == {key: at_once.messages[key] for key in then.messages}
