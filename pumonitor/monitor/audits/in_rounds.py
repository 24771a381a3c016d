"""Audits in a round of work: before windows are evaluated, so that they are evaluated once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.ledger import Ledger


def read_verdicts_in_round(
    monitor: Monitor,
    ledger: Ledger,
    *,
    now: datetime,
    on_failure: Callable[[str, Exception], object],
) -> None:
    """Read verdicts on a monitor's audits that are new; delete ids that were kept long enough.

    `on_failure` is told what failed and why; nothing else is delayed by it.
    """
    if monitor.audits is None:
        return
    from pumonitor.monitor.audits.reading import delete_old_ids, read_configured

    try:
        delete_old_ids(ledger, monitor, now=now)
        read_configured(ledger, monitor)
    except StateError:
        raise
    except Exception as error:  # noqa: BLE001 (windows are evaluated without them)
        on_failure(f"{monitor.name}, verdicts on audits", error)
