"""Days on which clocks are off by five hours and workers are killed, beside days without.

Rows come into the files as time goes by, so whoever counts too early counts too few.
`pytest -s -m slow tests/monitor/rounds/test_clock_campaign.py` is the whole campaign.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.database.schema import panes
from tests.monitor.monitored_shop import FIRST, write_shop

DAYS = 2
END = FIRST + timedelta(days=DAYS + 4)
STEP = timedelta(hours=7)
WORKER = Path(__file__).with_name("clock_campaign_worker.py")
RULES = """\
    rules:
      - {health: no_data}
      - {metric: recall, below: 0.999, name: found}
"""


class Days:
    """A monitor whose rows come as time goes by, and a process that works on it."""

    def __init__(self, folder: Path, state: str) -> None:
        folder.mkdir()
        self.path = write_shop(
            folder,
            days=DAYS,
            state=state,
            maturity=timedelta(days=1),
            panes="[0d]",
            class_prior=0.1,
        )
        self.path.write_text(self.path.read_text() + RULES)
        self._tables = {
            name: pd.read_parquet(folder / f"{name}.parquet").sort_values(column)
            for name, column in (("predictions", "scored_at"), ("confirmations", "confirmed_at"))
        }
        self.said: list[dict[str, Any]] = []
        self._workers = subprocess.Popen(
            [sys.executable, WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )

    def close(self) -> None:
        self._workers.communicate(timeout=60)

    def work(
        self, now: datetime, *, off: int = 0, fatal: int = 0, accept: bool = False
    ) -> dict[str, Any]:
        """What a round said, with the rows that are there by then."""
        for name, table in self._tables.items():
            known = table.iloc[:, 1] <= pd.Timestamp(now)
            table[known].to_parquet(self.path.parent / f"{name}.parquet")
        told = {
            "configuration": str(self.path),
            "now": now.isoformat(),
            "off": off,
            "since_boot": (now - FIRST).total_seconds(),
            "fatal": fatal,
            "accept": accept,
        }
        assert self._workers.stdin is not None
        assert self._workers.stdout is not None
        self._workers.stdin.write(json.dumps(told) + "\n")
        self._workers.stdin.flush()
        self.said.append(json.loads(self._workers.stdout.readline()) | {"off": off, "now": now})
        return self.said[-1]

    def results(self) -> list[tuple[Any, ...]]:
        """The newest numbers of all panes of the days with predictions."""
        with open_ledger(read_configuration(self.path).configuration) as ledger:
            until = FIRST + timedelta(days=DAYS)
            rows = ledger.results("card-fraud", until=until, revisions="all")
        newest: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        for row in sorted(rows, key=lambda row: row.revision):
            newest[row.window_start, row.as_of, row.metric] = (row.value, row.low, row.high)
        return sorted((*where, numbers) for where, numbers in newest.items())

    def fired(self) -> set[tuple[str, datetime]]:
        with open_ledger(read_configuration(self.path).configuration) as ledger:
            stored = ledger.alerts.history("card-fraud", kind="fired")
        return {(one.transition.rule, one.transition.window_start) for one in stored}

    def early(self, now: datetime) -> int:
        """Panes that are collected before their moment."""
        with (
            open_ledger(read_configuration(self.path).configuration) as ledger,
            ledger.database.reading() as connection,
        ):
            of_later = select(panes.c.number).where(panes.c.as_of > now)
            return len(connection.execute(of_later.where(panes.c.status != "planned")).all())


@pytest.fixture
def new_days(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[str, str], Days]]:
    made: list[Days] = []

    def make(name: str, kind: str) -> Days:
        state = "sqlite:///state.db"
        if kind == "postgresql":
            state = f"'{request.getfixturevalue('postgres').new_database()}'"
        made.append(Days(tmp_path / name, state))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_clocks_off_by_five_hours_change_no_result_in_the_end_and_are_told(
    new_days: Callable[[str, str], Days], kind: str, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311
    right, wrong = new_days("right", kind), new_days("wrong", kind)
    moment, number, early = FIRST + timedelta(hours=1), 0, 0
    before = 0
    while moment < END:
        assert right.work(moment)["failures"] == []
        # In the evening a clock that is ahead is already in the next day.
        offs = [5, 5, 5, 0] if moment.hour >= 19 else [0, 0, 5, -5]
        off = chance.choice(offs) if number > 0 and moment < END - 3 * STEP else 0
        said = wrong.work(moment, off=off, fatal=chance.choice([0, 0, 3, 9, 20]))
        told = " ".join([*said["failures"], *said["notes"]])
        if kind == "postgresql":
            assert wrong.early(moment) == 0
            assert ("the clock of this machine" in told) is (off != 0)
        elif off != before and said["code"] == 0:
            assert "the clock of this machine" in told, said
        early += wrong.early(moment) > 0
        # A machine with SQLite has no other clock: what it saw is the clock of later rounds.
        # Who is killed has noted it before.
        before = off if kind == "sqlite" and not said["failures"] else before
        moment, number = moment + STEP, number + 1
    wrong.work(moment, accept=True)
    right.work(moment)
    assert wrong.work(moment)["failures"] == []
    assert wrong.early(moment) == right.early(moment) == 0
    assert wrong.results() == right.results()
    assert len(right.results()) > 100
    assert (early > 0) is (kind == "sqlite")
    if kind == "postgresql":
        assert wrong.fired() == right.fired()
    print(  # noqa: T201
        f"{kind}, {seed}: {number} rounds, {sum(one['code'] != 0 for one in wrong.said)} killed, "
        f"{sum(one['off'] != 0 for one in wrong.said)} with a clock that is off, {early} times "
        "something was collected early"
    )
