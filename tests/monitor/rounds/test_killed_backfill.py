"""A backfill in several processes, one of which is killed, or the one that started them."""

import multiprocessing
import os
import signal
import sys
from datetime import timedelta

import pytest

from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.backfill import backfill
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.claims.owners import owner_of
from tests.abandoned import left_alive
from tests.monitor.ledger_content import ledger_content
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = pytest.mark.slow

DAYS = 4
NOBODY = "http://127.0.0.1:9"
RANGE = {"start": FIRST, "end": FIRST + timedelta(days=DAYS)}
NOW = FIRST + timedelta(days=DAYS)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def ledger_of(path):
    return open_ledger(read_configuration(path).configuration)


def holders(ledger):
    return {one.lease_owner for one in ledger.windows("card-fraud")} - {None}


def kill_a_holder(ledger):
    """Whether a worker was killed that held a window, and would have held it for minutes more."""
    processes = {one.pid: one for one in multiprocessing.active_children()}
    for name in sorted(holders(ledger)):
        process = processes[owner_of(name).pid]
        os.kill(process.pid, signal.SIGSTOP)
        if name in holders(ledger):
            process.kill()
            return True
        os.kill(process.pid, signal.SIGCONT)
    return False


def test_what_a_killed_worker_held_is_done_by_the_others(tmp_path):
    alone, together = tmp_path / "alone", tmp_path / "together"
    alone.mkdir()
    together.mkdir()
    path = write_shop(alone, days=DAYS, tracking=NOBODY)
    assert backfill(path, None, **RANGE, as_of=NOW).failures == []
    with ledger_of(path) as ledger:
        expected = ledger_content(ledger)

    path = write_shop(together, days=DAYS, tracking=NOBODY)
    with ledger_of(path) as ledger:
        killed = False

        def told(what, share):
            nonlocal killed
            killed = killed or kill_a_holder(ledger)

        done = backfill(path, None, **RANGE, as_of=NOW, workers=2, on_progress=told)
        assert killed
        (failure,) = done.failures
        assert "of 2 was killed by signal 9, short of memory?: others take over" in failure
        assert ledger_content(ledger) == expected
    assert multiprocessing.active_children() == []


def test_no_worker_survives_who_started_it(tmp_path):
    path = write_shop(tmp_path, days=30)
    dates = ["--from", f"{FIRST:%Y-%m-%d}", "--to", f"{FIRST + timedelta(days=30):%Y-%m-%d}"]
    code = "from pumonitor.cli.app import main; main()"
    command = [sys.executable, "-c", code, "backfill", *dates, "--workers", "2", "--config", path]
    with ledger_of(path) as ledger:
        left = left_alive(command, when=lambda others: len(holders(ledger)) == 2)
    assert left == []
