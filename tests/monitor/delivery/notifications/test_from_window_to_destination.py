"""A round of work on real files: a rule fires, and everybody who wants to know is told, once."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from pumonitor.monitor.app import open_jobs, open_ledger
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.incidents import alert_event_views
from tests.monitor.delivery.notifications.receivers import HttpReceiver, wait_for
from tests.monitor.monitored_shop import FIRST, write_shop

RULES = """\
    rules:
      - {metric: predictions, below: 1000000}
      - {metric: labeled_positives, below: 1000000, severity: warning}
      - {metric: predictions, above: 1, to: [hook]}
"""


def test_a_rule_that_fires_is_reported(tmp_path: Path, receiver: HttpReceiver) -> None:
    path = write_shop(tmp_path, days=2, class_prior=0.1)
    destinations = (
        "destinations:\n"
        f"  hook: {{webhook: '{receiver.address}/hook', allow_private: true}}\n"
        f"  retrain: {{webhook: '{receiver.address}/retrain', allow_private: true,"
        " events: [resolved]}\n"
        f"  am: {{alertmanager: '{receiver.address}'}}\n"
        f"  chat: {{apprise: 'json://127.0.0.1:{receiver.port}/chat', format: text}}\n"
    )
    path.write_text(destinations + path.read_text() + RULES)
    configuration = read_configuration(path).configuration

    def now_mature() -> object:
        return FIRST + timedelta(days=3, hours=1)

    for _ in range(2):
        with open_jobs(configuration, clock=now_mature) as jobs:  # type: ignore[arg-type]
            done = jobs.run()
        assert done.failures == []
    by_path: dict[str, list[bytes]] = {}
    for request in wait_for(lambda: receiver.requests):
        by_path.setdefault(request.path.partition("?")[0], []).append(request.body)

    hook = [json.loads(body)["data"]["metric"] for body in by_path["/hook"]]
    assert sorted(hook) == ["labeled_positives", "predictions", "predictions"]
    (chat,) = (json.loads(body) for body in by_path["/chat"])
    assert chat["title"] == "[critical] card-fraud: 2 alerts: 2 began"
    assert "/retrain" not in by_path
    with open_ledger(configuration) as ledger:
        events = alert_event_views(ledger, ledger.alerts.history())
    told = [[(to.destination, to.state) for to in event.destinations] for event in events]
    everybody = [(name, "delivered") for name in ("am", "chat", "hook")]
    assert sorted(told) == [everybody, everybody, [("hook", "delivered")]]
    held = {
        (one["labels"]["metric"], one["labels"]["severity"])
        for body in by_path["/api/v2/alerts"]
        for one in json.loads(body)
    }
    assert held == {("predictions", "critical"), ("labeled_positives", "warning")}
    assert len(by_path["/api/v2/alerts"]) == 4, "two by the outbox, then one in each round"
    with open_ledger(configuration) as ledger:
        assert ledger.outbox.waiting() == {}
