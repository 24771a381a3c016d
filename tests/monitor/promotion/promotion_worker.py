"""Promotes, undoes or heals in processes that are killed at every point in turn.

    promotion_worker.py kill LEDGER REGISTRY PREFIX WORK BEGIN STEP
    promotion_worker.py race LEDGER REGISTRY MODEL PROMOTERS

A *point* is before and after a request to the registry, before a statement of the ledger and before
its commit. `kill` has a process for each point, which is killed (SIGKILL) when it reaches it, with
a registered model of its own, PREFIX and the number of the point; WORK is `promote`, `undo`, or
`heal` of a promotion that was killed right after it had moved the alias. Prints the points at
which a process was killed, and that at which one came to the end. `race` lets processes promote
versions from 2 on at once, and prints how each ended. All is imported once; no connection goes
through a fork.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from typing import Any

from sqlalchemy import event

from pumonitor.monitor.config.sections.destinations import Destination
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.promotions import PromotionUnderWayError
from pumonitor.monitor.ledger.records.promotions import Evidence
from pumonitor.monitor.promotion.promoter import Promoter, PromotionRefusedError
from pumonitor.monitor.promotion.registry import Registry

MONITOR = "card-fraud"

EVIDENCE = Evidence(
    metric="recall",
    difference=0.0312,
    low=0.012,
    high=0.05,
    confidence_level=0.95,
    labels=412,
    windows=12,
    first_window=datetime(2026, 1, 5, tzinfo=UTC),
    last_window=datetime(2026, 3, 23, tzinfo=UTC),
    verdict="better",
    evaluation="5f0c77aa",
)


DESTINATIONS = {
    "chat": Destination.model_validate({"apprise": "json://chat.example"}),
    "hook": Destination.model_validate({"webhook": "https://hook.example/in"}),
    "retrain": Destination.model_validate(
        {"webhook": "https://ci.example/retrain", "events": ["fired"]}
    ),
    "pager": Destination.model_validate({"alertmanager": "http://am.example:9093"}),
}


PROMOTED, UNDER_WAY, REFUSED = 0, 10, 11
_HERE = 20
"""Exit status: it came to the end without being killed."""


def registered(client: Any, model: str, *, versions: int = 3, champion: str | None = "1") -> str:
    """A registered model with versions from 1, one of which has the alias."""
    client.create_registered_model(model)
    for _ in range(versions):
        client.create_model_version(model, "s3://nowhere/model")
    if champion is not None:
        client.set_registered_model_alias(model, "champion", champion)
    return model


class Points:
    """Numbers the points that a process passes, and kills it at one of them."""

    def __init__(self, kill_at: int) -> None:
        self.kill_at = kill_at
        self.number = -1
        self.armed = False

    def passed(self, _name: str) -> None:
        if self.armed:
            self.number += 1
            if self.number == self.kill_at:
                os.kill(os.getpid(), signal.SIGKILL)


class WatchedRegistry(Registry):
    """Passes a point before and after each request."""

    points: Points

    @contextmanager
    def _asking(self) -> Iterator[None]:
        self.points.passed("before a request")
        with super()._asking():
            yield
        self.points.passed("after a request")


class Worker:
    """A process with its own ledger and registry."""

    def __init__(self, ledger: str, registry: str, points: Points) -> None:
        self.ledger = Ledger.open(ledger)
        engine = self.ledger.database.engine
        event.listen(engine, "before_cursor_execute", lambda *_: points.passed("statement"))
        event.listen(engine, "commit", lambda _: points.passed("commit"))
        watched = WatchedRegistry(registry)
        watched.points = points
        self.points = points
        self.on_step: Callable[[str], None] = lambda step: None
        self.promoter = Promoter(
            self.ledger.promotions,
            watched,
            destinations=DESTINATIONS,
            on_step=self._step,
        )

    def promote(self, model: str, version: str = "2", *, actor: str = "ana") -> None:
        self.promoter.promote(
            MONITOR, model, compared_with="1", version=version, evidence=EVIDENCE, actor=actor
        )

    def _step(self, step: str) -> None:
        self.on_step(step)

    def die_at(self, step: str) -> None:
        def on_step(now: str) -> None:
            if now == step:
                os.kill(os.getpid(), signal.SIGKILL)

        self.on_step = on_step


def in_a_process(work: Callable[[], int]) -> int:
    """Exit status of a fork that does it; minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(work())
        except BaseException:  # noqa: BLE001  # told by the exit status
            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def prepared(ledger: str, registry: str, model: str, work: str) -> int:
    """What is there before the process that is killed."""
    from mlflow import MlflowClient

    registered(MlflowClient(tracking_uri=registry, registry_uri=registry), model)
    worker = Worker(ledger, registry, Points(-1))
    if work == "heal":
        worker.die_at("keep")
    if work != "promote":
        worker.promote(model)
    return 0


def killed(ledger: str, registry: str, model: str, work: str, at: int) -> int:
    worker = Worker(ledger, registry, Points(at))
    worker.points.armed = True
    if work == "promote":
        worker.promote(model)
    elif work == "undo":
        worker.promoter.undo(MONITOR, model, actor="ben")
    else:
        worker.promoter.heal(model)
    return _HERE


def kill(ledger: str, registry: str, prefix: str, work: str, begin: str, step: str) -> list[int]:
    points = []
    for at in count(int(begin), int(step)):
        model = f"{prefix}{at}"
        status = in_a_process(lambda: prepared(ledger, registry, model, work))  # noqa: B023
        assert status == (-signal.SIGKILL if work == "heal" else 0), status
        status = in_a_process(lambda: killed(ledger, registry, model, work, at))  # noqa: B023
        points.append(at)
        if status == _HERE:
            return points
        assert status == -signal.SIGKILL, status
    raise AssertionError


def race(ledger: str, registry: str, model: str, promoters: str) -> list[int]:
    """Exit statuses, in the order of the versions."""
    go, start = os.pipe()
    children = [
        promoting(ledger, registry, model, str(2 + one), go) for one in range(int(promoters))
    ]
    os.write(start, b"." * len(children))
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def promoting(ledger: str, registry: str, model: str, version: str, go: int) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        worker = Worker(ledger, registry, Points(-1))
        os.read(go, 1)
        worker.promote(model, version, actor=f"process {version}")
        status = PROMOTED
    except PromotionUnderWayError:
        status = UNDER_WAY
    except PromotionRefusedError:
        status = REFUSED
    except BaseException:  # noqa: BLE001  # told by the exit status
        traceback.print_exc()
    os._exit(status)


def main(how: str, *arguments: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import alembic.command  # noqa: F401
        import psycopg  # noqa: F401

        import pumonitor.monitor.ledger.database.migrations.upgrade  # noqa: F401
    return {"kill": kill, "race": race}[how](*arguments)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])))
