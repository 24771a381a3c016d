"""Verdicts of reviewers, from a file or the table that the configuration names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Final
from zoneinfo import ZoneInfo

from pumonitor.audit.given import GivenVerdict
from pumonitor.monitor.config.sections.audits import Verdicts
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.reviews import Received
from pumonitor.monitor.windows.due.settled import is_local, stamps_of
from pumonitor.monitor.windows.opening import place_of

SOURCE: Final = "verdicts"
"""What the table of the configuration is called in the state database."""

_DATE: Final = len("2026-01-01")

Columns = Mapping[str, Sequence[str | None]]
"""By meaning: id, verdict, and perhaps audit, case, at and reviewer."""


def given_verdicts(columns: Columns, *, zone: str, reviewer: str = "") -> list[GivenVerdict]:
    """The lines of columns of text.

    Parameters
    ----------
    columns : mapping of str to sequence of str or None
    zone : str
        Of times without one.
    reviewer : str
        Who gave the verdicts that name nobody.
    """
    found = []
    for place in range(len(columns["id"])):
        line = {name: values[place] for name, values in columns.items()}
        at, is_unread = _moment(line.get("at"), zone)
        found.append(
            GivenVerdict(
                id=line["id"],
                verdict=line["verdict"],
                audit=line.get("audit"),
                case=line.get("case"),
                at=at,
                is_time_unread=is_unread,
                reviewer=(line.get("reviewer") or "").strip() or reviewer,
            )
        )
    return found


def lines_digest(lines: Sequence[GivenVerdict]) -> str:
    """SHA-256 of lines, in any order."""
    plain = sorted(
        json.dumps([one.id, one.verdict, one.audit, one.case, str(one.at), one.reviewer])
        for one in lines
    )
    return _digest(plain)


def read_configured(ledger: Ledger, monitor: Monitor) -> Received | None:
    """Read the verdicts that the configuration names; None if they are as they were.

    Raises
    ------
    InputError
        If a column is missing.
    SourceError
        If they cannot be read.
    """
    asked = monitor.audits.verdicts if monitor.audits is not None else None
    audits = [*ledger.reviews.all(monitor.name), *ledger.reviews.all(monitor.name, between=True)]
    if asked is None or not audits:
        return None
    # Lines that belong to no audit may belong to one that was drawn since.
    names = [one.name for one in audits]
    stamps = stamps_of(asked.source) if is_local(asked.source) else None
    if stamps == []:
        return None
    digest = _digest([names, stamps])
    if stamps and ledger.reviews.is_read(monitor.name, source=SOURCE, digest=digest):
        return None
    lines = given_verdicts(_columns(asked), zone=asked.time_zone or monitor.zone)
    if stamps is None:
        digest = _digest([names, lines_digest(lines)])
        if ledger.reviews.is_read(monitor.name, source=SOURCE, digest=digest):
            return None
    return ledger.reviews.read(monitor.name, lines, source=SOURCE, digest=digest)


def delete_old_ids(ledger: Ledger, monitor: Monitor, *, now: datetime) -> int:
    """Delete the ids of cases that are kept long enough; returns their number."""
    if monitor.audits is None:
        return 0
    return ledger.reviews.delete_ids(monitor.name, drawn_before=now - monitor.audits.keep_cases)


def _digest(plain: object) -> str:
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def _columns(asked: Verdicts) -> Columns:
    # Engines are loaded with it.
    from pumonitor.sources.text_columns import read_text_columns

    return read_text_columns(place_of(asked.source), asked.roles, name="verdicts")


def _moment(text: str | None, zone: str) -> tuple[datetime | None, bool]:
    """A time, and whether there is one that cannot be read; a date is the end of its day."""
    written = (text or "").strip()
    if not written:
        return None, False
    try:
        found = datetime.fromisoformat(written)
        if len(written) == _DATE:
            found = datetime.combine(found, time.max)
        there = found if found.tzinfo else found.replace(tzinfo=ZoneInfo(zone))
        return there.astimezone(UTC), False
    except (ValueError, OverflowError):
        return None, True
