"""Whole rounds of a monitor while its MLflow is away; then MLflow has what the ledger says."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from threading import Event, Semaphore
from typing import Any
from urllib.request import urlopen

import pytest
from sqlalchemy import update

from pumonitor.monitor.app import open_jobs
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.delivery.mlflow.limits import Limits
from pumonitor.monitor.delivery.sending.delivery import Patience
from pumonitor.monitor.inspection import connections
from pumonitor.monitor.inspection.complaint import Complaint
from pumonitor.monitor.inspection.doctor import examine
from pumonitor.monitor.ledger.database.schema import outbox
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.round import Round
from pumonitor.monitor.serving.health import health_server
from tests.monitor.delivery.mlflow.conftest import WARNINGS_OF_MLFLOW
from tests.monitor.delivery.mlflow.faulty_proxy import (
    Answer,
    FaultyProxy,
    Request,
    fails,
    loses_its_answer,
)
from tests.monitor.delivery.mlflow.mlflow_history import active_runs, file_paths, runs_ever
from tests.monitor.delivery.mlflow.mlflow_server import Server
from tests.monitor.ledger.monitored_days import run_out
from tests.monitor.mlflow_and_ledger import MONITOR, assert_mlflow_holds_what_is_recorded
from tests.monitor.monitored_shop import FIRST, write_shop

pytestmark = [
    pytest.mark.slow,
    *(pytest.mark.filterwarnings(accepted) for accepted in WARNINGS_OF_MLFLOW),
]

DAYS = 3
BUDGET = timedelta(seconds=60)
LATE = timedelta(days=5)
"""A maturity that no day reaches: no reports, which take seconds to make."""
DAYS_OF_REPORTS = timedelta(days=2)


@dataclass
class Service:
    """A monitored shop that is worked on day by day, each time as by a new process."""

    configuration: Configuration
    ledger: Ledger
    proxy: FaultyProxy
    readyz: str
    ready: list[int] = field(default_factory=list)

    def probe(self) -> None:
        with urlopen(self.readyz, timeout=10) as answer:  # noqa: S310
            self.ready.append(answer.status)

    def works(self, day: int, *, limits: Limits) -> Round:
        """A round at the end of a day; its waits are over when the next one begins."""
        now = FIRST + timedelta(days=day)
        with open_jobs(self.configuration, clock=lambda: now, deliver=True, limits=limits) as jobs:
            begun = time.monotonic()
            done = jobs.run(budget=BUDGET)
            assert time.monotonic() - begun < BUDGET.total_seconds()
        self.probe()
        run_out(self.ledger)
        return done

    def complaints(self, day: int) -> list[Complaint]:
        """What the doctor says when all that waits has waited for hours."""
        with self.ledger.database.writing() as connection:
            hours_ago = self.ledger.database.now(connection) - timedelta(hours=3)
            connection.execute(update(outbox).values(created=hours_ago))
        return examine(self.configuration, now=FIRST + timedelta(days=day))


@pytest.fixture
def serving(tmp_path: Path, proxy: FaultyProxy) -> Iterator[Callable[..., Service]]:
    with ExitStack() as stack:

        def start(**options: Any) -> Service:
            path = write_shop(
                tmp_path, days=DAYS, with_versions=True, tracking=proxy.address, **options
            )
            configuration = read_configuration(path).configuration
            ledger = stack.enter_context(Ledger.open(configuration.state_address))
            port = stack.enter_context(health_server("127.0.0.1:0", ready=ledger.ready))
            return Service(configuration, ledger, proxy, f"http://127.0.0.1:{port}/readyz")

        yield start


@contextmanager
def refusing(service: Service) -> Iterator[None]:
    """Nobody listens."""
    service.proxy.stop()
    yield
    service.proxy.start()


@contextmanager
def hanging(service: Service) -> Iterator[None]:
    """Stuck at the third request; what hangs is carried out when its senders have long given up."""
    over, late = Event(), Semaphore(0)
    asked = 0

    def react(request: Request) -> Answer | None:
        nonlocal asked
        asked += 1
        if asked < 3:
            return service.proxy.forward(request)
        service.probe()
        over.wait()
        answer = service.proxy.forward(request)
        late.release()
        return answer

    service.proxy.react = react
    yield
    service.proxy.react = service.proxy.forward
    over.set()
    for _ in range(asked - 2):
        assert late.acquire(timeout=30)


@contextmanager
def failing(service: Service) -> Iterator[None]:
    """Every request is answered with status 500."""

    def react(request: Request) -> Answer | None:
        service.probe()
        return fails(service.proxy, request)

    service.proxy.react = react
    yield
    service.proxy.react = service.proxy.forward


@contextmanager
def losing_answers(service: Service) -> Iterator[None]:
    """What changes something is done, and nobody hears of it."""

    def react(request: Request) -> Answer | None:
        service.probe()
        if request.method == "GET" or request.path.endswith("search"):
            return service.proxy.forward(request)
        return loses_its_answer(service.proxy, request)

    service.proxy.react = react
    yield
    service.proxy.react = service.proxy.forward


def assert_all_is_recorded(ledger: Ledger, day: int) -> None:
    now = FIRST + timedelta(days=day)
    windows = ledger.windows(MONITOR)
    left = ledger.counts(now=now)
    assert [one.window.end for one in windows] == [
        FIRST + timedelta(days=end) for end in range(1, day + 1)
    ]
    assert all(
        (pane.status == "evaluated") == (pane.as_of <= now) for one in windows for pane in one.panes
    )
    assert {(one.attempts, one.last_error) for one in windows} == {(0, None)}
    assert (left.to_collect, left.to_evaluate, left.failing) == (0, 0, 0)


AT_ONCE = Limits(timeout_seconds=1, retries=0)
NO_ANSWER = r"^MLflow: http://127\.0\.0\.1:\d+ does not answer \(%s\)"


@pytest.mark.parametrize(
    ("outage", "days", "limits", "maturity", "reason", "doctor"),
    [
        (
            refusing,
            (2, 3),
            Limits(),
            DAYS_OF_REPORTS,
            "Connection refused",
            NO_ANSWER % "ConnectionError",
        ),
        (hanging, (2,), AT_ONCE, LATE, "timed out", NO_ANSWER % "ReadTimeout"),
        (failing, (2, 2), Limits(), LATE, "500", r"^MLflow: \S+ answers 500 to /health"),
        # MLflow's client tries again itself, so what makes a run makes two.
        (
            losing_answers,
            (2, 2),
            Limits(retries=1),
            LATE,
            "Connection aborted|closed connection",
            None,
        ),
    ],
    ids=["refusing", "hanging", "failing", "losing answers"],
)
def test_nothing_is_lost_doubled_or_held_up_by_an_outage(
    outage: Callable[[Service], AbstractContextManager[None]],
    days: tuple[int, ...],
    limits: Limits,
    maturity: timedelta,
    reason: str,
    doctor: str | None,
    mlflow_server: Server,
    serving: Callable[..., Service],
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if outage is hanging:
        monkeypatch.setattr(connections, "_SECONDS", 1)
    service = serving(maturity=maturity)
    service.works(1, limits=Limits())
    with outage(service):
        for day in days:
            done = service.works(day, limits=limits)
            assert done.failures == []
            sent = done.deliveries["mlflow"]
            # One message of each version: what comes after it in its lane has to wait.
            assert (sent.delivered, sent.failed, sent.set_aside) == (0, 2, 0)
            assert re.search(reason, sent.reason)
            assert_all_is_recorded(service.ledger, day)
        complaints = service.complaints(days[-1])
    assert set(service.ready) == {200}
    assert all(not one.what.startswith(MONITOR) for one in complaints)
    waits = [one.what for one in complaints if one.what.startswith("mlflow: ")]
    assert len(waits) == 1
    assert re.search(f"messages wait, the oldest 3 hours: .*({reason})", waits[0])
    errors = {one.what for one in complaints if one.severity == "error"}
    assert waits[0] in errors
    errors = {one for one in errors if not one.startswith(("mlflow: ", "mlflow-files: "))}
    assert len(errors) == (doctor is not None), errors
    assert all(re.search(str(doctor), error) for error in errors), errors

    done = service.works(days[-1], limits=Limits())
    assert (done.collected, done.evaluated, done.failures) == (0, 0, [])
    assert service.ledger.outbox.waiting() == {}
    assert_mlflow_holds_what_is_recorded(mlflow_server, client, service.ledger)
    files = {
        path for run in active_runs(client, MONITOR) for path in file_paths(client, run.info.run_id)
    }
    folder = "pumonitor/windows/2026-01-01T000000Z"
    reports = {f"{folder}/evaluation.json", f"{folder}/report.html"}
    assert files == (reports if maturity == DAYS_OF_REPORTS else set())
    assert (len(runs_ever(client, MONITOR)) > 2) == (outage is losing_answers)
    assert service.complaints(days[-1]) == []


def test_a_service_leaves_mlflow_alone_for_a_while_and_then_goes_on(
    mlflow_server: Server, serving: Callable[..., Service], client: Any
) -> None:
    service = serving(maturity=LATE)
    day = 1
    a_moment = timedelta(seconds=2)
    patience = Patience(first_wait=a_moment, longest_wait=a_moment, failures_to_open=2)
    with open_jobs(
        service.configuration, clock=lambda: FIRST + timedelta(days=day), patience=patience
    ) as jobs:
        jobs.run(budget=BUDGET)
        with failing(service):
            day = 2
            assert jobs.run(budget=BUDGET).deliveries["mlflow"].stopped == "left alone"
            asked = len(service.proxy.requests)
            assert jobs.deliver(budget=BUDGET)["mlflow"].stopped == "left alone"
            assert len(service.proxy.requests) == asked
        assert_all_is_recorded(service.ledger, 2)
        until = time.monotonic() + 30
        while jobs.ledger.outbox.waiting() and time.monotonic() < until:
            time.sleep(0.05)
            jobs.deliver(budget=BUDGET)
        assert_mlflow_holds_what_is_recorded(mlflow_server, client, jobs.ledger)
        jobs.stop()
        assert jobs.deliver(budget=BUDGET)["mlflow"].stopped == "told to stop"
