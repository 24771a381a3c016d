"""Receivers on this machine: HTTP that does as told, endless bytes, mail, Alertmanager."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import requests
from aiosmtpd.controller import Controller

from tests.monitor.delivery.mlflow.faulty_proxy import Answer, FaultyProxy, Request

OK = Answer(200)
ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")


class HttpReceiver(FaultyProxy):
    """Keeps what it gets; answers 200, or as `react` says. None drops the connection unanswered."""

    def __init__(self) -> None:
        super().__init__("http://nowhere")
        self.react = lambda request: OK
        self.held = Event()
        """Released at the end, for answers that are to come too late."""

    def in_turn(self, *answers: Answer | Callable[[Request], Answer | None] | None) -> None:
        """Give these answers, then 200."""
        left = list(answers)

        def react(request: Request) -> Answer | None:
            answer = left.pop(0) if left else OK
            return answer(request) if callable(answer) else answer

        self.react = react

    def too_late(self, request: Request) -> None:
        """Accept the message and say nothing."""
        self.held.wait(10)

    @property
    def ids(self) -> list[str]:
        return [request.headers["webhook-id"] for request in self.requests]

    @property
    def documents(self) -> list[Any]:
        return [json.loads(request.body) for request in self.requests]


@contextmanager
def http_receiver() -> Iterator[HttpReceiver]:
    receiver = HttpReceiver()
    receiver.start()
    try:
        yield receiver
    finally:
        receiver.held.set()
        receiver.stop()


@contextmanager
def raw_receiver(talk: Callable[[socket.socket, Event], None]) -> Iterator[str]:
    """An address where each connection, its request read, is talked to until the end."""
    over = Event()
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while not over.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.recv(65_536)
                with suppress(OSError):  # the client has gone, as it should
                    talk(connection, over)

    Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
    finally:
        over.set()
        server.close()


class Mailbox:
    """A mail server's memory."""

    def __init__(self) -> None:
        self.got: list[Any] = []
        self.answer = "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.answer.startswith("250"):
            self.got.append(envelope)
        return self.answer


@contextmanager
def mail_server() -> Iterator[tuple[Mailbox, int]]:
    mailbox = Mailbox()
    controller = Controller(mailbox, hostname="127.0.0.1", port=free_port())
    controller.start()
    try:
        yield mailbox, controller.port
    finally:
        controller.stop()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


class Alertmanager:
    """A real one, which tells `receiver` of groups after a tenth of a second."""

    def __init__(self, folder: Path, receiver: str) -> None:
        self._folder = folder
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "alertmanager.yml").write_text(
            "global: {resolve_timeout: 1s}\n"
            "route: {receiver: hook, group_by: ['...'], group_wait: 100ms, group_interval: 200ms}\n"
            f"receivers: [{{name: hook, webhook_configs: [{{url: '{receiver}'}}]}}]\n"
        )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                str(ALERTMANAGER),
                f"--config.file={self._folder / 'alertmanager.yml'}",
                f"--storage.path={self._folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self._port}",
                "--cluster.listen-address=",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(self._is_ready)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)

    def alerts(self) -> list[dict[str, Any]]:
        """Those it takes for being on."""
        found: list[dict[str, Any]] = requests.get(
            f"{self.address}/api/v2/alerts", timeout=5
        ).json()
        return found

    def _is_ready(self) -> bool:
        try:
            return requests.get(f"{self.address}/-/ready", timeout=1).ok
        except requests.RequestException:
            return False


def wait_for(true: Callable[[], Any], *, seconds: float = 15.0) -> Any:
    """What `true` returns once it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.02)
    msg = "it did not come true"
    raise AssertionError(msg)
