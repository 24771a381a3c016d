"""A small ledger with alerts, versions and segments, and a client of its pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.dashboard.access import Caller
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import MetricResult
from pumonitor.ports import Pane
from tests.monitor.alerted_ledger import CONFIGURATION, DAY, FIRST, AlertedLedger, known, rows

TEXT = """\
monitors:
  card-fraud:
    predictions: {source: p.parquet, id: id, time: t, score: s, segments: [country]}
    positives: {source: c.parquet, id: id, known_at: k}
    window: 1d
    maturity: 2d
    panes: [0d]
    threshold: 0.5
    rules:
      - {metric: recall, below: 0.5, name: too few found, provisional: true}
      - {metric: f1, below: 0.2, severity: warning}
"""
DAYS = 8
HOSTILE = "country=<script>alert('x')</script>\u202e\n\x00\"é"


def monitors(text: str = TEXT) -> dict[str, Monitor]:
    return read_configuration_text(text, path=Path("pumonitor.yaml")).configuration.monitors


def person(
    visible: Collection[str] = (), changeable: Collection[str] = (), *, is_admin: bool = False
) -> Caller:
    """Somebody who sees some monitors, and may change some."""
    return Caller(
        name="alice",
        visible=visible,
        may_change=lambda monitor: monitor in changeable,
        is_admin=is_admin,
    )


def results_of(pane: Pane) -> dict[tuple[str, str], Sequence[MetricResult]]:
    """Recall falls from the fifth day on; the second version takes over on the fourth."""
    number = (pane.window.start - FIRST) // DAY
    recall = 0.8 if number < 5 else 0.3
    version = "1" if number < 3 else "2"
    early = pane.state == "provisional"
    of_all = [
        known("recall", recall - (0.1 if early else 0.0)),
        known("f1", 0.61),
        known("f1_pu", 0.31),
        rows(600 + number),
        MetricResult(metric="labeled_positives", value=20.0 + number, low=None, high=None),
        MetricResult(metric="label_maturity", value=0.5 if early else 1.0, low=None, high=None),
        *([known("recall_expected", recall)] if early else []),
    ]
    found: dict[tuple[str, str], Sequence[MetricResult]] = {
        (version, ""): of_all,
        (version, HOSTILE): [known("recall", None), rows(7)],
    }
    if number == 3:  # both versions, the first on few rows
        found["1", ""] = [known("recall", 0.77), rows(5)]
    return found


class ShopPages:
    """Pages over a ledger of so many days."""

    def __init__(
        self, ledger: Ledger, *, days: int = DAYS, caller: Callable[[], Caller] | None = None
    ) -> None:
        self.monitors = monitors()
        monitor = self.monitors["card-fraud"]
        rules = alert_rules(monitor, CONFIGURATION)
        self.found = AlertedLedger(ledger, rules, results_of)
        self.ledger, self.now = ledger, FIRST
        for day in range(1, days + 1):
            self.run(FIRST + day * DAY)
        self.site = Site(monitors=self.monitors, ledger=ledger, clock=lambda: self.now)
        self._caller = caller

    @cached_property
    def client(self) -> FlaskClient:
        app = make_app(self.site, is_host=lambda host: host == "localhost", caller=self._caller)
        app.testing = True
        return app.test_client()

    def at(self, now: datetime) -> ShopPages:
        """The same at a moment, without working on anything."""
        self.now = now
        return self

    def run(self, now: datetime) -> None:
        self.now = now + timedelta(minutes=1)
        self.found.run(self.now)

    def get(self, address: str, **options: Any) -> Any:
        return self.client.get(address, **options)


class EvaluatedPages:
    """Pages over a ledger whose windows were evaluated from rows."""

    def __init__(self, ledger: Ledger, of: Mapping[str, Monitor], *, now: datetime) -> None:
        self.ledger = ledger
        self.site = Site(monitors=of, ledger=ledger, clock=lambda: now)
        app = make_app(self.site, is_host=lambda host: host == "localhost")
        app.testing = True
        self.client = app.test_client()

    def get(self, address: str, **options: Any) -> Any:
        return self.client.get(address, **options)
