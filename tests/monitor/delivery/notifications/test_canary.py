"""A canary in every secret of every destination, every way to fail: nobody hears it sing."""

from __future__ import annotations

import base64
import json
import logging
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.alerts.notifiers import alert_sinks
from pumonitor.monitor.alerts.routing import packed
from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.delivery.sending.delivery import Deliverer, Patience
from pumonitor.monitor.ledger.database.schema import outbox as outbox_table
from pumonitor.monitor.ledger.enqueue import enqueue
from tests.monitor.delivery.notifications.alerts import alert
from tests.monitor.delivery.notifications.conftest import QUICK, Clock
from tests.monitor.delivery.notifications.receivers import Answer, HttpReceiver, Request, free_port
from tests.monitor.delivery.notifications.test_nothing_lost import new_messages

CANARY = "kanarienvogel"
MONITOR = """\
monitors:
  card-fraud:
    predictions: {source: predictions.parquet, id: i, time: t, score: s}
    positives: {source: confirmations.parquet, id: i, known_at: k}
    window: 1d
    maturity: 30d
    threshold: 0.5
"""
DESTINATIONS = """\
state: sqlite:///state.db
destinations:
  hook: {{webhook: "http://me:${{HOOK_PASSWORD}}@{host}/${{HOOK_PATH}}?token=${{HOOK_TOKEN}}",
         secret: "${{HOOK_SECRET}}", allow_private: true}}
  am: {{alertmanager: "http://me:${{AM_PASSWORD}}@{host}"}}
  chat: {{apprise: "json://me:${{CHAT_PASSWORD}}@{host}/${{CHAT_PATH}}?+X-Token=${{CHAT_TOKEN}}"}}
  mail: {{apprise: "mailto://me:${{MAIL_PASSWORD}}@127.0.0.1:{no_mail}?from=a@b.cd&to=c@d.ef"}}
  other: {{apprise: "${{OTHER_ADDRESS}}"}}
"""
SECRETS = {
    name: f"{CANARY}-{number}"
    for number, name in enumerate(
        ("HOOK_PASSWORD", "HOOK_PATH", "HOOK_TOKEN", "AM_PASSWORD", "CHAT_PASSWORD", "CHAT_PATH",
         "CHAT_TOKEN", "MAIL_PASSWORD")
    )
} | {
    "HOOK_SECRET": "whsec_" + base64.b64encode(f"{CANARY}-of-a-hook".encode()).decode(),
}  # fmt: skip


def echo(status: int) -> Callable[[Request], Answer]:
    """Says all that it was sent, as some servers do in their errors."""

    def answer(request: Request) -> Answer:
        headers = "\n".join(f"{name}: {value}" for name, value in request.headers.items())
        told = f"{request.path}\n{headers}\n".encode() + request.body
        return Answer(status, told, {"Location": f"http://127.0.0.1:1{request.path}"})

    return answer


def silent(receiver: HttpReceiver) -> Callable[[Request], Answer | None]:
    def answer(request: Request) -> Answer | None:
        return receiver.too_late(request)  # type: ignore[func-returns-value]

    return answer


FAULTS: dict[str, Callable[[HttpReceiver], Callable[[Request], Answer | None]]] = {
    "500": lambda receiver: echo(500),
    "400": lambda receiver: echo(400),
    "429": lambda receiver: echo(429),
    "302": lambda receiver: echo(302),
    "drop": lambda receiver: lambda request: None,
    "silent": silent,
    "down": lambda receiver: lambda request: Answer(200),
}


@pytest.fixture
def configured(
    receiver: HttpReceiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], SimpleNamespace]:
    def configure(host: str) -> SimpleNamespace:
        environment = {
            **SECRETS,
            "OTHER_ADDRESS": f"form://{host}/{CANARY}-other?cto=1&rto=1",
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        path = tmp_path / "pumonitor.yaml"
        path.write_text(DESTINATIONS.format(host=host, no_mail=free_port()) + MONITOR)
        return SimpleNamespace(path=path, configuration=read_configuration(path).configuration)

    return configure


def all_of(file: Path) -> str:
    """Every value of a SQLite database."""
    with sqlite3.connect(file) as connection:
        return "\n".join(connection.iterdump())


def sings(text: str) -> bool:
    """Whether a secret is in it, as it stands or in base64."""
    hidden = [base64.b64encode(f"me:{one}".encode()).decode() for one in SECRETS.values()]
    return any(one in text for one in [CANARY, SECRETS["HOOK_SECRET"], *hidden])


@pytest.mark.parametrize("fault", FAULTS)
def test_no_failure_shows_a_secret(
    fault: str,
    configured: Callable[[str], SimpleNamespace],
    receiver: HttpReceiver,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    from pumonitor.monitor.delivery.notifications import apprise as module

    monkeypatch.setattr(module, "_READ_SECONDS", 0.2)
    caplog.set_level(0)
    logging.getLogger("apprise").setLevel(1)
    host = f"127.0.0.1:{free_port() if fault == 'down' else receiver.port}"
    configuration = configured(host).configuration
    receiver.react = FAULTS[fault](receiver)
    sinks = alert_sinks(configuration, read_series=lambda message: (), clock=clock, limits=QUICK)
    with open_ledger(configuration) as ledger:
        with ledger.database.writing() as connection:
            given = new_messages([alert()], configuration.destinations)
            messages = packed(configuration.destinations, given)
            enqueue(connection, ledger.database, messages, at=ledger.database.now(connection))
        done = Deliverer(
            ledger.outbox, sinks, clock=clock, patience=Patience(failures_to_open=9)
        ).deliver(budget=timedelta(minutes=1))
        waiting = ledger.outbox.waiting()
    shown = [caplog.text, all_of(tmp_path / "state.db"), repr(sinks), repr(done), repr(waiting)]

    assert len(done) == 5
    assert all(one.delivered == 0 and one.reason for one in done.values()), done
    for text in shown:
        assert not sings(text)
    assert "card-fraud" in shown[1], "the message itself is there to be searched"


@pytest.mark.parametrize(("fault", "as_json"), [("400", True), ("down", False)])
def test_no_command_shows_a_secret(
    fault: str,
    as_json: bool,
    configured: Callable[[str], SimpleNamespace],
    receiver: HttpReceiver,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(0)
    receiver.react = echo(400)
    path = configured(f"127.0.0.1:{free_port() if fault == 'down' else receiver.port}").path
    options = ["--json"] if as_json else []
    for command in (["notify", "--test"], ["doctor"], ["check"]):
        done = CliRunner().invoke(app, [*command, *options, "--config", str(path)])
        assert not sings(done.output + caplog.text)
        if command[0] == "notify":
            assert done.exit_code == 3
            assert done.output.count("hook") >= 1
            if as_json:
                assert [one["delivered"] for one in json.loads(done.stdout)] == [False] * 5


def test_what_is_set_aside_is_reported_by_doctor_with_the_reason(
    configured: Callable[[str], SimpleNamespace],
    receiver: HttpReceiver,
    clock: Clock,
) -> None:
    found = configured(f"127.0.0.1:{receiver.port}")
    receiver.react = lambda request: Answer(410, b"this hook was closed")
    with open_ledger(found.configuration) as ledger:
        hook = {"hook": found.configuration.destinations["hook"]}
        with ledger.database.writing() as connection:
            messages = packed(hook, new_messages([alert()], hook))
            enqueue(connection, ledger.database, messages, at=ledger.database.now(connection))
        sinks = alert_sinks(found.configuration, read_series=lambda message: (), clock=clock)
        Deliverer(ledger.outbox, sinks, clock=clock).deliver(budget=timedelta(minutes=1))
    done = CliRunner().invoke(app, ["doctor", "--config", str(found.path)])
    assert "alerts:hook: 1 messages were refused and set aside: the webhook answers 410" in (
        done.output
    )
    assert "this hook was closed" in done.output
    assert "pumonitor doctor --take-up alerts:hook" in done.output


def test_a_later_log_of_others_is_heard_again(
    receiver: HttpReceiver, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    import requests

    from pumonitor.monitor.delivery.notifications.webhook import WebhookSink
    from tests.monitor.delivery.notifications.alerts import outgoing

    caplog.set_level(logging.DEBUG)
    WebhookSink(f"{receiver.address}/quiet", allow_private=True, limits=QUICK, clock=clock).send(
        outgoing(alert())
    )
    requests.get(f"{receiver.address}/heard", timeout=5)
    assert "/heard" in caplog.text
    assert "/quiet" not in caplog.text


def test_the_outbox_table_is_what_is_searched(tmp_path: Path) -> None:
    """The search finds what is there."""
    file = tmp_path / "one.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE outbox (last_error TEXT)")
        connection.execute("INSERT INTO outbox VALUES (?)", (f"by {CANARY}",))
    assert sings(all_of(file))
    assert str(update(outbox_table)).startswith("UPDATE outbox")
