"""How far the audits of a monitor are: drawn, read, refused, and when the next one is due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from pumonitor.monitor.audits.unused import unused_audits
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.audits import ReadAudit, StoredReading
from pumonitor.text import day_text

__all__ = ["AuditStatus", "StandingOfAudits", "standing_of_audits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditStatus:
    """An audit, and how far verdicts on it were read.

    Attributes
    ----------
    audit : ReadAudit
    actor : str
        Who drew it.
    changes : tuple of str
        Why the monitor's configuration of today does not use it: what changed of rows, scores,
        threshold and labels since it was drawn. Empty if it is used.
    seeds, twice : int
        Lines of its file that are known positives, and second copies.
    read_at : datetime or None
        When verdicts were last read.
    refused : mapping of str to int
        Reason to number of verdicts that could not be used, in the last reading of each source.
    """

    audit: ReadAudit
    actor: str
    changes: tuple[str, ...]
    seeds: int
    twice: int
    read_at: datetime | None
    refused: Mapping[str, int]

    @property
    def is_current(self) -> bool:
        """Whether the monitor's configuration of today uses it."""
        return not self.changes

    @property
    def is_decided(self) -> bool:
        """Whether at least one of its cases has a verdict of positive or negative."""
        return any(sum(part.decided) for part in self.audit.by_window.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, without ids."""
        one = self.audit
        counts = [sum(map(sum, parts)) for parts in zip(*_parts(one), strict=True)]
        return {
            "audit": one.name,
            "monitor": one.monitor,
            "model_version": one.model_version,
            "from": one.window_start.isoformat(),
            "to": one.window_end.isoformat(),
            "windows": len(one.by_window),
            "drawn_at": one.drawn_at.isoformat(),
            "drawn_by": self.actor,
            "is_current": self.is_current,
            "changes": list(self.changes),
            "fair": one.fair,
            "cases": one.cases,
            "decided": counts[0],
            "positive": counts[1],
            "undecided": counts[2],
            "conflicts": one.conflicts,
            "unread": one.unread,
            "seeds": self.seeds,
            "seeds_decided": one.seeds_known,
            "seeds_found": one.seeds_found,
            "twice": self.twice,
            "read_at": None if self.read_at is None else self.read_at.isoformat(),
            "refused": dict(self.refused),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BetweenStatus:
    """How far an audit between the deployed model and a challenger is.

    Attributes
    ----------
    name : str
    challenger : str
        Its name, and what scored it.
    drawn_at : datetime
    cases, judged : int
        Cases, and those that somebody has judged.
    """

    name: str
    challenger: str
    drawn_at: datetime
    cases: int
    judged: int

    @property
    def said(self) -> str:
        """In a sentence."""
        return (
            f"Audit {self.name} between champion and {self.challenger}, drawn on "
            f"{day_text(self.drawn_at)}: {self.judged} of {self.cases} cases read; "
            "pumonitor challenge says what follows."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self) | {"drawn_at": self.drawn_at.isoformat()}


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingOfAudits:
    """The audits of a monitor.

    Attributes
    ----------
    monitor : str
    audits : tuple of AuditStatus
        In the order of their first windows.
    between : tuple of BetweenStatus
        Those between the deployed model and a challenger, in the order of the draw.
    next_due : datetime or None
        When the next one is due; None unless the configuration says how often, or before the first.
    elsewhere : mapping of str to int
        Refused verdicts that belong to no audit of the monitor.
    """

    monitor: str
    audits: tuple[AuditStatus, ...]
    between: tuple[BetweenStatus, ...]
    next_due: datetime | None
    elsewhere: Mapping[str, int]

    @property
    def newest_decided(self) -> str:
        """Name of the audit that was drawn last of those with a decided case, else of all."""
        return max(self.audits, key=lambda one: (one.is_decided, one.audit.drawn_at)).audit.name

    def waiting_since(self, name: str) -> tuple[str, ...]:
        """Names of audits without a decided case that were drawn after another."""
        (shown,) = (one.audit for one in self.audits if one.audit.name == name)
        return tuple(
            one.audit.name
            for one in sorted(self.audits, key=lambda one: one.audit.drawn_at)
            if one.audit.drawn_at > shown.drawn_at and not one.is_decided
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "monitor": self.monitor,
            "audits": [one.to_dict() for one in self.audits],
            "between": [one.to_dict() for one in self.between],
            "next_due": None if self.next_due is None else self.next_due.isoformat(),
            "refused": dict(self.elsewhere),
        }


def standing_of_audits(ledger: Ledger, monitor: Monitor) -> StandingOfAudits:
    """Read how far the audits of a monitor are."""
    stored = {one.name: one for one in ledger.reviews.all(monitor.name)}
    readings = ledger.reviews.readings(monitor.name)
    unused = unused_audits(ledger, monitor)
    found = []
    for one in ledger.audits_as_read(monitor.name):
        kinds = Counter(case.kind for case in ledger.reviews.cases(one.name))
        own = [reading for reading in readings if reading.audit == one.name]
        found.append(
            AuditStatus(
                audit=one,
                actor=stored[one.name].actor,
                changes=unused.get(one.name, ()),
                seeds=kinds["seed"],
                twice=kinds["again"],
                read_at=own[0].read_at if own else None,
                refused=_refused(own),
            )
        )
    every = None if monitor.audits is None else monitor.audits.every
    last = max((one.drawn_at for one in stored.values()), default=None)
    return StandingOfAudits(
        monitor=monitor.name,
        audits=tuple(found),
        between=tuple(
            BetweenStatus(
                name=one.name,
                challenger=one.model_version,
                drawn_at=one.drawn_at,
                cases=sum(one.planned),
                judged=len(ledger.verdicts_in_order(one.name)),
            )
            for one in ledger.reviews.all(monitor.name, between=True)
        ),
        next_due=None if every is None or last is None else last + every,
        elsewhere=_refused([reading for reading in readings if reading.audit is None]),
    )


def _parts(audit: ReadAudit) -> list[tuple[tuple[int, ...], ...]]:
    return [(one.decided, one.positive, one.undecided) for one in audit.by_window.values()]


def _refused(readings: Sequence[StoredReading]) -> dict[str, int]:
    """By reason, of the last reading of each source."""
    seen: set[str] = set()
    found: Counter[str] = Counter()
    for one in readings:
        if one.source not in seen:
            seen.add(one.source)
            found.update(one.refused)
    return dict(found)
