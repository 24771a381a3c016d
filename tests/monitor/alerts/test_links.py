"""What messages link to: the run of a series on MLflow's pages, where those have an address."""

from __future__ import annotations

import pytest

from pumonitor.errors import InputError
from pumonitor.monitor.alerts.links import links_to_runs
from pumonitor.monitor.alerts.routing import packed
from pumonitor.monitor.config.configuration import Configuration, Tracking
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.delivery.mlflow.runs import run_key
from pumonitor.monitor.delivery.notifications.group import AlertGroup
from pumonitor.monitor.delivery.notifications.message import AlertMessage, outbox_destination
from pumonitor.monitor.ledger.records.results import NewMessage
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
