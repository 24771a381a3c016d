"""A process of its own that sends windows to MLflow."""

from __future__ import annotations

import json
import sys

from pumonitor.monitor.delivery.mlflow.limits import Limits
from pumonitor.monitor.delivery.mlflow.sink import MlflowSink
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from pumonitor.monitor.delivery_ports import OutboxMessage

TRIES = 5


class RunIdsInMemory(dict[str, str]):
    def set(self, key: str, run_id: str) -> None:
        self[key] = run_id


def main(address: str) -> None:
    """Read payloads from the first line, wait for the second, send them."""
    payloads = json.loads(sys.stdin.readline())
    sink = MlflowSink(address, run_ids=RunIdsInMemory(), limits=Limits(timeout_seconds=30))
    with Limits().applied():
        import mlflow  # noqa: F401  # before the start, so that both start at once
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for payload in payloads:
        message = OutboxMessage(id=1, destination="mlflow", lane="a", key="a", payload=payload)
        for remaining in reversed(range(TRIES)):
            try:
                sink.send(message)
                break
            except MessageRefusedError:
                # Both wrote the same point at once; a deliverer would come back later.
                if not remaining:
                    raise


if __name__ == "__main__":
    main(sys.argv[1])
