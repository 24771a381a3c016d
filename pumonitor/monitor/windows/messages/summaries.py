"""Message to MLflow with the report of a calendar month, once its windows are mature."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.delivery.mlflow.sink import FILES_DESTINATION
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.claims import Claim, ClaimedPane
from pumonitor.monitor.ledger.records.results import EvaluatedSeries, NewMessage
from pumonitor.monitor.rules.windows.named_period import NamedPeriod, month_of
from pumonitor.monitor.windows.messages.window_messages import message_of


def summary_of_month(
    monitor: Monitor,
    claim: Claim,
    claimed: ClaimedPane,
    series: Sequence[EvaluatedSeries],
    ledger: LedgerReader,
) -> list[NewMessage]:
    """One message if a mature window is the last of its month, or one of the month after.

    The second is for months whose last window has no predictions. All these messages have one key,
    of which the outbox takes the first.
    """
    of_all = [one for one in series if one.segment == ""]
    if claimed.pane.state != "mature" or not of_all:
        return []
    month = _complete_month(monitor, claimed, ledger)
    if month is None:
        return []
    message = message_of(monitor, claim, claimed, max(of_all, key=_predictions))
    asked = {"monitor": monitor.name, "summary": month.name}
    return [
        NewMessage(
            destination=FILES_DESTINATION,
            # A lane of its own: reports of windows wait for none of it.
            lane=f"summary/{monitor.name}",
            key=f"summary:{monitor.name}:{claim.configuration}:{month.name}",
            payload={**message.to_payload(), "metrics": {}, "report": asked},
        )
    ]


def _complete_month(
    monitor: Monitor, claimed: ClaimedPane, ledger: LedgerReader
) -> NamedPeriod | None:
    window = claimed.pane.window
    month = month_of(window.start, zone=monitor.zone)
    if window.end >= month.end:
        return month
    before = month_of(month.start - timedelta.resolution, zone=monitor.zone)
    known = ledger.series_of(
        ["predictions"], monitors=[monitor.name], since=before.start, until=before.end, limit=1
    )
    return before if known.metric else None


def _predictions(series: EvaluatedSeries) -> float:
    return next((one.value or 0.0 for one in series.results if one.metric == "predictions"), 0.0)
