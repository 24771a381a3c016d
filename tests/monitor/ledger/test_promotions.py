"""Promotions in the ledger: one of a model at a time, held by whoever took it last."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from pumonitor.monitor.ledger.database.errors import StaleClaimError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.promotions import PromotionUnderWayError
from pumonitor.monitor.ledger.records.promotions import NewPromotion

LEASE = timedelta(minutes=2)
WANTED = NewPromotion(
    monitor="card-fraud", model="fraud", alias="champion", action="undo", from_version="2",
    to_version="1", actor="ana", undoes=7,
)  # fmt: skip


def test_what_was_taken_over_is_out_of_the_hands_of_who_held_it(ledger: Ledger) -> None:
    stored = ledger.promotions
    first = stored.begin(WANTED, lease=timedelta(0))
    second = stored.take_over("fraud", lease=LEASE)
    assert second is not None
    assert (second.id, second.undoes, second.owner == first.owner) == (first.id, 7, False)

    stored.free(first)
    assert stored.take_over(lease=LEASE) is None
    for late in (lambda: stored.renew(first, lease=LEASE), lambda: stored.settle(first, "done")):
        with pytest.raises(StaleClaimError, match="promotion 1 of model fraud was settled by"):
            late()
    stored.renew(second, lease=LEASE)
    assert stored.settle(second, "abandoned", reason="at sqlite://a:b@c").state == "abandoned"
    [kept] = stored.all()
    assert (kept.state, kept.reason) == ("abandoned", "at sqlite://***@c")
    with pytest.raises(StaleClaimError):
        stored.settle(second, "done")
    assert stored.last_done("fraud", alias="champion") is None
    assert [one.action for one in ledger.audit()] == ["undo promotion"]


def test_of_a_model_one_is_under_way(ledger: Ledger) -> None:
    begun = ledger.promotions.begin(WANTED, lease=LEASE)
    with pytest.raises(PromotionUnderWayError, match="is being moved back from version 2 to 1"):
        ledger.promotions.begin(WANTED, lease=LEASE)
    ledger.promotions.begin(WANTED.model_copy(update={"model": "other"}), lease=LEASE)
    with pytest.raises(IntegrityError), ledger.database.writing() as connection:
        connection.exec_driver_sql("UPDATE promotions SET model = 'fraud'")
    ledger.promotions.settle(begun, "refused")
    assert ledger.promotions.begin(WANTED, lease=LEASE).id == 3
