"""A source that loses rows, files that come and go, workers killed: nothing known gets worse.

`pytest -s -m slow tests/monitor/rounds/test_losing_sources.py` prints what happened.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.monitor.rounds.losing_sources import lose
from tests.monitor.rounds.test_kill_campaign import campaign, new_state  # noqa: F401

SEEDS = 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("new_state", ["sqlite"], indirect=True)
def test_no_result_gets_worse_and_no_alert_is_resolved_by_rows_that_are_gone(
    seed: int,
    new_state: Callable[[], str],  # noqa: F811
    request: pytest.FixtureRequest,
) -> None:
    terminal = request.config.get_terminal_writer()
    with campaign() as one:
        kills, refusals, wrong = lose(one, new_state, seed=seed, told=terminal.line)
    terminal.line(f"{kills} kills, {refusals} refused looks")
    assert wrong == []
    assert kills > 0
