"""Read audits: what was drawn, and what its verdicts say as far as they have been read."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, and_, func, not_, select

from pumonitor.monitor.ledger.database.schema import (
    review_audits,
    review_cases,
    review_verdicts,
    windows,
)
from pumonitor.monitor.ledger.records.audits import (
    BETWEEN,
    ReadAudit,
    SegmentVerdicts,
    WindowCounts,
)
from pumonitor.monitor.ledger.records.rows import field_names
from pumonitor.monitor.ledger.results.database_reader import DatabaseReader
from pumonitor.monitor.ledger.results.kept_audits import sharing_audits

CONFLICT: Final = "conflict"
"""What verdicts that contradict each other come to."""

_OF_CASES: Final = ("number", "keyed", "bin", "kind", "window_start", "segments")

_Said = int | str | None


class AuditsReader(DatabaseReader):
    """Reads audits and what was found in them."""

    def state_of_audits(self, monitor: str, configuration: str) -> tuple[int, int, int]:
        """Changes whenever `read_audits` may: audits drawn, cases planned and the last verdict."""
        own = review_audits.c
        with self.database.reading() as connection:
            kept = sharing_audits(connection, monitor, configuration)
            drawn = select(own.audit, own.planned).where(
                own.monitor == monitor, own.configuration.in_(kept)
            )
            audits = connection.execute(drawn).all()
            last = 0
            if audits:
                last = connection.scalar(select(func.max(review_verdicts.c.id))) or 0
        return len(audits), sum(sum(one.planned) for one in audits), int(last)

    def read_audits(self, monitor: str, configuration: str) -> list[ReadAudit]:
        """Audits with at least one decided case, by the first window that they are about.

        Those of other configurations that this one keeps are among them.
        """
        found = self.audits_as_read(monitor, configuration)
        return [one for one in found if any(sum(part.decided) for part in one.by_window.values())]

    def audits_as_read(self, monitor: str, configuration: str | None = None) -> list[ReadAudit]:
        """All audits, by default of all configurations, by the first window they are about.

        Those between two models are not among them.

        Those of a configuration are also those of others that it keeps (`sharing_audits`).
        """
        own = review_audits.c
        query = (
            select(review_audits)
            .where(own.monitor == monitor, not_(own.configuration.startswith(BETWEEN)))
            .order_by(own.window_start, own.drawn_at, own.audit)
        )
        with self.database.reading() as connection:
            if configuration is not None:
                kept = sharing_audits(connection, monitor, configuration)
                query = query.where(own.configuration.in_(kept))
            return [_as_read(connection, row) for row in connection.execute(query).all()]

    def verdicts_in_order(self, audit: str) -> list[tuple[int, int | str | None]]:
        """Bin and verdict of the cases of an audit that somebody has judged, as they were drawn.

        A verdict is 1, 0, None where it is undecided, or `CONFLICT`.
        """
        own = review_cases.c
        with self.database.reading() as connection:
            cases = connection.execute(
                select(own.number, own.keyed, own.bin)
                .where(own.audit == audit, own.kind == "case")
                .order_by(own.keyed)
            ).fetchall()
            said = _said_by_key(cases, connection.execute(_verdicts_of(audit)))
        return [(one.bin, said[one.keyed]) for one in cases if one.keyed in said]


def verdicts_read_at(
    connection: Connection, monitor: str, *, window_key: str, start: datetime
) -> datetime | None:
    """When the last verdict on a case of a window was read; None if none was.

    Parameters
    ----------
    connection : Connection
    monitor : str
    window_key : str
        Of any window of the configuration.
    start : datetime
        Start of the window.
    """
    configuration = connection.scalar(
        select(windows.c.configuration).where(windows.c.window_key == window_key)
    )
    if configuration is None:
        return None
    cases, verdicts, audits = review_cases.c, review_verdicts.c, review_audits.c
    kept = sharing_audits(connection, monitor, configuration)
    found: datetime | None = connection.scalar(
        select(func.max(verdicts.read_at))
        .select_from(review_verdicts)
        .join(review_cases, and_(cases.audit == verdicts.audit, cases.number == verdicts.number))
        .join(review_audits, audits.audit == cases.audit)
        .where(
            audits.monitor == monitor,
            audits.configuration.in_(kept),
            cases.window_start == start,
        )
    )
    return found


def _as_read(connection: Connection, row: Row[Any]) -> ReadAudit:
    """One row of `review_audits` with what its cases and verdicts come to."""
    cases = connection.execute(
        select(*(review_cases.c[one] for one in _OF_CASES))
        .where(review_cases.c.audit == row.audit)
        .order_by(review_cases.c.number)
    ).all()
    said = _said_by_key(cases, connection.execute(_verdicts_of(row.audit)))
    seeds = [said[one.keyed] for one in cases if one.kind == "seed" and one.keyed in said]
    drawn = [one for one in cases if one.kind == "case"]
    known: dict[str, Any] = {
        "name": row.audit,
        **{name: row._mapping[name] for name in field_names(ReadAudit) if name in row._mapping},
        "edges": tuple(row.edges),
        "by_window": _by_window(row.windows, drawn, said),
        "planned": tuple(row.planned),
        "seeds_found": seeds.count(1),
        "seeds_known": seeds.count(1) + seeds.count(0),
        "conflicts": sum(said.get(one.keyed) == CONFLICT for one in drawn),
        "unread": sum(one.keyed not in said for one in drawn),
        "cases": len(drawn),
        "by_segment": _by_segment(drawn, said, bins=len(row.planned)),
    }
    effect = row.windows[0].get("design_effect", 1.0)
    # Left out where nothing is shared, as it is of audits that were drawn before there was one.
    known |= {} if effect == 1 else {"design_effect": effect}
    return ReadAudit(**known, digest=_digest(known))


def _verdicts_of(audit: str) -> Select[Any]:
    """Verdicts on an audit, in the order in which they were given."""
    own = review_verdicts.c
    return (
        select(own.number, own.reviewer, own.at, own.verdict)
        .where(own.audit == audit)
        .order_by(own.at, own.id)
    )


def _said_by_key(cases: Sequence[Any], verdicts: Iterable[Row[Any]]) -> dict[str, _Said]:
    """What holds of each row that somebody has judged: 1, 0, None or a conflict.

    Of each reviewer and place in the file the latest verdict counts. Of two at the same moment
    neither is later.
    """
    keyed = {one.number: one.keyed for one in cases}
    latest: dict[tuple[int, str], tuple[datetime, set[int | None]]] = {}
    for one in verdicts:
        place = (one.number, one.reviewer)
        if place not in latest or latest[place][0] < one.at:
            latest[place] = (one.at, set())
        latest[place][1].add(one.verdict)
    by_key: dict[str, set[int | None]] = defaultdict(set)
    for (number, _), (_, given) in latest.items():
        by_key[keyed[number]] |= given
    return {
        key: next(iter(given)) if len(given) == 1 else CONFLICT for key, given in by_key.items()
    }


def _by_window(
    windows: Sequence[Mapping[str, Any]], drawn: Sequence[Row[Any]], said: Mapping[str, _Said]
) -> dict[datetime, WindowCounts]:
    found = {}
    for window in windows:
        start = datetime.fromisoformat(window["start"])
        here = [one for one in drawn if one.window_start == start]
        decided, positive, undecided = _counted(here, said, bins=len(window["rows"]))
        found[start] = WindowCounts(
            rows=tuple(window["rows"]),
            labeled=tuple(window["labeled"]),
            decided=decided,
            positive=positive,
            undecided=undecided,
        )
    return found


def _by_segment(
    drawn: Sequence[Row[Any]], said: Mapping[str, _Said], *, bins: int
) -> dict[str, SegmentVerdicts] | None:
    """None if no case has its segments."""
    if all(one.segments is None for one in drawn):
        return None
    of_segment: dict[str, list[Row[Any]]] = defaultdict(list)
    for one in drawn:
        for name in one.segments or () if one.keyed in said else ():
            of_segment[name].append(one)
    found = {}
    for name in sorted(of_segment):
        decided, positive, undecided = _counted(of_segment[name], said, bins=bins)
        found[name] = SegmentVerdicts(decided=decided, positive=positive, undecided=undecided)
    return found


def _counted(
    cases: Iterable[Row[Any]], said: Mapping[str, _Said], *, bins: int
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Decided, positive and undecided cases by bin."""
    decided, positive, undecided = ([0] * bins for _ in range(3))
    for one in cases:
        if one.keyed in said:
            verdict = said[one.keyed]
            decided[one.bin] += verdict in (0, 1)
            positive[one.bin] += verdict == 1
            undecided[one.bin] += verdict not in (0, 1)
    return tuple(decided), tuple(positive), tuple(undecided)


def _digest(known: Mapping[str, Any]) -> str:
    plain = {
        name: one.isoformat() if isinstance(one, datetime) else one for name, one in known.items()
    }
    plain["by_window"] = {
        start.isoformat(): asdict(one) for start, one in known["by_window"].items()
    }
    if known["by_segment"] is not None:
        plain["by_segment"] = {name: asdict(one) for name, one in known["by_segment"].items()}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
