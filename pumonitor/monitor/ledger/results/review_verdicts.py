"""Verdicts on audits: those that are stored, those that are new, and what was read when.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, insert, select

from pumonitor.monitor.ledger.database.schema import (
    review_audits,
    review_cases,
    review_readings,
    review_verdicts,
)
from pumonitor.monitor.ledger.records.audits import StoredReading

if TYPE_CHECKING:
    from pumonitor.audit.given import Judged, KnownAudit, UsableVerdict
from pumonitor.monitor.ledger.results.kept_audits import sharing_audits

_Place = tuple[str, int, str]
"""Audit, number of the case, reviewer."""

_Stored = list[tuple[datetime, int, int | None]]
"""Time, id and verdict, in order of time."""

_LEAST_STEP: Final = timedelta(microseconds=1)


def known_audits(connection: Connection, monitor: str) -> list[KnownAudit]:
    """Audits of a monitor with the keys of their cases."""
    from pumonitor.audit.given import KnownAudit

    own = review_audits.c
    audits = connection.execute(
        select(own.audit, own.seed, own.drawn_at).where(own.monitor == monitor)
    ).all()
    numbers: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    of_cases = review_cases.c
    for row in connection.execute(
        select(of_cases.audit, of_cases.keyed, of_cases.number)
        .where(of_cases.audit.in_([one.audit for one in audits]))
        .order_by(of_cases.number)
    ):
        numbers[row.audit][row.keyed].append(row.number)
    return [
        KnownAudit(
            name=one.audit,
            seed=one.seed,
            drawn_at=one.drawn_at,
            numbers={key: tuple(found) for key, found in numbers[one.audit].items()},
        )
        for one in audits
    ]


def configurations_of(connection: Connection, audits: Iterable[str], *, monitor: str) -> list[str]:
    """Under which configurations audits of a monitor were drawn, and which others keep them."""
    own = review_audits.c
    query = select(own.configuration).where(own.audit.in_(list(audits))).distinct()
    return sorted(
        {
            kept
            for one in connection.scalars(query).all()
            for kept in sharing_audits(connection, monitor, one)
        }
    )


def add_verdicts(
    connection: Connection, usable: Sequence[UsableVerdict], *, now: datetime
) -> Counter[str]:
    """Store the verdicts that are not stored yet; returns their number by audit.

    Without a time of its own a verdict is of the time when it is read, unless it says what the
    reviewer said last. One that names no reviewer is not new if it says what somebody who was named
    has said: a file may be read again without its `--reviewer`.
    """
    stored = _stored_verdicts(connection, sorted({one.audit for one in usable}))
    by_place: dict[_Place, list[UsableVerdict]] = defaultdict(list)
    for one in usable:
        by_place[one.audit, one.number, one.reviewer].append(one)
    of_named: dict[tuple[str, int], list[_Stored]] = defaultdict(list)
    for (audit, number, reviewer), said in stored.items():
        if reviewer:
            of_named[audit, number].append(list(said))
    added: Counter[str] = Counter()
    for place, given in by_place.items():
        before = stored.get(place, [])
        is_nameless = not before and not place[2]
        if is_nameless and _is_said_by_named(given, of_named[place[:2]]):
            continue
        for at, verdict in _new_of(given, before, now):
            earlier = [key for when, key, _ in before if when < at]
            key = connection.execute(
                insert(review_verdicts)
                .values(
                    audit=place[0],
                    number=place[1],
                    reviewer=place[2],
                    verdict=verdict,
                    at=at,
                    read_at=now,
                    supersedes=earlier[-1] if earlier else None,
                )
                .returning(review_verdicts.c.id)
            ).scalar_one()
            before.append((at, key, verdict))
            added[place[0]] += 1
    return added


def _is_said_by_named(given: Sequence[UsableVerdict], named: Sequence[_Stored]) -> bool:
    """Whether all that nobody signed is known of one case: with its time, or as what stands."""
    known = {(at, verdict) for said in named for at, _, verdict in said}
    standing = {verdict for said in named for verdict in _last_of(said)}
    return all(
        one.verdict in standing if one.at is None else (one.at, one.verdict) in known
        for one in given
    )


def _last_of(said: _Stored) -> set[int | None]:
    """What a reviewer said last of one case; of two verdicts at one moment neither is later."""
    return {verdict for at, _, verdict in said if at == said[-1][0]}


def _new_of(
    given: Sequence[UsableVerdict], before: _Stored, now: datetime
) -> list[tuple[datetime, int | None]]:
    """Time and verdict of what is new of one reviewer on one case, in order of time."""
    known = {(at, verdict) for at, _, verdict in before}
    timed = {(one.at, one.verdict) for one in given if one.at is not None}
    new = sorted(timed - known, key=str)
    untimed = {one.verdict for one in given if one.at is None}
    if untimed and untimed != _last_of(before):
        # Clocks may differ: what is read later is of a later time.
        at = max([now, *(when + _LEAST_STEP for when, _ in [*known, *timed])])
        new += [(at, verdict) for verdict in sorted(untimed, key=str)]
    return new


def _stored_verdicts(connection: Connection, audits: Sequence[str]) -> dict[_Place, _Stored]:
    own = review_verdicts.c
    found: dict[_Place, _Stored] = defaultdict(list)
    for row in connection.execute(
        select(review_verdicts).where(own.audit.in_(audits)).order_by(own.at, own.id)
    ):
        found[row.audit, row.number, row.reviewer].append((row.at, row.id, row.verdict))
    return found


def last_digest(connection: Connection, monitor: str, source: str) -> str | None:
    """What the last reading of a source saw; None if it was never read."""
    own = review_readings.c
    return connection.scalar(
        select(own.digest)
        .where(own.monitor == monitor, own.source == source)
        .order_by(own.id.desc())
        .limit(1)
    )


def note_reading(
    connection: Connection,
    reading: StoredReading,
    judged: Judged,
    added: Mapping[str, int],
    *,
    monitor: str,
) -> None:
    """Store that verdicts were read, of each audit that is touched and of what belongs to none.

    Nothing is stored if the last reading of this source saw the same.
    """
    if not added and last_digest(connection, monitor, reading.source) == reading.digest:
        return
    refused: dict[str | None, dict[str, int]] = defaultdict(dict)
    for (audit, reason), named in judged.refused.items():
        refused[audit][reason] = len(named)
    touched = {one.audit for one in judged.usable}
    # What is read of no audit is noted as well: it need not be read again.
    for audit in sorted({*touched, *refused} or {None}, key=str):
        values = {
            **{name: getattr(reading, name) for name in ("source", "digest", "read_at", "actor")},
            "monitor": monitor,
            "audit": audit,
            "added": 0 if audit is None else added.get(audit, 0),
            "refused": refused.get(audit, {}),
        }
        connection.execute(insert(review_readings).values(values))
