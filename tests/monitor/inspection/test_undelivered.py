"""What counts as not delivered: alerts that wait, and what MLflow did not take."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pumonitor.monitor.delivery.sending.delivery import Delivery
from pumonitor.monitor.inspection.undelivered import undelivered
from pumonitor.monitor.ledger.claims.holders import Holder
from pumonitor.monitor.ledger.outbox import Waiting

HOLDER = Holder(
    name="web-2, process 17", until=datetime(2026, 1, 1, tzinfo=UTC), held=3, lives_here=False
)


def waiting(messages: int, *, failed: int = 0, holders: tuple[Holder, ...] = ()) -> Waiting:
    return Waiting(
        messages=messages,
        oldest=timedelta(),
        set_aside=0,
        last_error=None,
        failed=failed,
        holders=holders,
    )


@pytest.mark.parametrize(
    ("name", "done", "left", "missed"),
    [
        ("alerts:hook", Delivery(delivered=2), None, False),
        ("alerts:hook", Delivery(delivered=2), waiting(0), False),
        ("alerts:hook", Delivery(stopped="out of time"), waiting(1), True),
        ("alerts:hook", Delivery(), waiting(3, holders=(HOLDER,)), True),
        ("alerts:hook", Delivery(set_aside=1), None, True),
        # There are many, or somebody else is at it.
        ("mlflow", Delivery(delivered=9, stopped="out of time"), waiting(700), False),
        ("mlflow-files", Delivery(stopped="out of time"), waiting(20), False),
        ("mlflow", Delivery(), waiting(3, holders=(HOLDER,)), False),
        # It was tried in vain, now or in a round before.
        ("mlflow", Delivery(failed=1), waiting(51, failed=1), True),
        ("mlflow", Delivery(stopped="left alone"), waiting(51, failed=1), True),
        ("mlflow-files", Delivery(set_aside=1), None, True),
    ],
)
def test_undelivered(name: str, done: Delivery, left: Waiting | None, missed: bool) -> None:
    found = undelivered({name: done}, {} if left is None else {name: left})
    assert found == ((name,) if missed else ())


def test_destinations_that_this_round_does_not_serve_are_not_its_own() -> None:
    assert undelivered({}, {"alerts:gone": waiting(4, failed=4)}) == ()
