"""Audits in a round of work: before windows are evaluated, so that they are evaluated once."""

from __future__ import annotations

from datetime import datetime

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.round import Round

__all__ = ["read_verdicts_in_round"]


def read_verdicts_in_round(monitor: Monitor, ledger: Ledger, done: Round, *, now: datetime) -> None:
    """Read verdicts on a monitor's audits that are new; delete ids that were kept long enough.

    What fails is told of the round, and delays nothing else.
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
        done.failed(f"{monitor.name}, verdicts on audits", error)
