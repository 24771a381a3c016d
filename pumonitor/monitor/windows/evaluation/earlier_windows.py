"""The windows before one, as they were known at the moment of its pane."""

from __future__ import annotations

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.ledger.results.mature_series import MatureSeries, mature_series
from pumonitor.ports import Pane
from pumonitor.reviews.earlier import MOST_EARLIER, EarlierWindows

__all__ = ["earlier_windows"]


def earlier_windows(
    ledger: LedgerReader, monitor: Monitor, configuration: str, stored: StoredSeries, pane: Pane
) -> EarlierWindows | None:
    """What reviews said of the last mature windows before a series of a pane; None without any.

    Of the same model version and segment. While complaints of the window itself are to come none
    is used: another share of its positives has complained than of theirs.
    """
    if not monitor.reviews or pane.state == "provisional":
        return None
    now = stored.table()
    if now is None:
        return None
    asked = MatureSeries(
        monitor=monitor.name,
        configuration=configuration,
        model_version=stored.model_version,
        segment=stored.segment,
        since=None,
        until=stored.window.start,
        as_of=pane.as_of,
    )
    with ledger.database.reading() as connection:
        mature = mature_series(connection, asked, most=MOST_EARLIER, which="last")
    # A gap is none of the windows before: too much may have changed since.
    near = [
        series.table()
        for series in mature
        if series.window.index >= stored.window.index - MOST_EARLIER
    ]
    return EarlierWindows.of(
        [table for table in near if table is not None], now, threshold=monitor.threshold
    )
