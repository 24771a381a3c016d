"""How far the audits of a monitor are: drawn, read, refused, and when the next one is due."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pumonitor.monitor.audits.unused import unused_audits
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.audits import ReadAudit, StoredReading
from pumonitor.monitor.views.audits import AuditStatusView, AuditsView, BetweenAuditView

__all__ = ["audits_view"]


def audits_view(ledger: Ledger, monitor: Monitor) -> AuditsView:
    """Read how far the audits of a monitor are."""
    stored = {audit.name: audit for audit in ledger.reviews.all(monitor.name)}
    readings = ledger.reviews.readings(monitor.name)
    unused = unused_audits(ledger, monitor)
    every = None if monitor.audits is None else monitor.audits.every
    last = max((audit.drawn_at for audit in stored.values()), default=None)
    return AuditsView(
        monitor=monitor.name,
        audits=[
            _status(
                ledger,
                audit,
                actor=stored[audit.name].actor,
                changes=unused.get(audit.name, ()),
                readings=[reading for reading in readings if reading.audit == audit.name],
            )
            for audit in ledger.audits_as_read(monitor.name)
        ],
        between=[
            BetweenAuditView(
                name=audit.name,
                challenger=audit.model_version,
                drawn_at=audit.drawn_at,
                cases=sum(audit.planned),
                judged=len(ledger.verdicts_in_order(audit.name)),
            )
            for audit in ledger.reviews.all(monitor.name, between=True)
        ],
        next_due=None if every is None or last is None else last + every,
        refused=_refused([reading for reading in readings if reading.audit is None]),
    )


def _status(
    ledger: Ledger,
    audit: ReadAudit,
    *,
    actor: str,
    changes: Sequence[str],
    readings: Sequence[StoredReading],
) -> AuditStatusView:
    lines = Counter(case.kind for case in ledger.reviews.cases(audit.name))
    counts = audit.by_window.values()
    return AuditStatusView.from_record(
        audit,
        audit=audit.name,
        windows=len(audit.by_window),
        drawn_by=actor,
        is_current=not changes,
        changes=list(changes),
        decided=sum(sum(window.decided) for window in counts),
        positive=sum(sum(window.positive) for window in counts),
        undecided=sum(sum(window.undecided) for window in counts),
        seeds=lines["seed"],
        seeds_decided=audit.seeds_known,
        twice=lines["again"],
        read_at=readings[0].read_at if readings else None,
        refused=_refused(readings),
    )


def _refused(readings: Sequence[StoredReading]) -> dict[str, int]:
    """By reason, of the last reading of each source."""
    seen: set[str] = set()
    found: Counter[str] = Counter()
    for one in readings:
        if one.source not in seen:
            seen.add(one.source)
            found.update(one.refused)
    return dict(found)
