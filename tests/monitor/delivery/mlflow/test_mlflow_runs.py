"""Which MLflow run a window is written to, and what becomes of former runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from pumonitor.monitor.delivery.mlflow.run_end import RunEnd
from pumonitor.monitor.delivery.sending.failures import DestinationDownError, MessageRefusedError
from tests.monitor.delivery.mlflow.conftest import RunIdsInMemory
from tests.monitor.delivery.mlflow.mlflow_history import (
    active_runs,
    expected_points,
    file_paths,
    only_run,
    points_of,
    runs_ever,
)
from tests.monitor.delivery.mlflow.sent_windows import Make

RUN = {
    "parameters": {"threshold": "0.8", "class_prior": "assumed: 0.03"},
    "description": "What a step is.",
}


def test_a_run_says_what_it_was_made_with_and_what_it_is(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    send(payload(0, monitor=monitor, configuration="c0ffee" * 8, **RUN))
    send(payload(1, monitor=monitor, configuration="c0ffee" * 8, **RUN | {"description": "New."}))
    run = only_run(client, monitor)
    assert run.data.params == RUN["parameters"]
    assert run.data.tags["mlflow.note.content"] == "New."
    assert run.data.tags["pumonitor.configuration"] == "c0ffee" * 8
    assert run.info.run_name == f"{monitor} [c0ffeec0]"


def states(client: Any, monitor: str) -> dict[str, str]:
    return {
        run.data.tags["pumonitor.configuration"]: run.info.status
        for run in active_runs(client, monitor)
    }


def test_another_configuration_is_another_run_and_finishes_the_former(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    old = [payload(day, monitor=monitor, configuration="old") for day in range(3)]
    new = [
        payload(day, monitor=monitor, configuration="new", metrics={"auc": 0.5}) for day in (0, 9)
    ]
    for each in (*old, *new):
        send(each)
    assert states(client, monitor) == {"old": "FINISHED", "new": "RUNNING"}
    # Sent late, or again: nothing of it is newer.
    before = {run.info.run_id: points_of(client, run) for run in active_runs(client, monitor)}
    for each in (*old, *new, old[-1]):
        send(each)
    assert states(client, monitor) == {"old": "FINISHED", "new": "RUNNING"}
    after = {run.info.run_id: points_of(client, run) for run in active_runs(client, monitor)}
    assert after == before
    # The former is set again.
    send(payload(10, monitor=monitor, configuration="old"))
    assert states(client, monitor) == {"old": "RUNNING", "new": "FINISHED"}


def end_of(monitor: str, payload: dict[str, Any], **others: Any) -> dict[str, Any]:
    end = RunEnd(
        monitor=monitor,
        model_version=payload["model_version"],
        configuration=payload["configuration"],
        as_of=datetime.fromisoformat(payload["as_of"]),
        reason="superseded by version 8",
    )
    return end.to_payload() | others


def test_a_superseded_run_is_finished_until_the_version_is_back(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    one = {"monitor": monitor, "configuration": "c", "model_version": "7"}
    two = one | {"model_version": "8"}
    for each in (payload(0, **one), payload(0, **two)):
        send(each)
    for _ in range(2):
        send(end_of(monitor, payload(1, **one)))

    def status() -> dict[str, str]:
        return {
            run.data.tags["pumonitor.model_version"]: run.info.status
            for run in active_runs(client, monitor)
        }

    assert status() == {"7": "FINISHED", "8": "RUNNING"}
    (run,) = [
        run
        for run in active_runs(client, monitor)
        if run.data.tags["pumonitor.model_version"] == "7"
    ]
    assert run.data.tags["pumonitor.end_reason"] == "superseded by version 8"
    assert run.info.end_time >= run.info.start_time
    send(payload(0, **one))
    assert status()["7"] == "FINISHED", "what it holds already does not open it"
    send(payload(2, **one))
    assert status() == {"7": "RUNNING", "8": "RUNNING"}
    send(end_of(monitor, payload(1, **one)))
    assert status()["7"] == "RUNNING", "it is older than what is known of the run"
    send(end_of(monitor, payload(9, **one), model_version=None, configuration=None))
    assert set(status().values()) == {"FINISHED"}


def test_the_end_of_nothing_changes_nothing(send: Any, client: Any, monitor: str) -> None:
    end = {"model_version": "7", "configuration": "c", "as_of": "2026-03-01T00:00:00+00:00"}
    send(end_of(monitor, end))
    assert client.get_experiment_by_name(f"pumonitor/{monitor}") is None
    with pytest.raises(
        MessageRefusedError, match="the message that a run has ended cannot be read"
    ):
        send(end_of(monitor, end, as_of="soon"))


def test_versions_have_runs_of_their_own_whatever_they_are_called(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    versions = ["", "7", 'it\'s "7"', "' OR tags.a != 'b", "a/../b"]
    monitor += ' "it\'s"'
    for number, version in enumerate(versions):
        send(payload(number, monitor=monitor, model_version=version))
        send(payload(number + 5, monitor=monitor, model_version=version))
    experiment = client.get_experiment_by_name(f"pumonitor/{monitor}")
    runs = client.search_runs([experiment.experiment_id])
    assert sorted(run.data.tags["pumonitor.model_version"] for run in runs) == sorted(versions)
    assert {len(points_of(client, run)["pu/auc"]) for run in runs} == {2}


def test_the_run_is_found_again_by_who_remembers_nothing(
    send: Any, client: Any, payload: Make, monitor: str, run_ids: RunIdsInMemory
) -> None:
    payloads = [payload(day, monitor=monitor) for day in range(3)]
    send(payloads[0])
    remembered = dict(run_ids)
    run_ids.clear()
    send(payloads[1])
    assert run_ids == remembered
    run_ids.update(dict.fromkeys(run_ids, "0" * 32))  # of another server
    send(payloads[2])
    assert run_ids == remembered
    assert points_of(client, only_run(client, monitor)) == expected_points(payloads)
    assert len(runs_ever(client, monitor)) == 1, "none was made to be swept up"


def test_the_oldest_of_several_runs_gets_all_and_the_others_go(
    send: Any, client: Any, payload: Make, monitor: str, run_ids: RunIdsInMemory
) -> None:
    """Two writers that knew nothing of each other, and a run whose maker gave up on it."""
    page = {"report.html": "<p>1</p>"}
    payloads = [
        payload(0, monitor=monitor, verdict="ok"),
        payload(1, 3, monitor=monitor, verdict="firing", files=page),
        payload(2, monitor=monitor, segment="country=DE"),
        payload(0, 1, monitor=monitor),
    ]
    send(payloads[0])
    oldest = only_run(client, monitor)
    key = {"pumonitor.run_key": oldest.data.tags["pumonitor.run_key"]}
    # The other writer's: hidden from the first by its missing tag until it has written.
    client.set_tag(oldest.info.run_id, "pumonitor.run_key", "")
    run_ids.clear()
    send(payloads[1])
    send(payloads[2])
    assert len(run_ids) == 2, "of the run and of its experiment"
    client.set_tag(oldest.info.run_id, "pumonitor.run_key", key["pumonitor.run_key"])
    client.create_run(oldest.info.experiment_id, start_time=2_000_000_000_000, tags=key)

    send(payloads[3])
    run = only_run(client, monitor)
    assert run.info.run_id == oldest.info.run_id
    assert points_of(client, run) == expected_points(payloads)
    assert file_paths(client, run.info.run_id) == {
        "pumonitor/windows/2026-01-02T000000Z/report.html"
    }
    assert run.data.tags["pumonitor.status"] == "firing", "the verdict of the newest pane"
    assert run_ids.pop(f"experiment {monitor}") == run.info.experiment_id
    assert list(run_ids.values()) == [run.info.run_id]


def test_a_deleted_experiment_is_said_to_be_so(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    send(payload(0, monitor=monitor))
    experiment = client.get_experiment_by_name(f"pumonitor/{monitor}")
    client.delete_experiment(experiment.experiment_id)
    with pytest.raises(DestinationDownError, match="is deleted: restore it"):
        send(payload(1, monitor=monitor))
    client.restore_experiment(experiment.experiment_id)
    send(payload(1, monitor=monitor))
    assert len(points_of(client, only_run(client, monitor))["pu/auc"]) == 2


def test_a_run_is_read_once_for_messages_in_a_row(
    sink: Any,
    send: Any,
    client: Any,
    payload: Make,
    monitor: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    send(payload(0, monitor=monitor, **RUN))
    read: list[str] = []
    get_run = type(client).get_run
    monkeypatch.setattr(
        type(client), "get_run", lambda self, run_id: read.append(run_id) or get_run(self, run_id)
    )
    later = [payload(day, monitor=monitor, **RUN) for day in (1, 2, 3)]
    with sink.in_a_row():
        for each in later:
            send(each)
    assert len(read) == 1
    send(payload(4, monitor=monitor, **RUN))
    assert len(read) == 2
    run = only_run(client, monitor)
    assert points_of(client, run) == expected_points(
        [payload(day, monitor=monitor) for day in range(5)]
    )
    assert run.data.tags["pumonitor.window_start"].startswith("2026-01-05")


def test_flags_are_taken_back_in_a_row(
    sink: Any, send: Any, client: Any, payload: Make, monitor: str
) -> None:
    undefined = {"auc": {"value": None, "low": None, "high": None}}
    with sink.in_a_row():
        send(payload(0, monitor=monitor, metrics=undefined))
        send(payload(1, monitor=monitor))
        send(payload(2, monitor=monitor))
    flag = client.get_metric_history(only_run(client, monitor).info.run_id, "pu/auc_undefined")
    assert [(one.step, one.value) for one in sorted(flag, key=lambda one: one.step)] == [
        (payload(0)["window"]["index"], 1.0),
        (payload(1)["window"]["index"], 0.0),
    ]


def test_a_run_that_is_deleted_in_a_row_is_replaced(
    sink: Any, send: Any, client: Any, payload: Make, monitor: str
) -> None:
    with sink.in_a_row():
        send(payload(0, monitor=monitor))
        client.delete_run(only_run(client, monitor).info.run_id)
        send(payload(1, monitor=monitor))
    assert points_of(client, only_run(client, monitor)) == expected_points(
        [payload(1, monitor=monitor)]
    )
