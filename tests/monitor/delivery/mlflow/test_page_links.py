"""Runs and experiments of MLflow link to the pages, and keep what people wrote of them."""

from __future__ import annotations

from typing import Any

import pytest

from pumonitor.monitor.delivery.mlflow.notes import described, own_mark, with_page
from pumonitor.monitor.delivery.mlflow.runs import EXPERIMENT_PREFIX
from pumonitor.monitor.delivery.mlflow.sink import MlflowSink
from pumonitor.monitor.page_addresses import PageAddresses
from tests.monitor.delivery.mlflow.conftest import RunIdsInMemory
from tests.monitor.delivery.mlflow.mlflow_history import active_runs, only_run
from tests.monitor.delivery.mlflow.mlflow_server import Server
from tests.monitor.delivery.mlflow.sent_windows import Clock, Make, Wrap

NOTE = "mlflow.note.content"
FIRST = PageAddresses("https://pumonitor.example.org")
THEN = PageAddresses("https://mlflow.example.org/pumonitor")


def sink_with(address: str, pages: PageAddresses | None) -> MlflowSink:
    return MlflowSink(address, run_ids=RunIdsInMemory(), clock=Clock(), pages=pages)


def experiment(client: Any, monitor: str) -> Any:
    return client.get_experiment_by_name(EXPERIMENT_PREFIX + monitor)


def test_run_and_experiment_lead_to_their_pages(
    sqlite_address: str, client: Any, payload: Make, message: Wrap, monitor: str
) -> None:
    sent = message(payload(0, monitor=monitor, model_version="7", description="What a step is."))
    sink_with(sqlite_address, FIRST).send(sent)
    run, page = only_run(client, monitor), FIRST.monitor(monitor, version="7")
    assert run.data.tags["pumonitor.page"] == page
    assert run.data.tags[NOTE] == f"What a step is.\n\n[Page in pumonitor]({page})"
    of_experiment, page = experiment(client, monitor), FIRST.monitor(monitor)
    assert of_experiment.tags["pumonitor.page"] == page
    assert of_experiment.tags[NOTE] == f"[Page in pumonitor]({page})"


def test_without_an_address_nothing_links(
    sqlite_address: str, client: Any, payload: Make, message: Wrap, monitor: str
) -> None:
    sink_with(sqlite_address, None).send(message(payload(0, monitor=monitor)))
    assert "pumonitor.page" not in only_run(client, monitor).data.tags
    assert NOTE not in experiment(client, monitor).tags


def test_what_people_wrote_stays_when_the_address_and_the_description_change(
    mlflow_server: Server, mlflow_client_class: Any, payload: Make, message: Wrap, monitor: str
) -> None:
    client = mlflow_client_class(tracking_uri=mlflow_server.address)

    def send(day: int, description: str, pages: PageAddresses, version: str = "7") -> None:
        sink_with(mlflow_server.address, pages).send(
            message(payload(day, monitor=monitor, model_version=version, description=description))
        )

    send(0, "What a step is.", FIRST, version="6")
    send(0, "What a step is.", FIRST)
    (run,) = (one for one in active_runs(client, monitor) if one.info.run_name.endswith("7"))
    note = run.data.tags[NOTE]
    client.set_tag(run.info.run_id, NOTE, f"Before (Ada).\n\n{note}\n\nAfter (Bob).")
    number = experiment(client, monitor).experiment_id
    client.set_experiment_tag(
        number, NOTE, "The card team.\n" + experiment(client, monitor).tags[NOTE]
    )
    for _ in range(2):
        send(1, "What a step is now.", THEN)
    page = THEN.monitor(monitor, version="7")
    assert client.get_run(run.info.run_id).data.tags[NOTE] == (
        f"Before (Ada).\n\nWhat a step is now.\n\n[Page in pumonitor]({page})\n\nAfter (Bob)."
    )
    page = THEN.monitor(monitor)
    assert experiment(client, monitor).tags[NOTE] == f"The card team.\n[Page in pumonitor]({page})"
    # The run that no window is sent to any more leads there as well.
    (earlier,) = (one for one in active_runs(client, monitor) if one.info.run_name.endswith("6"))
    page = THEN.monitor(monitor, version="6")
    assert earlier.data.tags["pumonitor.page"] == page
    assert earlier.data.tags[NOTE] == f"What a step is.\n\n[Page in pumonitor]({page})"


@pytest.mark.parametrize(
    ("note", "own", "found"),
    [
        ("", None, "New.\nMore."),
        ("New.\nOld rest.", None, "New.\nMore."),  # from a version that left no mark
        ("Theirs.", None, "New.\nMore.\n\nTheirs."),
        ("Old.", own_mark("Old."), "New.\nMore."),
        ("A Old. B", own_mark("Old."), "A New.\nMore. B"),
        ("Old, edited.", own_mark("Old."), "Old, edited."),
        ("", own_mark("Old."), "New.\nMore."),
        ("Theirs. New.\nMore.", None, "Theirs. New.\nMore."),
    ],
)
def test_a_description_takes_the_place_of_the_one_before(
    note: str, own: str | None, found: str
) -> None:
    assert described(note, "New.\nMore.", own=own) == found


@pytest.mark.parametrize(
    ("note", "found"),
    [
        ("", "{}"),
        ("Theirs.", "Theirs.\n\n{}"),
        ("[Page in pumonitor](http://old)", "{}"),
        ("A\n[Page in pumonitor](http://old)\nB", "A\n{}\nB"),
        ("[Page in pumonitor](http://a)\nB\n[Page in pumonitor](http://b)", "{}\nB\n"),
        ("See [Page in pumonitor](http://old)", "See [Page in pumonitor](http://old)\n\n{}"),
    ],
)
def test_one_line_links_to_the_page(note: str, found: str) -> None:
    line = "[Page in pumonitor](https://new)"
    once = with_page(note, "https://new")
    assert once == found.format(line)
    assert with_page(once, "https://new") == once
