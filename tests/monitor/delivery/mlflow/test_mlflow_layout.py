"""What the sink leaves in a plain SQLite store of MLflow, read back with MLflow's client."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pumonitor.monitor.delivery.mlflow.limits import Limits
from pumonitor.monitor.delivery.mlflow.run_end import RunEnd
from pumonitor.monitor.delivery.mlflow.sink import MlflowSink
from pumonitor.monitor.delivery.sending.failures import DestinationDownError, MessageRefusedError
from pumonitor.ports import OutboxMessage
from tests.monitor.delivery.mlflow.conftest import RunIdsInMemory
from tests.monitor.delivery.mlflow.mlflow_history import (
    active_runs,
    expected_points,
    file_paths,
    only_run,
    points_of,
    runs_ever,
)

Make = Callable[..., dict[str, Any]]
Wrap = Callable[[dict[str, Any]], OutboxMessage]


class Clock:
    """A moment later at each look."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> datetime:
        self.looks += 1
        return datetime.fromtimestamp(1_790_000_000 + self.looks, tz=UTC)


@pytest.fixture
def client(sqlite_address: str, mlflow_client_class: Any) -> Any:
    return mlflow_client_class(tracking_uri=sqlite_address, registry_uri=sqlite_address)


@pytest.fixture
def run_ids() -> RunIdsInMemory:
    return RunIdsInMemory()


@pytest.fixture
def sink(sqlite_address: str, client: Any, run_ids: RunIdsInMemory) -> MlflowSink:
    return MlflowSink(sqlite_address, run_ids=run_ids, clock=Clock())


@pytest.fixture
def send(sink: MlflowSink, message: Wrap) -> Callable[[dict[str, Any]], None]:
    return lambda payload: sink.send(message(payload))


@pytest.fixture
def monitor(request: pytest.FixtureRequest) -> str:
    return f"monitor of {request.node.name}"


def test_a_series_has_one_point_per_step_and_every_pane_a_series(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    payloads = [
        payload(day, revision, monitor=monitor) for day in range(3) for revision in range(5)
    ]
    for each in payloads:
        send(each)
    run = only_run(client, monitor)
    points = points_of(client, run)
    assert points == expected_points(payloads)
    groups = {name.partition("/")[0] for name in points}
    assert groups == {"pu", "pu_final", "pu_after_0d", "pu_after_8d", "pu_after_16d"}
    first = payloads[0]["window"]["index"]
    for name, found in points.items():
        assert [step for step, _, _ in found] == [first, first + 1, first + 2], name
    assert run.data.metrics["pu/auc"] == payloads[-2]["metrics"]["auc"]["value"]
    assert run.data.metrics["pu_final/auc"] == payloads[-1]["metrics"]["auc"]["value"]
    assert run.info.run_name == monitor
    assert run.data.tags["pumonitor.monitor"] == monitor
    assert run.data.tags["pumonitor.state"] == "final"


def test_a_correction_is_the_later_point_of_its_step(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    wrong = payload(0, monitor=monitor)
    right = wrong | {"metrics": {"auc": 0.5}, "revision": 5}
    for each in (wrong, right, wrong, right):
        send(each)
    run = only_run(client, monitor)
    step, stamp = wrong["window"]["index"], 1767312000000
    assert points_of(client, run)["pu/auc"] == [(step, stamp + 3, 0.897), (step, stamp + 5, 0.5)]
    assert run.data.metrics["pu/auc"] == 0.5


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


def test_sending_again_changes_nothing(send: Any, client: Any, payload: Make, monitor: str) -> None:
    broken = {"auc": None, "n_labeled": 3}
    payloads = [
        payload(0, monitor=monitor),
        payload(1, monitor=monitor, metrics=broken),
        payload(2, monitor=monitor, verdict="ok"),
        payload(3, monitor=monitor, metrics=broken),
        payload(4, monitor=monitor, verdict="firing", tags={"rule": "auc below 0.8"}),
        payload(5, monitor=monitor, metrics=broken),
    ]
    for each in payloads:
        send(each)
    run = only_run(client, monitor)
    before = points_of(client, run)
    for each in [*payloads, *reversed(payloads)]:
        send(each)
    again = only_run(client, monitor)
    assert points_of(client, again) == before
    assert again.info.run_id == run.info.run_id
    assert again.data.tags == run.data.tags
    assert again.data.tags["pumonitor.status"] == "firing"
    assert again.data.tags["pumonitor.rule"] == "auc below 0.8"


def test_a_metric_without_value_is_flagged_and_the_flag_is_taken_back(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    undefined = {"auc": {"value": math.nan, "low": None, "high": math.inf}}
    payloads = [
        payload(0, monitor=monitor, metrics=undefined),
        payload(1, monitor=monitor),
        payload(2, monitor=monitor),
    ]
    for each in payloads:
        send(each)
    run = only_run(client, monitor)
    first, second = (payloads[0]["window"]["index"] + day for day in (0, 1))
    flags = [(step, value) for step, _, value in points_of(client, run)["pu/auc_undefined"]]
    assert flags == [(first, 1.0), (second, 0.0)]
    assert [step for step, _, _ in points_of(client, run)["pu/auc"]] == [second, second + 1]


def test_the_flag_of_an_impossible_metric_is_taken_back(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    impossible = {"auc": {"value": 1.0, "low": None, "high": None, "infeasible": True}}
    for each in (
        payload(0, monitor=monitor, metrics=impossible),
        payload(1, monitor=monitor),
        payload(2, monitor=monitor, metrics=impossible),
        payload(3, monitor=monitor, metrics={"auc": None}),
    ):
        send(each)
    run = only_run(client, monitor)
    points = points_of(client, run)
    assert [value for _, _, value in points["pu/auc_infeasible"]] == [1.0, 0.0, 1.0, 0.0]
    assert [step for step, _, _ in points["pu/auc_low"]] == [20455], "no bound where there is none"


def test_segments_have_names_of_their_own(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    segments = ["", "country=DE", "country=D E", "country=D%E", "city=..", "city=日本"]
    payloads = [
        payload(0, monitor=monitor, segment=segment, metrics={"f1": 0.1 * number})
        for number, segment in enumerate(segments)
    ]
    for each in payloads:
        send(each)
    run = only_run(client, monitor)
    assert len(run.data.metrics) == len(segments)
    assert points_of(client, run) == expected_points(payloads)
    assert run.data.metrics["pu/country.DE/f1"] == 0.1
    assert set(segments[1:]) <= set(run.data.tags.values())


def test_a_segment_that_would_share_a_name_is_refused(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    send(payload(0, monitor=monitor, segment="country=DE"))
    run = only_run(client, monitor)
    client.set_tag(run.info.run_id, "pumonitor.segment.country.DE", "country.DE")
    with pytest.raises(MessageRefusedError, match=r"'country\.DE' and 'country=DE' would both be"):
        send(payload(1, monitor=monitor, segment="country=DE"))
    assert points_of(client, only_run(client, monitor)) == points_of(client, run)


def test_thousands_of_metrics_go_in_batches(
    send: Any, client: Any, payload: Make, monitor: str
) -> None:
    metrics = {f"precision_at_{number}": number / 7 for number in range(2001)}
    each = payload(0, monitor=monitor, metrics=metrics)
    send(each)
    found = only_run(client, monitor).data.metrics
    assert found == {f"pu/{name}": value for name, value in metrics.items()}


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
    assert len(run_ids) == 1
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


def test_files_lie_by_window_and_segment(
    client: Any, payload: Make, monitor: str, message: Wrap, sqlite_address: str, tmp_path: Path
) -> None:
    def read(reference: Any) -> dict[str, str]:
        return {"evaluation.json": f'{{"of": "{reference}"}}'}

    sink = MlflowSink(sqlite_address, run_ids=RunIdsInMemory(), read_files=read, clock=Clock())
    page = {"report.html": "<p>Prüfung ≥ 0,8</p>"}
    sink.send(message(payload(0, 3, monitor=monitor, files=page, report="w1", metrics={})))
    segment = payload(0, 3, monitor=monitor, files=page, segment="country=D/E")
    sink.send(message(segment))
    run = only_run(client, monitor)
    folder = "pumonitor/windows/2026-01-01T000000Z"
    found = file_paths(client, run.info.run_id)
    assert {path for path in found if path.count("/") == 3} == {
        f"{folder}/evaluation.json",
        f"{folder}/report.html",
    }
    assert len(found) == 3
    local = client.download_artifacts(run.info.run_id, f"{folder}/report.html", str(tmp_path))
    assert Path(local).read_text(encoding="utf-8") == page["report.html"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"window": None}, "the message's 'window' must be Mapping, got None"),
        ({"as_of": "2026-01-01T00:00:00"}, "'as_of' must be a time with its zone"),
        ({"revision": "3"}, "'revision' must be int, got '3'"),
        ({"state": "ripe"}, "'state' must be one of provisional, mature, final, got 'ripe'"),
        ({"metrics": {"f1": "high"}}, "metric 'f1' must be a number or null, got 'high'"),
        ({"metrics": {"f1": True}}, "metric 'f1' must be a number or null, got True"),
        ({"metrics": {"f1": {"mean": 1}}}, "metric 'f1' has 'mean'"),
        (
            {"metrics": {"f1": {"value": 1, "low": 0}, "f1_low": 0.5}},
            "metrics 'f1' and 'f1_low' would both be pu/f1_low",
        ),
        ({"tags": {"a b": "c"}}, "tag 'a b'"),
        ({"files": {"..\\evil.html": ""}}, "only texts evaluation.json, report.html are sent"),
        ({"files": {"%2e%2e/report.html": ""}}, "only texts"),
        ({"report": 1}, "no way to read it"),
        ({"model": "card-fraud"}, "must be like models:/name@alias"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(
    change: dict[str, Any], said: str, send: Any, client: Any, payload: Make, monitor: str
) -> None:
    with pytest.raises(MessageRefusedError) as refused:
        send(payload(0, monitor=monitor) | change)
    assert said in str(refused.value)
    assert client.get_experiment_by_name(f"pumonitor/{monitor}") is None


def test_mlflow_is_loaded_only_to_send() -> None:
    """It takes seconds, which `pumonitor --help` should not."""
    program = "import sys, pumonitor.monitor.delivery.sending.delivery\n"
    program += "from pumonitor.monitor.delivery.mlflow import sink\n"
    program += "sink.MlflowSink('http://localhost', run_ids={})\n"
    program += "sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match=r"timeout_seconds must be >= 1 and retries >= 0, got 0"):
        Limits(timeout_seconds=0)


def test_the_process_is_left_as_it_was(
    send: Any, client: Any, payload: Make, monitor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "77")
    before = (dict(os.environ), mlflow.get_tracking_uri(), mlflow.active_run())
    send(payload(0, monitor=monitor))
    with pytest.raises(MessageRefusedError):
        send(payload(0, monitor=monitor, model="none"))
    assert (dict(os.environ), mlflow.get_tracking_uri(), mlflow.active_run()) == before


def test_the_verdict_is_a_tag_of_the_model_version_and_points_link_to_its_model(
    send: Any,
    client: Any,
    payload: Make,
    monitor: str,
    sqlite_address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = client.create_logged_model(client.create_experiment(f"models of {monitor}"))
    name = "card-fraud-linked"
    client.create_registered_model(name)
    with monkeypatch.context() as patch:
        # MLflow's registry looks the model up at the process's own tracking URI.
        patch.setenv("MLFLOW_TRACKING_URI", sqlite_address)
        for _ in range(2):
            client.create_model_version(name, f"models:/{model.model_id}")
    client.set_registered_model_alias(name, "champion", "2")
    link = {"monitor": monitor, "model": f"models:/{name}@champion", "dataset": DATASET}

    def status(version: str) -> str | None:
        found: str | None = client.get_model_version(name, version).tags.get("pumonitor.status")
        return found

    send(payload(1, **link, verdict="firing"))
    send(payload(1, **link, verdict="ok", segment="country=DE"))
    send(payload(0, **link, verdict="ok"))
    assert (status("1"), status("2")) == (None, "firing"), "neither a segment nor an older pane"
    send(payload(2, **link, verdict="ok"))
    assert status("2") == "ok"
    send(payload(3, **link, verdict="firing", model_version="1"))
    assert (status("1"), status("2")) == ("firing", "ok"), "predictions that name their version"
    send(payload(4, **link, verdict="firing", model_version="8c1c4b"))
    send(payload(4, **(link | {"model": f"models:/{name}@nobody"}), verdict="firing"))
    send(payload(4, **(link | {"model": "models:/nothing/1"}), verdict="firing"))
    assert (status("1"), status("2")) == ("firing", "ok"), "nobody knows which version it is"

    send(payload(1, **link, verdict="firing"))
    metrics = client.get_logged_model(model.model_id).metrics
    linked = [metric for metric in metrics if metric.key == "pu/auc"]
    assert len(linked) == 4
    assert {metric.dataset_digest for metric in linked} == {"d1"}


DATASET = {"name": "card-fraud 2026-01-01", "digest": "d1"}
