"""Which version is deployed: what rounds saw, beside what promotions say."""

from __future__ import annotations

from datetime import timedelta

from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.promotions import NewPromotion


def _promoted(ledger: Ledger, version: str, *, monitor: str = "shop") -> None:
    wanted = NewPromotion(
        monitor=monitor,
        model="shop",
        alias="champion",
        action="undo",
        from_version=None,
        to_version=version,
        actor="ana",
        undoes=1,
    )
    held = ledger.promotions.begin(wanted, lease=timedelta(minutes=1))
    ledger.promotions.settle(held, "done")


def test_the_first_that_is_seen_says_nothing_of_when_it_was_deployed(ledger: Ledger) -> None:
    assert not ledger.deployed_versions.note("shop", "models:/shop/1")
    before = ledger.writes()
    assert not ledger.deployed_versions.note("shop", "models:/shop/1")
    assert ledger.writes() == before
    assert ledger.deployed_versions.seen("shop") == ((None, "models:/shop/1"),)


def test_another_one_is_deployed_since_it_was_seen(ledger: Ledger) -> None:
    ledger.deployed_versions.note("shop", "models:/shop/1")
    assert ledger.deployed_versions.note("shop", "models:/shop/2")
    first, (moment, version) = ledger.deployed_versions.seen("shop")
    assert (first, version) == ((None, "models:/shop/1"), "models:/shop/2")
    assert moment is not None
    assert not ledger.deployed_versions.note("shop", "models:/shop/2")
    assert ledger.deployed_versions.seen("shop") == (first, (moment, version))
    assert ledger.deployed_versions.seen("other") == ()


def test_what_a_promotion_deployed_is_nobody_elses(ledger: Ledger) -> None:
    ledger.deployed_versions.note("shop", "models:/shop/1")
    _promoted(ledger, "2")
    assert not ledger.deployed_versions.note("shop", "models:/shop/2")
    assert len(ledger.deployed_versions.seen("shop")) == 1

    assert ledger.deployed_versions.note("shop", "models:/shop/1")
    assert len(ledger.deployed_versions.seen("shop")) == 2


def test_a_promotion_by_another_monitor_is_seen(ledger: Ledger) -> None:
    ledger.deployed_versions.note("shop", "models:/shop/1")
    _promoted(ledger, "2", monitor="other")
    assert ledger.deployed_versions.note("shop", "models:/shop/2")
