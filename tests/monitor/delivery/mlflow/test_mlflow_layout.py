"""What the sink leaves in a plain SQLite store of MLflow, read back with MLflow's client."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pumonitor.monitor.delivery.mlflow.limits import Limits
from pumonitor.monitor.delivery.mlflow.sink import MlflowSink
from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from tests.monitor.delivery.mlflow.conftest import RunIdsInMemory
from tests.monitor.delivery.mlflow.mlflow_history import (
    expected_points,
    file_paths,
    only_run,
    points_of,
)
from tests.monitor.delivery.mlflow.sent_windows import Clock, Make, Wrap


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


def test_the_report_of_a_month_lies_beside_the_windows(
    client: Any, payload: Make, monitor: str, message: Wrap, sqlite_address: str
) -> None:
    def read(reference: Any) -> dict[str, str]:
        return {f"summary-{reference}.html": "<p>March</p>"}

    sink = MlflowSink(sqlite_address, run_ids=RunIdsInMemory(), read_files=read, clock=Clock())
    sink.send(message(payload(0, 3, monitor=monitor, report="2026-03", metrics={})))
    found = file_paths(client, only_run(client, monitor).info.run_id)
    assert found == {"pumonitor/summaries/summary-2026-03.html"}
    with pytest.raises(MessageRefusedError, match=r"only evaluation\.json, report\.html"):
        sink.send(message(payload(0, 3, monitor=monitor, report="../../x", metrics={})))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"window": None}, "the message's 'window' must be Mapping, got None"),
        ({"as_of": "2026-01-01T00:00:00"}, "'as_of' must be a time with its zone"),
        ({"revision": "3"}, "'revision' must be int, got '3'"),
        ({"state": "ripe"}, "'state' must be one of provisional, mature, final, got 'ripe'"),
        ({"metrics": {"f1": "high"}}, "metric 'f1' must be a number or null, got 'high'"),
        ({"metrics": {"f1": True}}, "metric 'f1' must be a number or null, got True"),
        ({"metrics": {"f1": {"mean": 1}}}, "metric 'f1' has the key 'mean'"),
        (
            {"metrics": {"f1": {"value": 1, "low": 0}, "f1_low": 0.5}},
            "metrics 'f1' and 'f1_low' would both be pu/f1_low",
        ),
        ({"tags": {"a b": "c"}}, "tag 'a b'"),
        ({"files": {"..\\evil.html": ""}}, "only texts evaluation.json, report.html are sent"),
        ({"files": {"%2e%2e/report.html": ""}}, "only texts"),
        ({"report": 1}, "which this sink cannot read"),
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
        patch.setattr("mlflow.tracking._tracking_service.utils._tracking_uri", sqlite_address)
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
