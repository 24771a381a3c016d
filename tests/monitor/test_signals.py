"""A process that is told to stop ends in time, whatever hangs, and holds nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.ledger.monitored_days import LONG_AFTER, planned

HANGS = """
import os, signal, sys, time
from datetime import datetime, timezone
from pumonitor.monitor import signals
from pumonitor.monitor.ledger.claims.owners import this_process
from pumonitor.monitor.ledger.ledger import Ledger

signals._SECONDS_TO_FINISH = 0.1
owner = str(this_process())
with Ledger.open(sys.argv[1]) as ledger:
    claim = ledger.claim_collect(owner, now=datetime(2030, 1, 1, tzinfo=timezone.utc))
    assert claim is not None
    with signals.stop_on_signals("SIGTERM", "SIGHUP") as stop:
        stop.calls(lambda: None, give_back=lambda: ledger.release_all_of(owner))
        os.kill(os.getpid(), getattr(signal, sys.argv[2]))
        time.sleep(60)
"""
FINISHES = """
import os, signal, sys
from threading import Event
from pumonitor.monitor import signals

done = Event()
with signals.stop_on_signals("SIGHUP") as stop:
    stop.calls(done.set)
    os.kill(os.getpid(), signal.SIGHUP)
    done.wait(60)
print(signal.Signals(stop.number).name, signal.getsignal(signal.SIGHUP) is signal.SIG_DFL)
"""


def ran(code: str, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_what_hangs_is_not_waited_for_and_its_leases_are_given_back(
    tmp_path: Path, name: str
) -> None:
    address = f"sqlite:///{tmp_path / 'state.db'}"
    with Ledger.open(address) as ledger:
        planned(ledger, 1)
        code, told = ran(HANGS, address, name)
        assert code == 0, told
        assert f"stopped by {name} without waiting any longer" in told
        assert ledger.holders() == ()
        again = ledger.claim_collect("another", now=LONG_AFTER)
        assert again is not None
        assert again.attempts == 0, "it counts as no attempt"


def test_what_ends_in_time_is_waited_for_and_signals_are_as_before() -> None:
    assert ran(FINISHES) == (0, "SIGHUP True\n")


def test_a_signal_that_is_ignored_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        ran(
            "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)"
            + FINISHES.replace(
                "    done.wait(60)", "    assert not done.wait(0.2); stop.number = 1"
            )
        )[1]
        == "SIGHUP False\n"
    )
