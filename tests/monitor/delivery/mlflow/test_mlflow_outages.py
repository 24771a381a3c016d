"""A real MLflow server that is down, hangs, fails or whose answers get lost; then all is there."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.monitor.delivery.mlflow.faulty_proxy import (
    FAIL,
    Answer,
    FaultyProxy,
    React,
    Request,
    fails,
    fails_after_it_was_done,
    is_never_forwarded,
    loses_its_answer,
)
from tests.monitor.delivery.mlflow.mlflow_history import (
    active_runs,
    expected_points,
    file_paths,
    only_run,
    points_of,
    runs_ever,
)
from tests.monitor.delivery.mlflow.mlflow_server import Server
from tests.monitor.delivery.mlflow.sent_windows import Make
from tests.monitor.delivery.mlflow.through_a_proxy import Service

WRITER = Path(__file__).with_name("mlflow_writer.py")


@pytest.fixture
def server(mlflow_server: Server) -> Server:
    return mlflow_server


@pytest.fixture
def client(server: Server, mlflow_client_class: Any) -> Any:
    return mlflow_client_class(tracking_uri=server.address, registry_uri=server.address)


def assert_exactly(client: Any, payloads: list[dict[str, Any]]) -> None:
    """One run holds each point once and no other; its files and newest pane are there."""
    run = only_run(client, payloads[0]["monitor"])
    assert points_of(client, run) == expected_points(payloads)
    assert len(file_paths(client, run.info.run_id)) == sum("files" in each for each in payloads)
    assert run.data.tags.get("pumonitor.status") == payloads[-1].get("verdict")


FAULTS = (fails, is_never_forwarded, loses_its_answer, fails_after_it_was_done)


def faulty_at(proxy: FaultyProxy, at: int, fault: Callable[..., Answer | None]) -> React:
    """The fault at one request of those to come."""
    first = len(proxy.requests)
    return lambda request: (
        fault(proxy, request) if request.number == first + at else proxy.forward(request)
    )


def faulty_on(proxy: FaultyProxy, path: str, fault: Callable[..., Answer | None]) -> React:
    """The fault at the first request for a path."""
    met: list[Request] = []

    def react(request: Request) -> Answer | None:
        if path in request.path and not met:
            met.append(request)
            return fault(proxy, request)
        return proxy.forward(request)

    return react


def deliver_with(
    react: React, proxy: FaultyProxy, client: Any, payloads: list[dict[str, Any]], retries: int
) -> int:
    """All is there once, whatever happened; how many requests it took."""
    service = Service(proxy.address, retries=retries)
    service.add(*payloads)
    before = len(proxy.requests)
    proxy.react = react
    service.deliver_all()
    needed = len(proxy.requests) - before
    assert_exactly(client, payloads)
    if retries == 0:
        assert len(runs_ever(client, payloads[0]["monitor"])) == 1
    return needed


@pytest.mark.parametrize(
    ("fault", "path", "retries"),
    [
        # What makes something is what could be made twice.
        (loses_its_answer, "experiments/create", 0),
        (loses_its_answer, "runs/create", 0),
        (loses_its_answer, "runs/log-batch", 0),
        (fails, "runs/search", 0),
        (is_never_forwarded, "runs/create", 0),
        (fails_after_it_was_done, "mlflow-artifacts", 0),
        # MLflow tries again itself, so what makes a run makes two.
        (loses_its_answer, "runs/create", 1),
    ],
)
def test_a_request_that_goes_wrong_leaves_the_same_history(
    fault: Callable[..., Answer | None],
    path: str,
    retries: int,
    proxy: FaultyProxy,
    client: Any,
    two_panes: Any,
) -> None:
    payloads = two_panes(f"{fault.__name__} {path.replace('/', ' ')} {retries}")
    deliver_with(faulty_on(proxy, path, fault), proxy, client, payloads, retries)
    assert any(path in request.path for request in proxy.requests)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "retries", "every"),
    [
        (loses_its_answer, 0, 1),
        (fails, 0, 2),
        (is_never_forwarded, 0, 3),
        (fails_after_it_was_done, 0, 3),
        (loses_its_answer, 1, 2),
    ],
)
def test_whichever_request_goes_wrong_the_history_is_the_same(
    fault: Callable[..., Answer | None],
    retries: int,
    every: int,
    proxy: FaultyProxy,
    client: Any,
    two_panes: Any,
) -> None:
    def deliver_with_fault_at(at: int, react: React) -> int:
        payloads = two_panes(f"{fault.__name__} {retries} {at}")
        return deliver_with(react, proxy, client, payloads, retries)

    needed = deliver_with_fault_at(-1, proxy.forward)
    assert needed >= 8
    for at in range(0, needed, every):
        deliver_with_fault_at(at, faulty_at(proxy, at, fault))


def test_a_server_that_is_down_then_up(proxy: FaultyProxy, client: Any, two_panes: Any) -> None:
    payloads = two_panes("refused")
    service = Service(proxy.address, retries=2)
    service.add(payloads[0])
    proxy.stop()
    found = service.deliver()
    assert (found.delivered, found.failed) == (0, 1)
    assert "Connection refused" in found.reason
    proxy.start()
    service.add(payloads[1])
    service.deliver_all()
    assert_exactly(client, payloads)


def test_a_server_that_accepts_and_never_answers(
    proxy: FaultyProxy, client: Any, two_panes: Any
) -> None:
    payloads = two_panes("never answers")
    service = Service(proxy.address, timeout_seconds=1)
    service.add(*payloads)
    proxy.stop()
    with silent(proxy.port):
        found = service.deliver()
    assert (found.delivered, found.failed) == (0, 1)
    assert "timed out" in found.reason
    proxy.start()
    service.deliver_all()
    assert_exactly(client, payloads)


@contextmanager
def silent(port: int) -> Iterator[None]:
    """A socket that accepts connections and never answers."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
        yield


@pytest.mark.parametrize(
    "stopped_at",
    [
        pytest.param("experiments/create", marks=pytest.mark.slow),
        "runs/create",
        pytest.param("runs/log-batch", marks=pytest.mark.slow),
    ],
)
def test_a_server_stopped_in_the_middle_that_goes_on_later(
    stopped_at: str, server: Server, proxy: FaultyProxy, client: Any, two_panes: Any
) -> None:
    payloads = two_panes(f"stopped {stopped_at.replace('/', ' ')}")
    service = Service(proxy.address, timeout_seconds=2)
    service.add(payloads[0])
    stopped, done = threading.Event(), threading.Event()

    def stops_once(request: Request) -> Answer | None:
        if request.path.endswith(stopped_at) and not done.is_set():
            proxy.react = proxy.forward
            server.signal(signal.SIGSTOP)
            stopped.set()
            # Carried out when the server goes on, long after its sender gave up.
            answer = proxy.forward(request)
            done.set()
            return answer
        return proxy.forward(request)

    proxy.react = stops_once
    for _ in range(5):  # on a slow machine something before it may time out as well
        found = service.deliver()
        assert (found.delivered, found.failed) == (0, 1)
        assert "timed out" in found.reason
        if stopped.is_set():
            break
    server.signal(signal.SIGCONT)
    service.deliver_all()
    assert done.wait(30)
    service.add(payloads[1])
    service.deliver_all()
    assert_exactly(client, payloads)


@pytest.mark.slow
def test_a_run_made_long_after_its_sender_gave_up_is_swept_up(
    proxy: FaultyProxy, client: Any, two_panes: Any
) -> None:
    payloads = two_panes("made late")
    service = Service(proxy.address)
    held: list[Request] = []

    def holds_back(request: Request) -> Answer | None:
        if request.path.endswith("runs/create") and not held:
            held.append(request)
            return None
        return proxy.forward(request)

    proxy.react = holds_back
    service.add(payloads[0])
    service.deliver_all()
    # It is older by its start, so what is there already moves to it.
    proxy.forward(held[0])
    assert len(active_runs(client, "made late")) == 2
    service.add(payloads[1])
    service.deliver_all()
    assert_exactly(client, payloads)


def test_a_run_merged_away_just_before_it_is_written_to(
    proxy: FaultyProxy, client: Any, payload: Make
) -> None:
    payloads = [payload(day, monitor="merged away") for day in range(2)]
    service = Service(proxy.address)
    service.add(payloads[0])
    service.deliver_all()
    run = only_run(client, "merged away")
    key = {"pumonitor.run_key": run.data.tags["pumonitor.run_key"]}

    def another_writer(request: Request) -> Answer:
        if request.path.endswith("runs/log-batch"):
            proxy.react = proxy.forward
            client.create_run(run.info.experiment_id, start_time=1, tags=key)
            client.delete_run(run.info.run_id)
        return proxy.forward(request)

    proxy.react = another_writer
    service.add(payloads[1])
    found = service.deliver()
    assert (found.delivered, found.failed) == (1, 0)
    other = only_run(client, "merged away")
    assert other.info.run_id != run.info.run_id
    assert points_of(client, other) == expected_points(payloads[1:])


@pytest.mark.slow
def test_an_outage_of_many_windows(proxy: FaultyProxy, client: Any, payload: Make) -> None:
    """Every third request goes wrong in some way, and now and then all of them do."""
    payloads = [
        payload(day, revision, monitor="long outage", verdict=f"day {day}.{revision}")
        for day in range(2)
        for revision in range(3)
    ]
    service = Service(proxy.address)
    service.add(*payloads)

    def bad_days(request: Request) -> Answer | None:
        if 26 <= request.number < 36:
            return FAIL
        if request.number % 7 == 3:
            return FAULTS[request.number % 4](proxy, request)
        return proxy.forward(request)

    proxy.react = bad_days
    for _ in range(60):
        service.deliver()
    assert set(service.outbox.states()) == {"delivered"}
    assert_exactly(client, payloads)


@pytest.mark.slow
def test_two_processes_that_know_nothing_of_each_other_share_a_run(
    server: Server, client: Any, payload: Make
) -> None:
    payloads = [payload(day, monitor="two writers") for day in range(12)]
    writers = [
        subprocess.Popen(
            [sys.executable, str(WRITER), server.address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for number, writer in enumerate(writers):
        assert writer.stdin is not None
        writer.stdin.write(json.dumps(payloads[number::2]) + "\n")
        writer.stdin.flush()
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert writer.returncode == 0, errors
    run = only_run(client, "two writers")
    assert points_of(client, run) == expected_points(payloads)
