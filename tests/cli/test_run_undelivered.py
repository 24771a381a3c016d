"""`pumonitor run` says what it could not deliver, who holds it, and fails for it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.ledger.claims.owners import this_process
from pumonitor.monitor.ledger.database.schema import outbox
from tests.cli.test_run_alerts import RULES, TODAY
from tests.monitor.delivery.notifications.receivers import OK, Answer, http_receiver
from tests.monitor.monitored_shop import write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

HOOK = """\
destinations:
  hook: {{webhook: "{address}", allow_private: true}}
"""


def claimed_by(path: Path, owner: str) -> None:
    """As if another process had begun to send what waits."""
    with (
        open_ledger(read_configuration(path).configuration) as ledger,
        ledger.database.writing() as connection,
    ):
        until = ledger.database.now(connection) + timedelta(seconds=40)
        connection.execute(
            update(outbox).values(claimed_by=f"{owner} 1", claimed_until=until, not_before=None)
        )


def test_a_run_that_cannot_deliver_an_alert_says_so_and_fails(tmp_path: Path) -> None:
    path = write_shop(tmp_path, days=2, first=TODAY - timedelta(days=3), maturity=timedelta(days=1))
    text = path.read_text().replace("panes: [0d, 1d]", "panes: []\n    class_prior: 0.1")
    command = ["run", "--config", str(path)]
    with http_receiver() as hook:
        hook.react = lambda _: Answer(500)
        path.write_text(
            text + RULES.replace("SEVERITY", "critical") + HOOK.format(address=hook.address)
        )

        failed = CliRunner().invoke(app, command)
        assert failed.exit_code == 3, failed.output
        assert "alerts:hook: 0 messages delivered, 1 failed (the webhook answers 500" in (
            failed.stdout
        )
        assert "Not delivered: alerts:hook. Later runs try again." in failed.stdout
        firing = CliRunner().invoke(app, [*command, "--fail-on-alert"])
        assert firing.exit_code == 1, "that an alert fires is what was asked"

        hook.react = lambda _: OK
        claimed_by(path, "web-2/17/4711/another machine")
        held = CliRunner().invoke(app, command)
        assert held.exit_code == 3
        assert "1 held by web-2, process 17 until " in held.stdout
        told = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
        assert told["undelivered"] == ["alerts:hook"]
        assert [one["by"] for one in told["deliveries"]["alerts:hook"]["held"]] == [
            "web-2, process 17"
        ]
        doctor = CliRunner().invoke(app, ["doctor", "--config", str(path)]).stdout
        assert "1 messages to alerts:hook held by web-2, process 17 until " in doctor

        me = this_process()
        claimed_by(path, str(replace(me, began=me.began - 1)))
        assert hook.ids, "it was asked before"
        hook.requests.clear()
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        assert "alerts:hook: 1 message delivered" in done.stdout
        assert len(hook.ids) == 1, "a dead sender is not waited for"
