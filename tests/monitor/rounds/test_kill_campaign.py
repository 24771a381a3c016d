"""Kills in the middle of the work: what is recorded, in MLflow and told is as without them.

`pytest -s -m slow tests/monitor/rounds/test_kill_campaign.py` is the whole campaign
and prints figures.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.monitor.delivery.mlflow.conftest import WARNINGS_OF_MLFLOW
from tests.monitor.delivery.notifications.receivers import http_receiver
from tests.monitor.rounds.kill_campaign import Campaign, kill

if TYPE_CHECKING:
    from tests.monitor.delivery.mlflow.mlflow_server import Server

pytestmark = [pytest.mark.filterwarnings(accepted) for accepted in WARNINGS_OF_MLFLOW]

PARTS = 5
CASES = 50
"""Two kills each, most of the time, on either database."""


@contextmanager
def campaign(server: Server | None = None) -> Iterator[Campaign]:
    with http_receiver() as receiver:
        one = Campaign(server, receiver)
        try:
            yield one
        finally:
            one.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def new_state(request: pytest.FixtureRequest) -> Callable[[], str]:
    """Addresses of state databases without tables."""
    if request.param == "sqlite":
        return lambda: "sqlite:///state.db"
    postgres = request.getfixturevalue("postgres")
    return lambda: f"'{postgres.new_database()}'"


@pytest.mark.slow
@pytest.mark.parametrize("new_state", ["sqlite"], indirect=True)
def test_a_few_kills_lose_and_double_nothing(new_state: Callable[[], str]) -> None:
    with campaign() as one:
        kills, _, wrong = kill(one, new_state, shares=[0.5], seed=11, told=logging.info)
    assert wrong == []
    # The second to be killed may be done before its place comes.
    assert kills in (1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_kills_all_over_a_round_lose_and_double_nothing(
    part: int, mlflow_server: Server, new_state: Callable[[], str], request: pytest.FixtureRequest
) -> None:
    terminal = request.config.get_terminal_writer()

    def told(line: str) -> None:
        terminal.line(line)
        terminal.flush()

    with campaign(mlflow_server) as one:
        shares = [(case + 0.5) / CASES for case in range(part, CASES, PARTS)]
        kills, doubled, wrong = kill(one, new_state, shares=shares, seed=part, told=told)
    told(f"{kills} kills; {doubled} webhooks came again, with the same id and body")
    assert wrong == []
    assert kills > 1.5 * len(shares)
