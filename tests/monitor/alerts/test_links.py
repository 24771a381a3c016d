"""What messages link to: the run of a series on MLflow's pages, where those have an address."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from markupsafe import escape

from pumonitor.errors import InputError
from pumonitor.monitor.alerts.links import all_links, links_to_pages, links_to_runs
from pumonitor.monitor.alerts.routing import packed
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.config.sections.destinations import Tracking
from pumonitor.monitor.delivery.mlflow.runs import run_key
from pumonitor.monitor.delivery.notifications.alertmanager import alert_document
from pumonitor.monitor.delivery.notifications.group import AlertGroup
from pumonitor.monitor.delivery.notifications.message import (
    AlertMessage,
    Format,
    outbox_destination,
)
from pumonitor.monitor.delivery.notifications.words import body
from pumonitor.monitor.ledger.records.results import NewMessage
from pumonitor.monitor.page_addresses import PageAddresses
from tests.monitor.delivery.notifications.alerts import alert

CONFIGURATION = """\
tracking: {tracking}
destinations:
  hook: {{webhook: "https://example.org/hook", picture: true}}
  chat: {{apprise: "json://example.org/hook"}}
monitors:
  card-fraud:
    predictions: {{source: p.parquet, id: id, time: at, score: score}}
    positives: {{source: l.parquet, id: id, known_at: known}}
    window: 1d
    maturity: 2d
    threshold: 0.5
"""


class Known(dict[str, str]):
    def set(self, key: str, run_id: str) -> None:
        self[key] = run_id


CONFIGURATIONS = {"card-fraud": "c0ffee"}
NO_ADDRESS = "must be an address that begins with https:// or http:// and names a host"
RUNS = Known({run_key("card-fraud", "7", "c0ffee"): "0f1e"})


def read(tracking: str) -> Configuration:
    return read_configuration_text(
        CONFIGURATION.format(tracking=tracking),
        environment={"URI": "https://user:canary@mlflow.example"},
    ).configuration


def tracking(given: str) -> Tracking:
    found = read(given).tracking
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("given", "pages"),
    [
        ("{uri: 'http://mlflow.example:5000'}", "http://mlflow.example:5000"),
        ("{uri: 'https://mlflow.example/sub/'}", "https://mlflow.example/sub"),
        ("{uri: '${URI}'}", "https://mlflow.example"),
        ("{uri: 'http://10.0.0.7:5000', ui: 'https://m.example/ml'}", "https://m.example/ml"),
        ("{uri: 'sqlite:///mlflow.db', ui: 'http://m.example'}", "http://m.example"),
    ],
)
def test_a_series_is_seen_on_the_page_of_its_run(given: str, pages: str) -> None:
    links_of = links_to_runs(tracking(given), RUNS, CONFIGURATIONS)
    assert links_of(alert().transition) == {"mlflow": f"{pages}/#/runs/0f1e"}
    assert links_of(alert(model_version="8").transition) == {}


@pytest.mark.parametrize("uri", ["sqlite:///mlflow.db", "mlruns", "databricks", "file:///mlruns"])
def test_a_store_without_pages_has_no_links(uri: str) -> None:
    links_of = links_to_runs(tracking(f"{{uri: '{uri}'}}"), RUNS, CONFIGURATIONS)
    assert links_of(alert().transition) == {}


@pytest.mark.parametrize("ui", ["mlflow.example", "ftp://mlflow.example", "https://"])
def test_pages_that_are_no_address_are_refused(ui: str) -> None:
    with pytest.raises(InputError, match=r"tracking\.ui.*https:// or http://"):
        read(f"{{uri: 'sqlite:///mlflow.db', ui: '{ui}'}}")


def test_a_picture_is_for_webhooks_alone() -> None:
    text = CONFIGURATION.replace('hook"}}', 'hook", picture: true}}')
    with pytest.raises(InputError, match="picture, which is for webhook and not for apprise"):
        read_configuration_text(text.format(tracking="{uri: mlruns}"))


def test_a_message_leads_to_the_page_of_its_window_and_to_its_run() -> None:
    at = PageAddresses("https://p.example")
    links_of = all_links(
        links_to_pages(at),
        links_to_runs(tracking("{uri: 'http://m.example'}"), RUNS, CONFIGURATIONS),
    )
    found = alert(2, segment="country=<DE>")
    assert dict(links_of(found.transition)) == {
        "page": "https://p.example/monitors/card-fraud/windows/2026-03-03T00:00:00Z"
        "?version=7&segment=country%3D%3CDE%3E",
        "mlflow": "http://m.example/#/runs/0f1e",
    }


@pytest.mark.parametrize("written", ["text", "markdown", "html"])
def test_people_read_where_the_page_is(written: Format) -> None:
    page = PageAddresses("https://p.example").window("a&b", alert().transition.window_start, "(7)")
    said = body([alert(links={"page": page})], written)
    assert "Page of this window" in said
    assert (str(escape(page)) if written == "html" else page) in said


def test_alertmanager_leads_to_the_page_from_where_it_shows_the_source() -> None:
    links = {"page": "https://p.example/monitors/x"}
    now = datetime(2026, 4, 1, tzinfo=UTC)
    found = alert_document(alert(links=links), now=now, life=timedelta(days=7))
    assert found["generatorURL"] == found["annotations"]["page_url"] == links["page"]
    assert "generatorURL" not in alert_document(alert(), now=now, life=timedelta(days=7))


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        ("https://pumonitor.example.org", "https://pumonitor.example.org"),
        ("https://mlflow.example.org/pumonitor/", "https://mlflow.example.org/pumonitor"),
        ("http://127.0.0.1:8090", "http://127.0.0.1:8090"),
        ("http://[::1]:8090/", "http://[::1]:8090"),
    ],
)
def test_the_address_of_the_pages_is_that_of_the_overview(given: str, read_as: str) -> None:
    text = CONFIGURATION.format(tracking="{uri: mlruns}") + f"pages: {{address: '{given}'}}\n"
    at = read_configuration_text(text).configuration.page_addresses
    assert at == PageAddresses(read_as)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("5", "must be text such as https://pumonitor.example.org"),
        ("'pumonitor.example.org'", NO_ADDRESS),
        ("'ftp://example.org'", NO_ADDRESS),
        ("'https://'", NO_ADDRESS),
        ("'https://example.org:99999'", NO_ADDRESS),
        ("'https://me@example.org'", "has a user name or password"),
        ("'https://me:${PASSWORD}@example.org'", "has a user name or password"),
        ("'https://example.org/?a=1'", "has a [?] or #"),
        ("'https://example.org/#a'", "has a [?] or #"),
        ("'https://example.org/a b'", "has a blank or another character"),
        ('"https://example.org/a\\nb"', "has a blank or another character"),
        ("'https://example.org/)'", "has a blank or another character"),
    ],
)
def test_an_address_that_cannot_be_linked_to_is_refused(given: str, problem: str) -> None:
    text = CONFIGURATION.format(tracking="{uri: mlruns}") + f"pages: {{address: {given}}}\n"
    with pytest.raises(InputError, match=f"pages.address, line [0-9]+: {problem}") as caught:
        read_configuration_text(text, environment={"PASSWORD": "canary"})
    assert "canary" not in str(caught.value)


def test_every_message_has_the_links_of_its_series_however_it_is_packed() -> None:
    configuration = read("{uri: 'http://m.example'}")
    alerts = [alert(), alert(model_version="8"), alert(rule_key="other")]
    messages = [
        NewMessage(
            destination=outbox_destination(name),
            lane=one.lane,
            key=one.key,
            payload=one.to_payload(),
        )
        for one in alerts
        for name in ("hook", "chat")
    ]
    found = packed(
        configuration.destinations,
        messages,
        links_of=links_to_runs(tracking("{uri: 'http://m.example'}"), RUNS, CONFIGURATIONS),
    )
    link = {"mlflow": "http://m.example/#/runs/0f1e"}
    by_hook = [one for one in found if one.destination == "alerts:hook"]
    assert [AlertMessage.from_payload(one.payload).links for one in by_hook] == [link, {}, link]
    (group,) = [
        one for one in found if one.destination == "alerts:chat" and "alerts" in one.payload
    ]
    told = AlertGroup.from_payload(group.payload).alerts
    assert [dict(one.links) for one in told] == [link, {}, link]
