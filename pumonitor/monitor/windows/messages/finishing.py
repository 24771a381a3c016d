"""Finish the runs of a monitor in MLflow when its model is no longer monitored."""

from __future__ import annotations

from datetime import datetime

from pumonitor.monitor.delivery.mlflow.run_end import RunEnd
from pumonitor.monitor.delivery.mlflow.sink import DESTINATION, lane
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import NewMessage


def finish_runs(ledger: Ledger, monitor: str, *, now: datetime) -> None:
    """Put a message that finishes all runs of a monitor into the outbox; results open them again.

    Parameters
    ----------
    ledger : Ledger
    monitor : str
    now : datetime
        Runs with later results stay open.
    """
    end = RunEnd(
        monitor=monitor,
        model_version=None,
        configuration=None,
        as_of=now,
        reason="the monitor is done",
    )
    message = NewMessage(
        destination=DESTINATION,
        lane=lane(monitor, ""),
        key=f"end:{monitor}:{now.isoformat()}",
        payload=end.to_payload(),
    )
    with ledger.database.writing() as connection:
        at = ledger.database.now(connection)
        enqueue(connection, ledger.database, [message], at=at)
    ledger.note("pumonitor", "finish", {"monitor": monitor})
