"""The report of a calendar month, as MLflow is sent it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.reports.period.period_report import period_report
from pumonitor.monitor.rules.windows.named_period import read_period


def is_summary(asked: Mapping[str, Any]) -> bool:
    """Whether the report of a month is asked for, and not that of a window."""
    return "summary" in asked


def summary_files_of(
    monitors: Mapping[str, Monitor],
    ledger: LedgerReader,
    asked: Mapping[str, Any],
    *,
    now: datetime,
    pages: PageAddresses | None,
) -> dict[str, str]:
    """``summary-2026-03.html`` as it is known now; nothing if the monitor is gone.

    Parameters
    ----------
    monitors : mapping of str to Monitor
    ledger : LedgerReader
    asked : mapping
        Monitor and month, as `pumonitor.monitor.windows.messages.summaries` stores them.
    now : datetime
    pages : PageAddresses or None
    """
    monitor = monitors.get(asked["monitor"])
    if monitor is None:
        return {}
    period = read_period(asked["summary"], zone=monitor.zone)
    page = period_report(monitor, ledger, period, now=now, pages=pages)
    return {} if page is None else {f"summary-{period.name}.html": page}
