"""Whatever process is killed wherever: the next one settles it, and notifies once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.promotion.promoter import Promoter
from tests.monitor.promotion.conftest import NUMBERS
from tests.monitor.promotion.promotion_worker import EVIDENCE, MONITOR
from tests.monitor.promotion.registered_models import aliases, promotion_tags
from tests.monitor.promotion.test_promotions_at_once import run_worker

SLOW = pytest.mark.slow
CASES = [
    ("sqlite", "file", "promote", 0, 25),
    *(pytest.param("sqlite", "file", "promote", begin, 8, marks=SLOW) for begin in (2, 6)),
    pytest.param("sqlite", "file", "undo", 0, 8, marks=SLOW),
    pytest.param("sqlite", "file", "heal", 0, 8, marks=SLOW),
    pytest.param("sqlite", "server", "promote", 2, 11, marks=SLOW),
    pytest.param("sqlite", "server", "heal", 1, 11, marks=SLOW),
    pytest.param("postgresql", "file", "promote", 1, 11, marks=SLOW),
    pytest.param("postgresql", "server", "undo", 1, 11, marks=SLOW),
]
"""State database, registry, what is killed, from which point on, and at every so manieth."""


def keys_sent(ledger: Ledger) -> list[tuple[str, str]]:
    """Destination and key of each message of the outbox."""
    found: list[tuple[str, str]] = []
    while ledger.outbox.waiting():
        for destination in ("alerts:chat", "alerts:hook"):
            for one in ledger.outbox.claim(destination, limit=100, lease=timedelta(minutes=1)):
                found.append((destination, one.key))
                ledger.outbox.delivered(one)
    return found


def settled_and_checked(
    ledger: Ledger, promoter: Promoter, client: Any, models: list[str], *, action: str
) -> set[str]:
    """States in which promotions were found; every registry says the same as its ledger."""
    promoter.heal()
    assert promoter.heal() == ()
    before, after = ("1", "2") if action == "promote" else ("2", "1")
    states = set()
    for model in models:
        made = [one for one in ledger.promotions.all(model=model) if one.action == action]
        # Before its row was committed there is none, and nothing has happened.
        state = made[0].state if made else "not begun"
        states.add(state)
        assert len(made) <= 1
        expected = {"champion": after if state == "done" else before}
        if state == "done":
            expected["previous"] = before
        elif action == "undo":
            expected["previous"] = "1"
        assert aliases(client, model) == expected
        tags = promotion_tags(client, model, "2")
        if action == "promote":
            assert bool(tags) is (state == "done")
        else:
            assert ("undone_at" in tags) is (state == "done")
    sent = keys_sent(ledger)
    done = [one for model in models for one in ledger.promotions.all(model=model)]
    assert len(sent) == len(set(sent)) == 2 * sum(one.state == "done" for one in done)
    return states


@pytest.mark.parametrize(
    ("address", "registry_address", "work", "begin", "step"),
    CASES,
    indirect=["address", "registry_address"],
)
def test_killed_anywhere_it_is_settled(
    ledger: Ledger,
    address: str,
    registry_address: str,
    client: Any,
    make_promoter: Callable[..., Promoter],
    work: str,
    begin: int,
    step: int,
) -> None:
    prefix = f"killed-{next(NUMBERS)}-"
    points = run_worker("kill", address, registry_address, prefix, work, str(begin), str(step))
    models = [f"{prefix}{at}" for at in points]
    assert len(models) > 20 / step

    action = "undo" if work == "undo" else "promote"
    states = settled_and_checked(ledger, make_promoter(), client, models, action=action)

    # Killed while it heals what had moved the alias, it has only one way to go.
    assert states - {"not begun"} == ({"done"} if work == "heal" else {"abandoned", "done"})
    if work == "promote":
        left = next(one for one in models if aliases(client, one)["champion"] == "1")
        make_promoter().promote(
            MONITOR, left, compared_with="1", version="2", evidence=EVIDENCE, actor="ana"
        )
        assert aliases(client, left) == {"champion": "2", "previous": "1"}
