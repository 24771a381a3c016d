"""A worker keeps its window for as long as it works, though the state database was locked."""

import sqlite3
from datetime import timedelta
from threading import Event

import pytest

from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.jobs import Jobs
from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.database.connections import Timeouts
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.windows.opening import open_monitor_source
from tests.monitor.monitored_shop import FIRST, write_shop

PATIENCE_SECONDS = 20.0


class WatchedLedger(Ledger):
    """Tells of renewals."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.failed, self.renewed = Event(), Event()

    def renew(self, claim):
        try:
            super().renew(claim)
        except StateError:
            self.failed.set()
            raise
        self.renewed.set()


@pytest.fixture
def ledger(address):
    rules = WorkRules(lease=timedelta(seconds=2))
    timeouts = Timeouts(lock=timedelta(seconds=0.05))
    with WatchedLedger.open(address, rules=rules, timeouts=timeouts) as ledger:
        yield ledger


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_lease_is_renewed_after_a_renewal_that_failed(ledger, address, tmp_path):
    path = write_shop(tmp_path, days=1, state=address, class_prior=0.1)
    in_time = []

    def on_step(step):
        if step == "collected":
            other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            assert ledger.failed.wait(PATIENCE_SECONDS)
            other.execute("ROLLBACK")
            other.close()
            ledger.renewed.clear()
            in_time.append(ledger.renewed.wait(PATIENCE_SECONDS))

    jobs = Jobs(
        read_configuration(path).configuration.monitors,
        ledger,
        open_source=open_monitor_source,
        clock=lambda: FIRST + timedelta(days=1),
        on_step=on_step,
    )
    done = jobs.run()
    jobs.close()
    assert in_time == [True]
    assert (done.collected, done.evaluated, done.failures) == (1, 1, [])
