"""A promotion moves two aliases, says why in tags and ledger, and notifies once; or it refuses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.promotions import PromotionUnderWayError
from pumonitor.monitor.ledger.records.promotions import NewPromotion, Promotion
from pumonitor.monitor.promotion.promoter import Promoter, PromotionRefusedError
from pumonitor.monitor.promotion.registry import Registry, RegistryError
from tests.monitor.promotion.promotion_worker import EVIDENCE, MONITOR, registered
from tests.monitor.promotion.registered_models import TAGS, aliases, promotion_tags

Make = Callable[..., Promoter]


def promote(
    promoter: Promoter, model: str, version: str = "2", *, compared: str | None = "1"
) -> Promotion:
    return promoter.promote(
        MONITOR, model, compared_with=compared, version=version, evidence=EVIDENCE, actor="ana"
    )


def notified(ledger: Ledger) -> list[tuple[str, str, str]]:
    """Destination, action and new version of the messages of the outbox."""
    found = []
    while True:
        waiting = sorted(ledger.outbox.waiting())
        if not waiting:
            return found
        for destination in waiting:
            for one in ledger.outbox.claim(destination, limit=50, lease=timedelta(minutes=1)):
                about = one.payload
                found.append((destination, about["action"], about["to_version"]))
                ledger.outbox.delivered(one)


def audited(ledger: Ledger) -> list[tuple[str, str, str]]:
    """Who did what, in order."""
    return [(one.actor, one.action, one.detail["state"]) for one in reversed(ledger.audit())]


def test_a_promotion_moves_aliases_tags_the_version_and_is_written_down(
    promoter: Promoter, ledger: Ledger, client: Any, model: str
) -> None:
    done = promote(promoter, model)

    assert aliases(client, model) == {"champion": "2", "previous": "1"}
    tags = promotion_tags(client, model, "2")
    assert TAGS.items() <= tags.items()
    assert (tags["by"], tags["number"]) == ("ana", str(done.id))
    assert tags["at"] == done.begun_at.isoformat()
    assert promotion_tags(client, model, "1") == {}
    assert (done.state, done.from_version, done.to_version) == ("done", "1", "2")
    assert ledger.promotions.all(MONITOR) == (done,)
    assert done.evidence == EVIDENCE
    assert done.ended_at is not None
    assert done.ended_at >= done.begun_at
    assert audited(ledger) == [("ana", "promote", "done")]
    assert notified(ledger) == [("alerts:chat", "promote", "2"), ("alerts:hook", "promote", "2")]


def test_the_first_champion_has_no_version_before_it(
    promoter: Promoter, ledger: Ledger, client: Any, model: str
) -> None:
    client.delete_registered_model_alias(model, "champion")
    promote(promoter, model, "3", compared=None)
    assert aliases(client, model) == {"champion": "3"}
    with pytest.raises(InputError, match="so there is none to go back to"):
        promoter.undo(MONITOR, model, actor="ana")
    assert aliases(client, model) == {"champion": "3"}


def test_the_alias_of_the_monitor_is_moved_and_no_other(
    promoter: Promoter, client: Any, model: str
) -> None:
    client.set_registered_model_alias(model, "prod-eu", "2")
    promoter.promote(
        MONITOR,
        model,
        compared_with="2",
        version="3",
        evidence=EVIDENCE,
        actor="ana",
        alias="prod-eu",
    )
    assert aliases(client, model) == {"champion": "1", "prod-eu": "3", "previous": "2"}
    with pytest.raises(InputError, match=f"no promotion of model {model} to undo"):
        promoter.undo(MONITOR, model, actor="ana")


@pytest.mark.parametrize(
    ("there", "compared", "said"),
    [
        ("3", "1", "points to version 3, and version 2 was compared with 1: it was left as it is"),
        (None, "1", "does not exist, and version 2 was compared with 1"),
        ("1", None, "points to version 1, and version 2 was compared with no version"),
    ],
)
def test_what_was_not_compared_is_not_replaced(
    promoter: Promoter,
    ledger: Ledger,
    client: Any,
    model: str,
    there: str | None,
    compared: str | None,
    said: str,
) -> None:
    client.delete_registered_model_alias(model, "champion")
    if there is not None:
        client.set_registered_model_alias(model, "champion", there)
    before = aliases(client, model)
    with pytest.raises(PromotionRefusedError, match=said) as caught:
        promote(promoter, model, compared=compared)
    assert str(caught.value).endswith("compare again")
    assert aliases(client, model) == before
    assert promotion_tags(client, model, "2") == {}
    [row] = ledger.promotions.all(MONITOR)
    assert (row.state, row.reason) == ("refused", str(caught.value))
    assert audited(ledger) == [("ana", "promote", "refused")]
    assert notified(ledger) == []


def test_a_version_that_is_not_there_is_refused(
    promoter: Promoter, client: Any, model: str
) -> None:
    with pytest.raises(PromotionRefusedError, match=f"model {model} has no version 9"):
        promote(promoter, model, "9")
    with pytest.raises(PromotionRefusedError, match="alias champion of model nothing does not exi"):
        promote(promoter, "nothing")
    with pytest.raises(InputError, match=f"version 1 of model {model} is champion already"):
        promote(promoter, model, "1")
    assert aliases(client, model) == {"champion": "1"}


@pytest.mark.parametrize("step", ["read", "tag", "move", "keep", "check", "settle"])
def test_whoever_moves_the_alias_meanwhile_is_not_overruled(
    make_promoter: Make, ledger: Ledger, client: Any, model: str, step: str
) -> None:
    """Before the alias is moved nothing happens; after it, the other one's move stays."""

    def on_step(now: str) -> None:
        if now == step:
            client.set_registered_model_alias(model, "champion", "3")

    promoter = make_promoter(on_step=on_step)
    if step == "settle":
        # Everything was checked: the promotion was made, and then replaced.
        assert promote(promoter, model).state == "done"
    else:
        said = "version 3, and version 2 was" if step in {"read", "tag", "move"} else "and now"
        with pytest.raises(PromotionRefusedError, match=said):
            promote(promoter, model)
        assert [one.state for one in ledger.promotions.all(MONITOR)] == ["refused"]
        assert promotion_tags(client, model, "2") == {}
        assert notified(ledger) == []
    assert aliases(client, model)["champion"] == "3"
    with pytest.raises((PromotionRefusedError, InputError)):
        make_promoter().undo(MONITOR, model, actor="ben")
    assert aliases(client, model)["champion"] == "3"


@pytest.mark.parametrize("step", ["read", "tag", "move", "keep", "check", "settle"])
def test_a_second_promoter_is_told_who_is_at_work(
    make_promoter: Make, ledger: Ledger, client: Any, model: str, step: str
) -> None:
    said: list[str] = []

    def on_step(now: str) -> None:
        if now == step:
            for attempt in (
                lambda: promote(make_promoter(), model, "3"),
                lambda: make_promoter().undo(MONITOR, model, actor="ben"),
            ):
                with pytest.raises((PromotionUnderWayError, InputError)) as caught:
                    attempt()
                said.append(str(caught.value))

    promote(make_promoter(on_step=on_step), model)
    assert f"model {model} is being promoted from version 1 to 2 by ana (" in said[0]
    assert ", process " in said[0]
    assert " UTC: wait until that has ended and compare again" in said[0]
    assert "no promotion" in said[1]
    assert aliases(client, model) == {"champion": "2", "previous": "1"}
    assert len(notified(ledger)) == 2


def test_another_model_is_promoted_meanwhile(make_promoter: Make, client: Any, model: str) -> None:
    other = registered(client, f"{model}-other")

    def on_step(now: str) -> None:
        if now == "move":
            promote(make_promoter(), other)

    promote(make_promoter(on_step=on_step), model)
    assert aliases(client, other) == aliases(client, model) == {"champion": "2", "previous": "1"}


def test_an_undo_goes_back_once(
    promoter: Promoter, ledger: Ledger, client: Any, model: str
) -> None:
    made = promote(promoter, model)
    undone = promoter.undo(MONITOR, model, actor="ben")

    assert aliases(client, model) == {"champion": "1", "previous": "2"}
    assert (undone.action, undone.from_version, undone.to_version) == ("undo", "2", "1")
    assert (undone.undoes, undone.evidence) == (made.id, None)
    tags = promotion_tags(client, model, "2")
    assert (tags["undone_by"], tags["undone_at"]) == ("ben", undone.begun_at.isoformat())
    assert promotion_tags(client, model, "1") == {}
    assert audited(ledger) == [("ana", "promote", "done"), ("ben", "undo promotion", "done")]
    assert [one[1:] for one in notified(ledger)] == [("promote", "2"), ("undo", "1")] * 2

    with pytest.raises(InputError, match=r"was undone already, on .* UTC by ben") as caught:
        promoter.undo(MONITOR, model, actor="eve")
    assert "move alias champion in the registry" in str(caught.value)
    assert aliases(client, model) == {"champion": "1", "previous": "2"}

    again = promote(promoter, model)
    tags = promotion_tags(client, model, "2")
    assert tags["number"] == str(again.id)
    assert "undone_at" not in tags
    promoter.undo(MONITOR, model, actor="ana")
    assert aliases(client, model)["champion"] == "1"


def test_an_undo_leaves_an_alias_that_somebody_else_has_moved(
    promoter: Promoter, ledger: Ledger, client: Any, model: str
) -> None:
    promote(promoter, model)
    client.set_registered_model_alias(model, "champion", "3")
    with pytest.raises(PromotionRefusedError, match="points to version 3, and the last promotion"):
        promoter.undo(MONITOR, model, actor="ana")
    assert aliases(client, model) == {"champion": "3", "previous": "1"}
    assert [one.state for one in ledger.promotions.all(MONITOR)] == ["refused", "done"]
    client.set_registered_model_alias(model, "champion", "2")
    assert promoter.undo(MONITOR, model, actor="ana").state == "done"


class Unreliable(Registry):
    """Fails in one method, before or after it was done."""

    def __init__(self, address: str, *, method: str, after: bool = False) -> None:
        super().__init__(address)
        self.failing = method
        self.after = after

    def _fail(self, method: str, work: Callable[[], None]) -> None:
        fails = self.failing == method
        if not fails or self.after:
            work()
        if fails:
            self.failing = ""
            raise RegistryError("the model registry cannot be used: no answer")

    def tag(self, model: str, version: str, tags: Any) -> None:
        self._fail("tag", lambda: super(Unreliable, self).tag(model, version, tags))

    def move(self, model: str, alias: str, version: str) -> None:
        work = lambda: super(Unreliable, self).move(model, alias, version)  # noqa: E731
        self._fail(f"move {alias}", work)


@pytest.mark.parametrize("after", [False, True])
def test_a_registry_that_fails_before_the_alias_is_moved_leaves_nothing_behind(
    ledger: Ledger, registry_address: str, client: Any, model: str, after: bool
) -> None:
    failing = Unreliable(registry_address, method="tag", after=after)
    with pytest.raises(RegistryError, match=r"no answer$"):
        promote(Promoter(ledger.promotions, failing), model)
    [row] = ledger.promotions.all(MONITOR)
    assert (row.state, row.reason) == ("abandoned", "the model registry cannot be used: no answer")
    assert aliases(client, model) == {"champion": "1"}
    assert promotion_tags(client, model, "2") == {}


@pytest.mark.parametrize(
    ("method", "after", "state", "champion"),
    [
        ("move champion", False, "abandoned", "1"),
        ("move champion", True, "done", "2"),
        ("move previous", False, "done", "2"),
        ("move previous", True, "done", "2"),
    ],
)
def test_an_answer_that_is_lost_is_settled_by_the_next(
    ledger: Ledger,
    make_promoter: Make,
    registry_address: str,
    client: Any,
    model: str,
    method: str,
    after: bool,
    state: str,
    champion: str,
) -> None:
    """At once, although the process that made it lives: it has let go of it."""
    failing = Unreliable(registry_address, method=method, after=after)
    with pytest.raises(RegistryError, match="the next promotion, undo or round finds out"):
        promote(Promoter(ledger.promotions, failing), model)
    assert [one.state for one in ledger.promotions.all(MONITOR)] == ["begun"]

    [settled] = make_promoter().heal()

    assert (settled.state, settled.actor) == (state, "ana")
    assert aliases(client, model)["champion"] == champion
    assert ("previous" in aliases(client, model)) is (state == "done")
    assert bool(promotion_tags(client, model, "2")) is (state == "done")
    assert len(notified(ledger)) == (2 if state == "done" else 0)
    assert make_promoter().heal() == ()
    assert notified(ledger) == []


def begun_elsewhere(ledger: Ledger, model: str, *, lease: timedelta, owner: str) -> Promotion:
    """A promotion that another process has begun."""
    wanted = NewPromotion(
        monitor=MONITOR, model=model, alias="champion", action="promote", from_version="1",
        to_version="2", actor="eve", evidence=EVIDENCE,
    )  # fmt: skip
    begun = ledger.promotions.begin(wanted, lease=lease)
    with ledger.database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE promotions SET owner = '{owner}' WHERE id = {begun.id}")  # noqa: S608
    return begun


def test_of_a_process_elsewhere_the_lease_must_run_out(
    promoter: Promoter, ledger: Ledger, client: Any, model: str
) -> None:
    begun_elsewhere(ledger, model, lease=timedelta(minutes=2), owner="web-9/7/12/abc x")
    assert promoter.heal() == ()
    with pytest.raises(PromotionUnderWayError, match=r"by eve \(web-9, process 7\)"):
        promote(promoter, model)
    with ledger.database.writing() as connection:
        at = ledger.database.now(connection).isoformat(timespec="microseconds")
        connection.exec_driver_sql(f"UPDATE promotions SET lease_until = '{at}'")  # noqa: S608
    assert promote(promoter, model).state == "done"
    assert [one.state for one in ledger.promotions.all(MONITOR)] == ["done", "abandoned"]
    assert "the process of eve ended before alias champion was moved" in str(
        ledger.promotions.all(MONITOR)[1].reason
    )
    assert aliases(client, model) == {"champion": "2", "previous": "1"}


def test_what_neither_of_both_has_moved_is_left_as_it_is(
    promoter: Promoter, ledger: Ledger, client: Any, model: str
) -> None:
    begun_elsewhere(ledger, model, lease=timedelta(0), owner="web-9/7/12/abc x")
    client.set_registered_model_alias(model, "champion", "3")
    [settled] = promoter.heal(model)
    assert settled.state == "refused"
    assert "alias champion points to version 3, which is neither" in settled.reason
    assert aliases(client, model) == {"champion": "3"}
    assert notified(ledger) == []


def test_who_was_stopped_for_longer_than_the_lease_does_no_more(
    make_promoter: Make, ledger: Ledger, client: Any, model: str
) -> None:
    """Another one took it to be dead and abandoned it, right before the alias was moved."""
    from pumonitor.monitor.ledger.database.errors import StaleClaimError

    def on_step(now: str) -> None:
        if now == "move":
            [left] = ledger.promotions.all(MONITOR)
            ledger.promotions.free(left)
            assert [one.state for one in make_promoter().heal()] == ["abandoned"]

    promoter = make_promoter(on_step=on_step, lease=timedelta(0))
    with pytest.raises(StaleClaimError, match="was settled by another process"):
        promote(promoter, model)
    assert aliases(client, model) == {"champion": "1"}
    assert notified(ledger) == []
