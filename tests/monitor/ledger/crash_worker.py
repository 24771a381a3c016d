"""Works a ledger down with processes that are killed at every point in turn.

    crash_worker.py ADDRESS SENT_FILE WORKERS BEGIN STEP

A *point* is right before a statement, right before a commit, right after an operation, or between
sending a message and noting it. They are found by working down the monitor `traced` unharmed. Then
each worker is killed (SIGKILL) when it reaches the point it was given, and one that was given the
next point takes its place. When all points are used up workers live until nothing is left to do.
Every `STEP`th point from `BEGIN` on is used. Prints those points, which of them killed and which
did not. Who is left without a parent ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import event

from pumonitor.monitor.delivery_ports import OutboxMessage
from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.errors import StaleClaimError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.collected import CollectedPane, CollectedSeries
from pumonitor.monitor.ledger.records.results import (
    EvaluatedPane,
    EvaluatedSeries,
    MetricResult,
    NewMessage,
)
from pumonitor.tables import ScoreTable

TRACED = {"traced": "c0ffee"}
MONITORS = {"card-fraud": "c0ffee"}
LONG_AFTER = datetime(2030, 1, 1, tzinfo=UTC)
TABLE = ScoreTable.from_counts([1, 2, 7], [60, 30, 10], edges=[0.0, 0.3, 0.6, 1.0])
LEASE = timedelta(milliseconds=300)
RULES = WorkRules(lease=LEASE, attempts_allowed=10_000)
Step = Callable[[str], None]


def own_number(day: int, pane: int) -> int:
    """What a pane's own data say."""
    return 1000 * day + 7 * pane + 1


class Worker:
    """One worker's round of work, telling `on_step` each point it reaches."""

    def __init__(self, address: str, sent_file: Path) -> None:
        self.ledger = Ledger(Database(address), rules=RULES)
        self.sent_file = sent_file
        self.on_step: Step = lambda _: None
        self.monitors = TRACED
        self.name = f"process {os.getpid()}"
        self.operation = ""
        self.statements = 0
        engine = self.ledger.database.engine
        event.listen(engine, "before_cursor_execute", self._before_statement)
        event.listen(engine, "commit", lambda _: self._reached("before commit"))

    def _before_statement(self, *_: Any) -> None:
        self.statements += 1
        self._reached(f"before statement {self.statements}")

    def _reached(self, point: str) -> None:
        if self.operation:
            self.on_step(f"{self.operation}: {point}")

    def run(self, operation: str, work: Callable[[], Any]) -> Any:
        self.operation, self.statements = operation, 0
        answer = work()
        self._reached("done")
        self.operation = ""
        return answer

    def work_once(self) -> bool:
        """Collect a window, evaluate one, send some messages; whether there was anything."""
        worked = [self._collect(), self._evaluate(), self._send()]
        return any(worked)

    def _collect(self) -> bool:
        ledger = self.ledger
        claim = self.run(
            "claim_collect",
            lambda: ledger.claim_collect(self.name, now=LONG_AFTER, monitors=self.monitors),
        )
        if claim is not None:
            with suppress(StaleClaimError):  # on a machine that is slower than the lease is long
                self.run("renew", lambda: ledger.renew(claim))
                self.run("commit_collect", lambda: ledger.commit_collect(claim, collect(claim)))
        return claim is not None

    def _evaluate(self) -> bool:
        ledger = self.ledger
        claim = self.run(
            "claim_evaluate", lambda: ledger.claim_evaluate(self.name, monitors=self.monitors)
        )
        if claim is not None:
            judged = evaluate(ledger, claim)
            with suppress(StaleClaimError):
                self.run("commit_evaluate", lambda: ledger.commit_evaluate(claim, judged))
        return claim is not None

    def _send(self) -> bool:
        messages = self.run("claim_messages", self._messages)
        for message in messages:
            send(message, self.sent_file)
            self.on_step("sent")
            self.run("delivered", partial(self.ledger.outbox.delivered, message))
        return bool(messages)

    def _messages(self) -> Any:
        return self.ledger.outbox.claim("mlflow", limit=2, lease=LEASE)

    def is_done(self) -> bool:
        left = self.ledger.counts(now=LONG_AFTER)
        return not (left.to_collect or left.to_evaluate or self.ledger.outbox.waiting())


def day_of(claim: Claim) -> int:
    return claim.window.index - 20454


def collect(claim: Claim) -> list[CollectedPane]:
    return [
        CollectedPane(
            number=one.pane.number,
            digest=f"{day_of(claim)}.{one.pane.number}",
            counts={"predictions": 110},
            series=[
                CollectedSeries(
                    model_version="7",
                    segment="",
                    table=TABLE,
                    class_prior={"value": own_number(day_of(claim), one.pane.number)},
                )
            ],
        )
        for one in claim.panes
    ]


def evaluate(ledger: Ledger, claim: Claim) -> list[EvaluatedPane]:
    """A number that depends on what all earlier windows knew at the pane's moment."""
    evaluated = []
    for one in claim.panes:
        earlier = ledger.series_before(
            claim.monitor,
            claim.configuration,
            segment="",
            start=claim.window.start,
            as_of=one.pane.as_of,
            limit=5,
        )
        (own,) = ledger.series(claim.window_key, one.pane.number)
        total = float(sum((found.class_prior or {})["value"] for found in (own, *earlier)))
        key = f"{claim.monitor} {day_of(claim)}.{one.pane.number} revision {one.revision}"
        evaluated.append(
            EvaluatedPane(
                number=one.pane.number,
                series=[
                    EvaluatedSeries(
                        model_version="7",
                        segment="",
                        evaluation={"total": total},
                        results=[MetricResult(metric="auc", value=total)],
                    )
                ],
                messages=[
                    NewMessage(destination="mlflow", lane="7", key=key, payload={"total": total})
                ],
            )
        )
    return evaluated


def send(message: OutboxMessage, sent_file: Path) -> None:
    """The destination: one line per message, in one write."""
    line = json.dumps({"key": message.key, "total": message.payload["total"]}) + "\n"
    file = os.open(sent_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)


def all_points(worker: Worker) -> list[str]:
    """Work down the monitor that is there for it; what is compiled for it serves the forks too."""
    seen: dict[str, None] = {}
    worker.on_step = seen.setdefault
    while worker.work_once():
        pass
    worker.is_done()
    return list(seen)


def work_until_killed(worker: Worker, point: str | None, parent: int) -> None:
    def on_step(step: str) -> None:
        if os.getppid() != parent:
            os._exit(1)
        if step == point:
            os.kill(os.getpid(), signal.SIGKILL)

    worker.name = f"process {os.getpid()}"
    worker.on_step = on_step
    while worker.work_once() or not worker.is_done():
        time.sleep(0.03)  # at the end somebody's lease has to run out


def fork(worker: Worker, point: str | None) -> int:
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            work_until_killed(worker, point, parent)
        except BaseException:  # noqa: BLE001  # told by the exit status
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def main(address: str, sent_file: Path, *, workers: int, begin: int, step: int) -> int:
    started_by = os.getppid()
    worker = Worker(address, sent_file)
    points = all_points(worker)[begin::step]
    worker.monitors = MONITORS
    worker.ledger.close()  # no connection goes through a fork
    waiting = list(points)
    running: dict[int, str | None] = {}
    killed: list[str | None] = []
    survived: list[str | None] = []
    while waiting or running or None not in survived:
        while len(running) < workers and (waiting or None not in survived):
            point = waiting.pop(0) if waiting else None
            running[fork(worker, point)] = point
        child, status = os.wait()
        if os.getppid() != started_by:
            return 1
        point = running.pop(child)
        code = os.waitstatus_to_exitcode(status)
        if code not in {0, -signal.SIGKILL}:
            return 1
        (killed if code else survived).append(point)
    sys.stdout.write(json.dumps({"points": points, "killed": killed, "survived": survived}))
    return 0


if __name__ == "__main__":
    where, sent, *numbers = sys.argv[1:]
    of_workers, first, stride = map(int, numbers)
    sys.exit(main(where, Path(sent), workers=of_workers, begin=first, step=stride))
