"""Finish the MLflow runs of model versions that make no more predictions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.delivery.mlflow.run_end import RunEnd
from pumonitor.monitor.delivery.mlflow.sink import DESTINATION, lane
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.claims import Claim, ClaimedPane
from pumonitor.monitor.ledger.records.results import EvaluatedSeries, NewMessage
from pumonitor.monitor.ledger.results.labels_at_age import labels_at_age

_WINDOWS_BACK: Final = 31


def ends_of_superseded(
    monitor: Monitor,
    claim: Claim,
    claimed: ClaimedPane,
    series: Sequence[EvaluatedSeries],
    ledger: LedgerReader,
) -> list[NewMessage]:
    """One message for each version that occurs in the 31 windows before but not in this one.

    Only at the last pane of the window, so that all windows of the version are finished.
    """
    pane = claimed.pane
    here = sorted({one.model_version for one in series if one.segment == ""})
    if pane.number < monitor.pane_schedule.panes(pane.window)[-1].number or not here:
        return []
    length = pane.window.end - pane.window.start
    with ledger.database.reading() as connection:
        counts = labels_at_age(
            connection,
            monitor=claim.monitor,
            configuration=claim.configuration,
            segment="",
            number=pane.number,
            since=pane.window.start - _WINDOWS_BACK * length,
            until=pane.window.start,
            as_of=pane.as_of,
            most=2 * _WINDOWS_BACK,
        )
    last: dict[str, datetime] = {one.model_version: one.window.start for one in counts}
    return [
        NewMessage(
            destination=DESTINATION,
            lane=lane(claim.monitor, version),
            key=f"end:{claim.monitor}:{claim.configuration}:{version}:{start.isoformat()}",
            payload=RunEnd(
                monitor=claim.monitor,
                model_version=version,
                configuration=claim.configuration,
                as_of=pane.as_of,
                reason=f"superseded by version {', '.join(here)}",
            ).to_payload(),
        )
        for version, start in sorted(last.items())
        if version not in here
    ]
