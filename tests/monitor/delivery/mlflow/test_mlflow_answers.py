"""What an answer of the tracking server says about a message, and what it may not reveal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pumonitor.monitor.delivery.mlflow.limits import Limits
from pumonitor.monitor.delivery.mlflow.sink import MlflowSink
from pumonitor.monitor.delivery.sending.failures import DestinationDownError, MessageRefusedError
from tests.monitor.delivery.mlflow.conftest import RunIdsInMemory
from tests.monitor.delivery.mlflow.faulty_proxy import FAIL, Answer, FaultyProxy, React
from tests.monitor.delivery.mlflow.sent_windows import Make, Wrap
from tests.monitor.delivery.mlflow.through_a_proxy import Service


def answering(answer: Answer, *, to: str) -> Callable[[FaultyProxy], React]:
    def of(proxy: FaultyProxy) -> React:
        return lambda request: answer if to in request.path else proxy.forward(request)

    return of


LOGIN_PAGE = Answer(200, b"<html>please log in</html>", {"Content-Type": "text/html"})


@pytest.mark.parametrize(
    ("answer", "to", "error"),
    [
        (Answer(503, headers={"Retry-After": "3600"}), "/", DestinationDownError),
        (Answer(429, headers={"Retry-After": "3600"}), "/", DestinationDownError),
        (Answer(502, b"<html>bad gateway</html>"), "/", DestinationDownError),
        (Answer(401, b"who are you?"), "/", DestinationDownError),
        (Answer(403, b"Invalid Host header"), "/", DestinationDownError),
        (Answer(404, b"<html>nothing here</html>"), "/", DestinationDownError),
        (LOGIN_PAGE, "/", DestinationDownError),
        (FAIL, "/", DestinationDownError),
        # Tags are taken and metrics are not: it is the message.
        (FAIL, "log-batch", MessageRefusedError),
        (Answer(413, b"too large"), "log-batch", MessageRefusedError),
        # The store of files is another one.
        (FAIL, "mlflow-artifacts", DestinationDownError),
    ],
)
def test_an_answer_says_whose_fault_it_is(
    answer: Answer,
    to: str,
    error: type[Exception],
    proxy: FaultyProxy,
    message: Wrap,
    two_panes: Any,
) -> None:
    sink = Service(proxy.address, retries=1).sink
    first, second = two_panes(f"fault {answer.status} {to.replace('/', '')} {len(answer.body)}")
    sink.send(message(first))
    proxy.react = answering(answer, to=to)(proxy)
    with pytest.raises(error):
        sink.send(message(second))


def test_no_report_is_made_for_a_server_that_is_down(
    proxy: FaultyProxy, message: Wrap, payload: Make
) -> None:
    made: list[Any] = []

    def make(asked: Any) -> dict[str, str]:
        made.append(asked)
        return {"report.html": "<p>page</p>"}

    sink = MlflowSink(
        proxy.address, run_ids=RunIdsInMemory(), read_files=make, limits=Limits(retries=0)
    )
    one = message(payload(0, monitor="report", metrics={}, report="w1"))
    proxy.stop()
    with pytest.raises(DestinationDownError):
        sink.send(one)
    assert made == []
    proxy.start()
    sink.send(one)
    assert made == ["w1"]


def test_no_credentials_in_a_reason(proxy: FaultyProxy, message: Wrap, payload: Make) -> None:
    sink = Service(proxy.address.replace("//", "//ana:s3cret@")).sink
    for react in (proxy.forward, lambda _: FAIL, lambda _: None):
        proxy.react = react
        if react == proxy.forward:
            proxy.stop()
        with pytest.raises(DestinationDownError) as down:
            sink.send(message(payload(0, monitor="secret")))
        assert "s3cret" not in str(down.value)
        assert "127.0.0.1" in str(down.value)
        assert down.value.__suppress_context__
        if react == proxy.forward:
            proxy.start()
