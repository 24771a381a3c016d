"""Windows, panes and segments, written to MLflow by as few requests as it allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pumonitor.monitor.delivery.mlflow.sink import MlflowSink
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from pumonitor.monitor.delivery_ports import OutboxMessage
from tests.monitor.delivery.mlflow.conftest import RunIdsInMemory
from tests.monitor.delivery.mlflow.mlflow_history import (
    expected_points,
    file_paths,
    only_run,
    points_of,
)
from tests.monitor.delivery.mlflow.sent_windows import Make, Wrap

Batches = list[int]


@pytest.fixture
def batches(client: Any, monkeypatch: pytest.MonkeyPatch) -> Batches:
    """Numbers of points of the requests to MLflow."""
    seen: Batches = []
    log_batch = type(client).log_batch

    def logged(self: Any, run_id: str, metrics: Sequence[Any] = (), **others: Any) -> Any:
        seen.append(len(metrics))
        return log_batch(self, run_id, metrics=metrics, **others)

    monkeypatch.setattr(type(client), "log_batch", logged)
    return seen


@pytest.fixture
def window(payload: Make, monitor: str) -> Callable[..., list[dict[str, Any]]]:
    """All panes of a day, each of all rows and of two segments."""

    def make(day: int = 0, monitor: str = monitor, **others: Any) -> list[dict[str, Any]]:
        return [
            payload(
                day,
                revision,
                monitor=monitor,
                segment=segment,
                # Of segments none becomes the run's.
                verdict="unknown" if segment else ("firing", "ok", "firing", "ok")[revision],
                parameters={f"since pane {revision}".replace(" ", "_"): "yes"},
                **others,
            )
            for revision in range(4)
            for segment in ("", "country=se", "country=no")
        ]

    return make


def test_they_are_one_request_and_mlflow_holds_what_it_would_one_by_one(
    sink: MlflowSink,
    client: Any,
    message: Wrap,
    monitor: str,
    window: Callable[..., list[dict[str, Any]]],
    batches: Batches,
) -> None:
    undefined = {"auc": {"value": None, "low": None, "high": None}}
    days = [window(0, metrics=undefined), window(1)[::-1], window(2, metrics=undefined)[::-1]]
    messages = [message(one) for day in days for one in day]
    assert sink.together(messages) == len(messages) == 36
    sink.send_together(messages)
    assert batches == [12 + (12 * 4 + 12) + 12], "the second day takes twelve flags back"

    alone = f"{monitor}, one by one"
    for day in days:
        for one in day:
            sink.send(message(one | {"monitor": alone}))
    together, by_one = only_run(client, monitor), only_run(client, alone)
    assert points_of(client, together) == points_of(client, by_one)
    own = {"pumonitor.monitor", "pumonitor.run_key", "mlflow.runName", "mlflow.log-model.history"}
    assert {name: text for name, text in together.data.tags.items() if name not in own} == {
        name: text for name, text in by_one.data.tags.items() if name not in own
    }
    assert together.data.params == by_one.data.params
    assert together.data.tags["pumonitor.status"] == "ok", "the newest pane's, not the last sent"
    assert together.info.status == by_one.info.status == "RUNNING"


def test_sent_again_in_part_nothing_is_there_twice(
    sink: MlflowSink,
    client: Any,
    message: Wrap,
    monitor: str,
    window: Callable[..., list[dict[str, Any]]],
) -> None:
    panes = window(0)
    sink.send_together([message(one) for one in panes])
    sink.send_together([message(one) for one in panes[3:9]])
    sink.send(message(panes[0]))
    run = only_run(client, monitor)
    assert points_of(client, run) == expected_points(panes)
    assert run.data.tags["pumonitor.state"] == "mature"


def test_one_whose_segment_would_be_another_s_is_refused_and_nothing_of_it_is_remembered(
    sink: MlflowSink, client: Any, message: Wrap, monitor: str, payload: Make
) -> None:
    ones = [payload(0, monitor=monitor, segment=name) for name in ("country=DE", "country.DE")]
    messages = [message(one) for one in ones]
    with sink.in_a_row():
        with pytest.raises(MessageRefusedError, match="would both be"):
            sink.send_together(messages)
        sink.send(messages[0])
    run = only_run(client, monitor)
    assert points_of(client, run) == expected_points(ones[:1])
    assert run.data.tags["pumonitor.segment.country.DE"] == "country=DE"


def test_no_request_has_room_left_but_the_last(
    sink: MlflowSink, message: Wrap, payload: Make, monitor: str, batches: Batches
) -> None:
    many = {f"m{number:03}": 0.5 for number in range(300)}
    messages = [message(payload(day, monitor=monitor, metrics=many)) for day in range(30)]
    assert sink.together(messages) == 26, "eight requests, which are sent again if one fails"
    sink.send_together(messages[:26])
    assert batches == [1000] * 7 + [800]


def test_of_segments_weeks_and_panes_that_lie_in_the_outbox_a_run_is_asked_for_once(
    sink: MlflowSink, client: Any, message: Wrap, payload: Make, monitor: str, monkeypatch: Any
) -> None:
    """A server with accounts hashes a password for each request."""
    asked: list[str] = []
    for name in ("get_run", "search_runs", "get_metric_history", "log_batch"):
        of_mlflow = getattr(type(client), name)

        def counted(self: Any, *given: Any, _name: str = name, _of: Any = of_mlflow, **by: Any):
            asked.append(_name)
            return _of(self, *given, **by)

        monkeypatch.setattr(type(client), name, counted)
    undefined = {"auc": {"value": None, "low": None, "high": None}}
    sink.send(message(payload(0, monitor=monitor, metrics=undefined)))
    asked.clear()
    messages = [
        message(payload(day, pane, monitor=monitor, segment=segment))
        for day in range(1, 9)
        for pane in (0, 3)
        for segment in ("", "country=se", "country=no")
    ]
    with sink.in_a_row():
        while messages:
            number = sink.together(messages)
            sink.send_together(messages[:number])
            del messages[:number]
        sink.settle()
    assert asked == ["get_run", "log_batch", "search_runs"]


def test_points_of_one_run_go_together(sink: MlflowSink, message: Wrap, payload: Make) -> None:
    def number(*payloads: dict[str, Any]) -> int:
        return sink.together([message(one) for one in payloads])

    first = payload(0, 0)
    assert number(first, payload(0, 1), payload(1, 1), first | {"revision": 1}) == 4
    assert number(first, payload(0, 1, monitor="other")) == 1
    assert number(first, payload(0, 1, model_version="8")) == 1
    assert number(first, payload(0, 1, configuration="c" * 32)) == 1
    assert number(first, payload(0, 1, files={"report.html": "<p>page</p>"})) == 1
    assert number(first, payload(0, 1, report={"window_key": "k"})) == 1
    assert number(first, payload(0, 1, segment=[])) == 1, "no message: it is refused by itself"
    assert number(first, payload(0, 1, metrics=[])) == 1
    assert number(payload(0, 0, age=[1]), first) == 1
    assert number({"report": {"window_key": "k"}}, first) == 1
    end = {"kind": "run end", "monitor": "card-fraud"}
    assert number(end, first) == 1
    assert number(first, end) == 1


def test_of_reports_of_a_window_in_a_row_the_last_alone_is_made(
    client: Any, message: Wrap, payload: Make, monitor: str, sqlite_address: str
) -> None:
    made = []

    def read(asked: Any) -> dict[str, str]:
        made.append((asked["window_key"], asked["pane"]))
        return {"report.html": f"<p>pane {asked['pane']}</p>"}

    sink = MlflowSink(sqlite_address, run_ids=RunIdsInMemory(), read_files=read)
    reports = [
        message(
            payload(
                day, pane, monitor=monitor, metrics={}, report={"window_key": day, "pane": pane}
            )
        )
        for day in range(1, 3)
        for pane in (3, 4)
    ]
    while reports:
        number = sink.together(reports)
        sink.send_together(reports[:number])
        del reports[:number]
    assert made == [(1, 4), (2, 4)]
    run_id = only_run(client, monitor).info.run_id
    assert len(file_paths(client, run_id)) == 2


def test_what_is_no_message_is_refused_as_it_is_alone(
    sink: MlflowSink, message: Wrap, payload: Make
) -> None:
    def refusal(send: Callable[[], None]) -> str:
        with pytest.raises(MessageRefusedError) as caught:
            send()
        return str(caught.value)

    wrong: OutboxMessage = replace(message(payload(0, 1)), payload=payload(0, 1) | {"state": "odd"})
    together = refusal(lambda: sink.send_together([message(payload(0, 0)), wrong]))
    assert together == refusal(lambda: sink.send(wrong))
