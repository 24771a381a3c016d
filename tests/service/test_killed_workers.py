"""Workers killed at every step of a round: what is recorded in the end is what should be."""

import subprocess
import sys
from pathlib import Path

import pytest

from pumonitor.service.app import open_ledger
from pumonitor.service.config_file import read_configuration
from tests.service.killed_worker import NOW
from tests.service.monitored_shop import recorded, write_shop

WORKER = Path(__file__).with_name("killed_worker.py")
STEPS = (
    "plan",
    "claimed to collect",
    "collected",
    "collected and stored",
    "claimed to evaluate",
    "evaluated",
    "evaluated and stored",
)
KILLED = -9


def start(path, step="", times=0):
    return subprocess.Popen([sys.executable, WORKER, path, step, str(times)])


def ledger_of(path):
    with open_ledger(read_configuration(path).configuration) as ledger:
        windows = ledger.windows("card-fraud")
        left = ledger.counts(now=NOW)
        return recorded(ledger), windows, left


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = write_shop(tmp_path_factory.mktemp("undisturbed"), days=2)
    assert start(path).wait() == 0
    return ledger_of(path)[0]


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_killed_at_a_step_loses_and_doubles_nothing(step, undisturbed, tmp_path):
    path = write_shop(tmp_path, days=2)
    assert start(path, step, 1).wait() == KILLED
    # The next one waits for what is left of the lease.
    assert start(path).wait() == 0
    found, windows, left = ledger_of(path)
    assert found == undisturbed
    assert len(windows) == len({one.window for one in windows})
    assert (left.to_collect, left.to_evaluate) == (0, 0)


def test_five_workers_two_of_which_are_killed(undisturbed, tmp_path):
    path = write_shop(tmp_path, days=2)
    fates = [("collected", 1), ("evaluated", 1), ("", 0), ("", 0), ("", 0)]
    codes = [one.wait() for one in [start(path, *fate) for fate in fates]]
    assert set(codes) <= {0, KILLED}
    assert start(path).wait() == 0
    found, _, left = ledger_of(path)
    assert found == undisturbed
    assert (left.to_collect, left.to_evaluate) == (0, 0)


def test_the_oracle_knows_both_days_with_their_looks(undisturbed):
    """Row fields: 3 the window's start, 6 the revision."""
    looks = {(row[3].day, row[6]) for row in undisturbed}
    assert looks == {(day, revision) for day in (1, 2) for revision in range(3)}
