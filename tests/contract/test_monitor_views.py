"""One made-up world, and every face asked for everything: names and texts are equal."""

from __future__ import annotations

import csv
import html
import io
import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from docs.from_code.api import page as api_page
from pumonitor.cli.app import app
from pumonitor.monitor.dashboard.api.openapi import document
from pumonitor.monitor.delivery.notifications.message import AlertMessage
from pumonitor.monitor.delivery.notifications.webhook import webhook_body
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.ledger.records.notes import Note
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.monitor.views.alerts import AlertEventView, AlertView, TransitionView
from tests.monitor.alerted_ledger import DAY, FIRST
from tests.monitor.dashboard.shop_pages import DAYS, TEXT, ShopPages

NOW = FIRST + DAYS * DAY + timedelta(minutes=1)


class World:
    """A ledger, its pages with the API, and the commands."""

    def __init__(self, folder):
        self.path = folder / "pumonitor.yaml"
        state = f"sqlite:///{folder / 'state.db'}"
        self.path.write_text(f"state: {state}\n{TEXT}")
        self.ledger = Ledger.open(state)
        self.shop = ShopPages(self.ledger)
        self.shop.at(NOW)
        self.ledger.notes.add(
            Note(monitor="card-fraud", at=FIRST, text="new reader", author="ana", ends=FIRST + DAY)
        )
        self.ledger.by_people.silence(
            Silence(starts=NOW - DAY, ends=NOW + 90_000 * DAY, rule="no such rule", author="ana")
        )

    def command(self, *arguments):
        found = CliRunner(env={"COLUMNS": "200"}).invoke(
            app, [*arguments, "--config", str(self.path)]
        )
        assert found.exit_code == 0, found.output
        return found.stdout

    def json(self, *arguments):
        return json.loads(self.command(*arguments), parse_constant=pytest.fail)

    def api(self, address):
        found = self.shop.get(f"/api/v1{address}")
        assert found.status_code == 200, found.text
        return json.loads(found.text, parse_constant=pytest.fail)

    def page(self, address):
        found = self.shop.get(address)
        assert found.status_code == 200, found.text
        return html.unescape(found.text)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    found = World(tmp_path_factory.mktemp("world"))
    yield found
    found.ledger.close()


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


def as_cells(row):
    """What CSV has in place of JSON's values."""
    return {
        name: ""
        if value is None
        else value.replace("\n", "\\n")
        if isinstance(value, str)
        else str(value)
        for name, value in row.items()
    }


def test_a_result_is_the_same_in_api_json_csv_and_page(world):
    results = world.api("/results?limit=1000")["items"]
    assert world.json("results", "card-fraud", "--format", "json") == results
    assert {tuple(row) for row in results} == {tuple(PublishedResult.model_fields)}
    cells = [as_cells(row) for row in results]
    assert read_csv(world.command("results", "card-fraud", "--format", "csv")) == cells
    shown = read_csv(world.page("/monitors/card-fraud/results.csv?metric=recall"))
    assert shown
    assert [row for row in shown if row not in cells] == []


def test_an_alert_is_the_same_in_api_and_json_and_its_texts_everywhere(world):
    alerts = world.api("/alerts")["items"]
    (firing,) = (alert for alert in alerts if alert["is_firing"])
    assert {tuple(alert) for alert in alerts} == {tuple(AlertView.model_fields)}

    def without_page(listed):
        # Commands know no address of the pages unless the configuration has it.
        return [{**alert, "page": None} for alert in listed]

    assert world.json("alerts", "list", "--json") == without_page(alerts)
    assert world.json("alerts", "show", "card-fraud", "--json") == without_page([firing])
    assert world.shop.get(firing["page"]).status_code == 200
    for text in (
        world.command("alerts", "show", "card-fraud"),
        world.page("/monitors/card-fraud"),
        world.page(f"/monitors/card-fraud/alerts/{firing['rule_key']}?version=2"),
    ):
        assert firing["sentence"] in text
        assert firing["rule"] in text
    full = world.command("alerts", "show", "card-fraud")
    assert [step for step in firing["next_steps"] if step not in full] == []


def test_an_event_is_the_same_in_api_json_and_webhook(world):
    events = world.api("/alerts/history")["items"]
    assert events
    assert {tuple(event) for event in events} == {tuple(AlertEventView.model_fields)}
    listed = world.json("alerts", "list", "--history", "--json")
    assert listed == [{**event, "page": None} for event in reversed(events)]
    written = world.command("alerts", "list", "--history")
    page = world.page("/alerts")
    by_id = {event["id"]: event for event in events}
    for stored in world.ledger.alerts.history():
        event = by_id[stored.id]
        message = AlertMessage(transition=stored.transition, number=stored.id)
        data = json.loads(webhook_body(message))["data"]
        assert {name: data[name] for name in TransitionView.model_fields} == {
            name: event[name] for name in TransitionView.model_fields
        }
        assert event["sentence"] in written
        assert event["sentence"] in page
        assert AlertMessage.from_payload(message.to_payload()) == message


def test_notes_and_silences_are_the_same_in_api_and_json(world):
    notes = world.api("/notes")["items"]
    assert [note["text"] for note in notes] == ["new reader"]
    assert world.json("notes", "list", "--json") == notes
    (silence,) = world.api("/silences")["items"]
    assert set(silence) == set(Silence.model_fields)
    assert f"silence {silence['id']}: no such rule" in world.command("alerts", "list")


def test_labels_are_the_same_in_api_and_insights(world):
    (insight,) = world.json("insights", "card-fraud", "--json")
    assert insight["labels"] == world.api("/monitors/card-fraud/labels")
    work = next(iter(world.api("/health")["work"]))
    assert set(insight["backlog"]) == set(work)


def test_a_window_is_the_same_in_its_list_and_by_itself(world):
    listed = world.api("/monitors/card-fraud/windows")["items"]
    one = world.api(f"/monitors/card-fraud/windows/{listed[0]['start']}")
    assert {name: one[name] for name in listed[0]} == listed[0]
    points = world.api("/monitors/card-fraud/series?metric=recall")["items"]
    results = {
        (row["window_start"], row["model_version"]): row
        for row in world.api("/results?metric=recall&segment=&limit=1000")["items"]
    }
    for point in points:
        row = results[point["window_start"], point["model_version"]]
        names = set(point) & set(row)
        assert {"value", "low", "high", "state", "revision", "as_of"} <= names
        assert {name: point[name] for name in names} == {name: row[name] for name in names}


def test_the_document_of_the_api_and_its_reference_have_every_field_of_a_view():
    schemas = document()["components"]["schemas"]
    written = api_page()
    for model in (AlertView, AlertEventView, PublishedResult, Note, Silence):
        assert set(schemas[model.__name__]["properties"]) == set(model.model_fields)
        assert model.__name__ in written
        assert [name for name in model.model_fields if f"`{name}`" not in written] == []
