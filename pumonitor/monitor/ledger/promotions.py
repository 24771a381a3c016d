"""Promotions in the state database: begun before the registry is touched, then settled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

from sqlalchemy import Connection, Row, insert, select, update

from pumonitor.errors import PumonitorError
from pumonitor.monitor.ledger.audit import record
from pumonitor.monitor.ledger.claims.owners import is_dead, shown_owner, this_process
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.errors import StaleClaimError, without_passwords
from pumonitor.monitor.ledger.database.queries import equal
from pumonitor.monitor.ledger.database.schema import promotions
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.records.promotions import Evidence, NewPromotion, Promotion, Settled
from pumonitor.monitor.ledger.records.results import NewMessage
from pumonitor.monitor.ledger.records.rows import record_of
from pumonitor.text import moment_text

_COPIED: Final = ("monitor", "model", "alias", "action", "from_version", "to_version", "actor")
_AUDITED: Final = {"promote": "promote", "undo": "undo promotion"}


class PromotionUnderWayError(PumonitorError):
    """Another promotion of the same model has begun and has not ended."""


class StoredPromotions:
    """Promotions in the state database. Every method is one transaction.

    An alias of MLflow's registry cannot be moved on condition that nobody else has moved it, and
    has no history. So at most one promotion of a model is under way, and the history is here. Who
    makes a promotion holds it by a lease, which nobody else ends unless the process is dead.

    Parameters
    ----------
    database : Database
    mask : callable, optional
        Hides secrets in reasons before they are stored.
    """

    def __init__(
        self, database: Database, *, mask: Callable[[str], str] = without_passwords
    ) -> None:
        self._database = database
        self._mask = mask

    def begin(self, wanted: NewPromotion, *, lease: timedelta) -> Promotion:
        """Store that a promotion has begun; it is held by this process.

        Raises
        ------
        PromotionUnderWayError
            If another of the same model has not ended; the message names it.
        """
        own = promotions.c
        held = select(promotions).where(own.model == wanted.model, own.state == "begun")
        with self._database.writing() as connection:
            self._alone(connection, wanted.model)
            if (other := connection.execute(held).first()) is not None:
                raise PromotionUnderWayError(_under_way(_promotion(other)))
            at = self._database.now(connection)
            evidence = _evidence(wanted)
            values = {name: getattr(wanted, name) for name in _COPIED} | {
                "state": "begun",
                "begun_at": at,
                "owner": _new_owner(),
                "lease_until": at + lease,
                "evidence": evidence,
                "evidence_hash": _digest(wanted),
                "reason": "",
            }
            query = insert(promotions).values(**values).returning(promotions)
            return _promotion(connection.execute(query).one())

    def renew(self, held: Promotion, *, lease: timedelta) -> None:
        """Hold it for a full lease from now.

        Raises
        ------
        StaleClaimError
            If it is not held any more.
        """
        with self._database.writing(counted=False) as connection:
            at = self._database.now(connection)
            done = connection.execute(
                update(promotions)
                .where(*_held(held), promotions.c.lease_until > at)
                .values(lease_until=at + lease)
            )
            if done.rowcount != 1:
                raise StaleClaimError(_no_longer_held(held))

    def free(self, held: Promotion) -> None:
        """End the lease, so that the next that looks settles it."""
        with self._database.writing() as connection:
            at = self._database.now(connection)
            connection.execute(update(promotions).where(*_held(held)).values(lease_until=at))

    def take_over(self, model: str | None = None, *, lease: timedelta) -> Promotion | None:
        """Take the oldest promotion that its process left behind; None if there is none.

        Left behind is one whose process is known to be dead or whose lease has run out.

        Parameters
        ----------
        model : str, optional
            By default any model.
        lease : timedelta
        """
        own = promotions.c
        begun = (
            select(promotions)
            .where(own.state == "begun", *equal(own.model, model))
            .order_by(own.id)
        )
        with self._database.reading() as connection:
            if connection.execute(begun.limit(1)).first() is None:
                return None
        with self._database.writing() as connection:
            at = self._database.now(connection)
            for row in connection.execute(begun.with_for_update(skip_locked=True)).all():
                if row.lease_until > at and not is_dead(row.owner):
                    continue
                values = {"owner": _new_owner(), "lease_until": at + lease}
                query = update(promotions).where(own.id == row.id).values(**values)
                return _promotion(connection.execute(query.returning(promotions)).one())
        return None

    def settle(
        self,
        held: Promotion,
        state: Settled,
        *,
        reason: str = "",
        messages_of: Callable[[Promotion], Sequence[NewMessage]] = lambda ended: (),
    ) -> Promotion:
        """Store how a promotion ended, with an entry in the audit log and its messages.

        Parameters
        ----------
        held : Promotion
        state : {"done", "abandoned", "refused"}
        reason : str, optional
        messages_of : callable, optional
            Returns the messages for the outbox about the promotion as it is stored.

        Raises
        ------
        StaleClaimError
            If it is not held any more: somebody else has settled it, or does so now.
        """
        with self._database.writing() as connection:
            at = self._database.now(connection)
            values = {
                "state": state,
                "ended_at": at,
                "lease_until": None,
                "reason": self._mask(reason),
            }
            query = update(promotions).where(*_held(held)).values(**values).returning(promotions)
            row = connection.execute(query).first()
            if row is None:
                raise StaleClaimError(_no_longer_held(held))
            ended = _promotion(row)
            enqueue(connection, self._database, messages_of(ended), at=at)
            detail = {name: getattr(ended, name) for name in _COPIED} | {
                "promotion": ended.id,
                "state": state,
                "reason": ended.reason,
                "evidence_hash": row.evidence_hash,
            }
            action = _AUDITED[ended.action]
            record(connection, at=at, actor=ended.actor, action=action, detail=detail)
        return ended

    def all(
        self,
        monitor: str | None = None,
        *,
        model: str | None = None,
        before: int | None = None,
        limit: int | None = None,
    ) -> tuple[Promotion, ...]:
        """Promotions, the last begun first; by default of all monitors and models.

        `before` leaves out the one of that number, and those that came after it.
        """
        own = promotions.c
        query = (
            select(promotions)
            .where(
                *equal(own.monitor, monitor),
                *equal(own.model, model),
                *([] if before is None else [own.id < before]),
            )
            .order_by(own.id.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return tuple(_promotion(row) for row in connection.execute(query))

    def last_done(self, model: str, *, alias: str) -> Promotion | None:
        """The last promotion or undo that moved this alias; None if there was none."""
        own = promotions.c
        query = (
            select(promotions)
            .where(own.model == model, own.alias == alias, own.state == "done")
            .order_by(own.id.desc())
            .limit(1)
        )
        with self._database.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else _promotion(row)

    def _alone(self, connection: Connection, model: str) -> None:
        self._database.alone(connection, f"promotions of {model}")


def made_by(promotion: Promotion) -> str:
    """Who made a promotion and in which process, such as ``ana (web-1, process 4711)``."""
    return f"{promotion.actor} ({shown_owner(promotion.owner.partition(' ')[0])})"


def _new_owner() -> str:
    """Name of this process, with a mark of its own for each promotion that it takes."""
    return f"{this_process()} {uuid4().hex}"


def _held(held: Promotion) -> tuple[Any, ...]:
    own = promotions.c
    return (own.id == held.id, own.owner == held.owner, own.state == "begun")


def _evidence(wanted: NewPromotion) -> dict[str, Any]:
    return {"undone": wanted.undoes} if wanted.evidence is None else wanted.evidence.to_dict()


def _digest(wanted: NewPromotion) -> str:
    return "" if wanted.evidence is None else wanted.evidence.digest


def _promotion(row: Row[Any]) -> Promotion:
    given = row.evidence
    evidence = None if "undone" in given else Evidence.model_validate(given)
    return record_of(Promotion, row, evidence=evidence, undoes=given.get("undone"))


def _under_way(other: Promotion) -> str:
    what = "promoted" if other.action == "promote" else "moved back"
    return (
        f"model {other.model} is being {what} from version {other.from_version or 'none'} to "
        f"{other.to_version} by {made_by(other)}, since {moment_text(other.begun_at)}: "
        "wait until that has ended and compare again"
    )


def _no_longer_held(held: Promotion) -> str:
    return (
        f"promotion {held.id} of model {held.model} was settled by another process, as this one "
        "did not renew its lease in time"
    )
