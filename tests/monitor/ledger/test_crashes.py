"""Whatever worker dies wherever: the ledger ends as if none had, and no message is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pumonitor.monitor.ledger.ledger import Ledger
from tests.abandoned import AS_A_CHILD, left_alive
from tests.monitor.ledger.kept_beside_results import check_newest
from tests.monitor.ledger.monitored_days import (
    CONFIGURATION,
    LONG_AFTER,
    MONITOR,
    STATES,
    day,
    panes_of,
    planned,
)

SCRIPT = str(Path(__file__).with_name("crash_worker.py"))


def own_number(number: int, pane: int) -> int:
    return 1000 * number + 7 * pane + 1


def expected_total(number: int, pane: int) -> float:
    """Own number plus those of the five days before, of their newest pane at that moment."""
    as_of = panes_of(day(number))[pane].as_of
    total = own_number(number, pane)
    for earlier in range(max(number - 5, 0), number):
        total += own_number(
            earlier, max(one.number for one in panes_of(day(earlier)) if one.as_of <= as_of)
        )
    return float(total)


@pytest.mark.parametrize(
    ("workers", "begin", "step"),
    [
        pytest.param(1, 0, 1, marks=pytest.mark.slow),
        pytest.param(2, 0, 2, marks=pytest.mark.slow),
        pytest.param(5, 1, 2, marks=pytest.mark.slow),
        pytest.param(1, 0, 5, marks=pytest.mark.slow),
        (5, 1, 6),
    ],
)
def test_killed_anywhere_nothing_is_missing_and_nothing_doubled(
    address: str, tmp_path: Path, workers: int, begin: int, step: int
) -> None:
    sent_file = tmp_path / "sent.jsonl"
    days = {1: 36, 2: 24}.get(step, 12)
    numbers = map(str, (workers, begin, step))
    with Ledger.open(address) as ledger:
        planned(ledger, 2, monitor="traced")
        planned(ledger, days)
    done = subprocess.run(
        [sys.executable, SCRIPT, address, str(sent_file), *numbers],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    expected = {
        (number, pane): expected_total(number, pane)
        for number in range(days)
        for pane in range(len(STATES))
    }

    with Ledger.open(address) as ledger:
        check_newest(ledger)
        results = ledger.results(MONITOR, revisions="all")
        windows = ledger.windows(MONITOR)
        backlog = ledger.counts(now=LONG_AFTER)
        still_waiting = ledger.outbox.waiting()
        evaluations = [
            one
            for number in range(days)
            for one in ledger.evaluations(MONITOR, start=day(number).start, revisions="all")
        ]

    assert [(one.window_start, one.revision, one.state, one.value) for one in results] == [
        (day(number).start, pane, STATES[pane], total) for (number, pane), total in expected.items()
    ]
    assert [one.evaluation for one in evaluations] == [
        {"total": total} for total in expected.values()
    ]
    assert [
        (one.window, [(pane.status, pane.revision, pane.digest) for pane in one.panes])
        for one in windows
    ] == [
        (day(number), [("evaluated", pane, f"{number}.{pane}") for pane in range(len(STATES))])
        for number in range(days)
    ]
    assert {(one.configuration, one.lease_owner, one.attempts) for one in windows} == {
        (CONFIGURATION, None, 0)
    }
    assert (backlog.to_collect, backlog.to_evaluate, still_waiting) == (0, 0, {})

    sent = [json.loads(line) for line in sent_file.read_text().splitlines()]
    assert {(one["key"], one["total"]) for one in sent if one["key"].startswith(MONITOR)} == {
        (f"{MONITOR} {number}.{pane} revision {pane}", total)
        for (number, pane), total in expected.items()
    }

    assert len(told["points"]) > 50 / step
    if workers == 1:
        assert told["killed"] == told["points"]
        assert told["survived"] == [None]


def test_no_worker_survives_who_started_it(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'state.db'}"
    with Ledger.open(address) as ledger:
        planned(ledger, 1, monitor="traced")
        planned(ledger, 300)
    numbers = map(str, (2, 0, 1))
    left = left_alive(
        [*AS_A_CHILD, sys.executable, SCRIPT, address, str(tmp_path / "sent.jsonl"), *numbers],
        when=lambda others: len(others) > 1,
    )
    assert left == []
