"""Audits in the state database: drawing, extending, reading verdicts, deleting ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, func, insert, not_, select, update

from pumonitor.monitor.ledger.audit import record
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.queries import equal
from pumonitor.monitor.ledger.database.schema import review_audits, review_cases, review_readings
from pumonitor.monitor.ledger.records.audits import BETWEEN, ReviewCase, StoredAudit, StoredReading
from pumonitor.monitor.ledger.records.rows import record_of
from pumonitor.monitor.ledger.results.kept_audits import sharing_audits
from pumonitor.monitor.ledger.results.planning import evaluate_again
from pumonitor.monitor.ledger.results.review_rows import audit_of, case_of, refuse_overlap, row_of
from pumonitor.monitor.ledger.results.review_verdicts import (
    add_verdicts,
    configurations_of,
    known_audits,
    last_digest,
    note_reading,
)
from pumonitor.monitor.ledger.standings import stir

if TYPE_CHECKING:
    from pumonitor.audit.given import GivenVerdict, Judged

_PUMONITOR: Final = "pumonitor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What reading verdicts came to.

    Attributes
    ----------
    added : int
        New verdicts.
    known : int
        Verdicts that had been read before.
    judged : Judged
        What was used and refused.
    reopened : int
        Windows that are due for evaluation again.
    """

    added: int
    known: int
    judged: Judged
    reopened: int


class StoredReviews:
    """Audits with their cases and verdicts. Every method is one transaction.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, audit: StoredAudit, cases: Sequence[ReviewCase]) -> StoredAudit:
        """Store an audit that was drawn; returns it with the time of the database's clock.

        Raises
        ------
        InputError
            If one of its windows has an audit of the same configuration and model version.
        """
        with self._database.writing() as connection:
            self._database.alone(connection, f"audits of {audit.monitor}")
            refuse_overlap(
                connection,
                monitor=audit.monitor,
                configuration=audit.configuration,
                model_version=audit.model_version,
                starts=[one.start for one in audit.windows],
            )
            at = self._database.now(connection)
            stored = replace(audit, drawn_at=at)
            connection.execute(insert(review_audits).values(row_of(stored)))
            _insert_cases(connection, audit.name, cases)
            stir(connection, audit.monitor)
            _record(connection, at, stored, "draw audit", cases)
        return stored

    def refuse_drawn(
        self, monitor: str, configuration: str, *, model_version: str, starts: Collection[datetime]
    ) -> None:
        """Refuse windows, by their starts, that an audit was drawn from: before any work.

        Raises
        ------
        InputError
            Its message names the audit and what to do.
        """
        with self._database.reading() as connection:
            refuse_overlap(
                connection,
                monitor=monitor,
                configuration=configuration,
                model_version=model_version,
                starts=starts,
            )

    def extend(
        self,
        audit: StoredAudit,
        cases: Sequence[ReviewCase],
        *,
        inclusion: Sequence[float],
        actor: str,
    ) -> None:
        """Add cases to an audit, whose `planned` counts all; `inclusion` is that of each bin.

        Raises
        ------
        ValueError
            If somebody else has extended it since it was read.
        """
        with self._database.writing() as connection:
            self._database.alone(connection, f"audit {audit.name}")
            at = self._database.now(connection)
            own = review_cases.c
            last = connection.scalar(select(func.max(own.number)).where(own.audit == audit.name))
            if cases and cases[0].number != (last or 0) + 1:
                msg = f"audit {audit.name} was extended by somebody else"
                raise ValueError(msg)
            connection.execute(
                update(review_audits)
                .where(review_audits.c.audit == audit.name)
                .values(planned=list(audit.planned))
            )
            for place, chance in enumerate(inclusion):
                connection.execute(
                    update(review_cases)
                    .where(own.audit == audit.name, own.bin == place, own.kind != "seed")
                    .values(inclusion=chance)
                )
            _insert_cases(connection, audit.name, cases)
            _record(connection, at, replace(audit, actor=actor), "extend audit", cases)

    def all(
        self,
        monitor: str | None = None,
        *,
        configuration: str | None = None,
        between: bool = False,
    ) -> tuple[StoredAudit, ...]:
        """Audits in the order in which they were drawn; by default of all monitors.

        Those of a monitor's configuration are also those of others that it keeps. Audits between
        two models are left out, or they are the only ones.
        """
        own = review_audits.c
        is_between = own.configuration.startswith(BETWEEN)
        query = (
            select(review_audits)
            .where(*equal(own.monitor, monitor), is_between if between else not_(is_between))
            .order_by(own.drawn_at, own.audit)
        )
        with self._database.reading() as connection:
            if monitor is not None and configuration is not None:
                kept = sharing_audits(connection, monitor, configuration)
                query = query.where(own.configuration.in_(kept))
            return tuple(audit_of(row) for row in connection.execute(query))

    def cases(self, audit: str) -> tuple[ReviewCase, ...]:
        """The lines of an audit's file, in their order."""
        own = review_cases.c
        query = select(review_cases).where(own.audit == audit).order_by(own.number)
        with self._database.reading() as connection:
            return tuple(case_of(row) for row in connection.execute(query))

    def readings(self, monitor: str) -> tuple[StoredReading, ...]:
        """What was read for a monitor, the last first."""
        own = review_readings.c
        query = select(review_readings).where(own.monitor == monitor).order_by(own.id.desc())
        with self._database.reading() as connection:
            return tuple(record_of(StoredReading, row) for row in connection.execute(query))

    def read(
        self,
        monitor: str,
        given: Sequence[GivenVerdict],
        *,
        source: str,
        digest: str,
        actor: str = _PUMONITOR,
    ) -> Received:
        """Join verdicts to the monitor's audits and add those that are new.

        All windows that were evaluated under the configuration of an audit with a new verdict are
        due for evaluation again, in the same transaction. What was read before adds nothing.

        Parameters
        ----------
        monitor : str
        given : sequence of GivenVerdict
        source : str
            What is shown of where they are from.
        digest : str
            Of the lines: the same for the same ones.
        actor : str
            For the audit log.
        """
        # Statistics are loaded with it, which most commands do without.
        from pumonitor.audit.given import judge

        with self._database.writing() as connection:
            self._database.alone(connection, f"verdicts of {monitor}")
            now = self._database.now(connection)
            judged = judge(given, known_audits(connection, monitor), now=now)
            added = add_verdicts(connection, judged.usable, now=now)
            reading = StoredReading(
                audit=None,
                source=source,
                digest=digest,
                read_at=now,
                actor=actor,
                added=added.total(),
                refused={},
            )
            note_reading(connection, reading, judged, added, monitor=monitor)
            reopened: list[str] = []
            if added:
                for one in configurations_of(connection, added, monitor=monitor):
                    reopened += evaluate_again(connection, monitor=monitor, configuration=one)
                stir(connection, monitor)
                detail = {
                    "monitor": monitor,
                    "audits": sorted(added),
                    "verdicts": added.total(),
                    "windows": len(reopened),
                }
                record(connection, at=now, actor=actor, action="read verdicts", detail=detail)
        return Received(
            added=added.total(),
            known=len(judged.usable) - added.total(),
            judged=judged,
            reopened=len(reopened),
        )

    def is_read(self, monitor: str, *, source: str, digest: str) -> bool:
        """Whether the last reading of a source saw just this."""
        with self._database.reading() as connection:
            return last_digest(connection, monitor, source) == digest

    def delete_ids(self, monitor: str, *, drawn_before: datetime) -> int:
        """Delete the ids of cases of audits drawn before; returns their number.

        Their keys stay, so verdicts on them are joined as before.
        """
        old = select(review_audits.c.audit).where(
            review_audits.c.monitor == monitor, review_audits.c.drawn_at < drawn_before
        )
        chosen = (review_cases.c.audit.in_(old), review_cases.c.id.is_not(None))
        with self._database.reading() as connection:
            if (
                connection.execute(select(review_cases.c.audit).where(*chosen).limit(1)).first()
                is None
            ):
                return 0
        with self._database.writing() as connection:
            done = connection.execute(update(review_cases).where(*chosen).values(id=None))
            at = self._database.now(connection)
            detail = {"monitor": monitor, "cases": done.rowcount}
            record(connection, at=at, actor=_PUMONITOR, action="delete ids", detail=detail)
            return done.rowcount


def _insert_cases(connection: Connection, audit: str, cases: Iterable[ReviewCase]) -> None:
    rows = [{"audit": audit, **asdict(one)} for one in cases]
    if rows:
        connection.execute(insert(review_cases), rows)


def _record(
    connection: Connection,
    at: datetime,
    audit: StoredAudit,
    action: str,
    cases: Sequence[ReviewCase],
) -> None:
    kinds = Counter(one.kind for one in cases)
    detail = {
        "monitor": audit.monitor,
        "audit": audit.name,
        "from": audit.window_start,
        "to": audit.window_end,
        "cases": kinds["case"],
        "seeds": kinds["seed"],
        "twice": kinds["again"],
    }
    record(connection, at=at, actor=audit.actor, action=action, detail=detail)
