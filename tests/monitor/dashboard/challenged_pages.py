"""Pages of a shop whose challengers have scored, and the commands beside them."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.config.sections.challengers import Challengers
from pumonitor.monitor.dashboard.app import make_app
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.promotions import NewPromotion, Promotion
from tests.monitor.challenging.challenged_shop import SETTLED
from tests.monitor.promotion.promotion_worker import EVIDENCE

PAGE, API = "/monitors/shop/challengers", "/api/v1/monitors/shop"
MODELS = "{v7: score_v7, gone: score_v9, next: 'models:/shop@challenger'}"
GATE = "gate: {better: aul, not_worse: {recall: 0.3}}"


class ChallengedPages:
    """Pages of a shop whose challengers have scored four days."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "pumonitor.yaml"
        self.configuration = read_configuration(self.path).configuration
        self.ledger = Ledger.open(f"sqlite:///{folder / 'state.db'}")
        self.monitors = dict(self.configuration.monitors)
        self.monitor = self.monitors["shop"]
        self.caller: Any = None

    def get(self, address: str, **options: Any) -> Any:
        site = Site(monitors=self.monitors, ledger=self.ledger, clock=lambda: SETTLED)
        return self.client_of(site).get(address, **options)

    def client_of(self, site: Site) -> Any:
        made = make_app(site, is_host=lambda host: host == "localhost", caller=self.caller)
        made.testing = True
        return made.test_client()

    def api(self, of: str, **query: Any) -> Any:
        found = self.get(f"{API}/{of}", query_string=query)
        assert found.status_code == 200, found.text
        return json.loads(found.text, parse_constant=pytest.fail)

    def configured(self, **values: Any) -> None:
        """The shop with other keys of the section, or without it."""
        asked = self.monitor.challengers.model_dump() | values if values else None
        asked = None if asked is None else Challengers.model_validate(asked)
        self.monitors["shop"] = self.monitor.model_copy(update={"challengers": asked})

    def promoted(self, *, state: str = "done", reason: str = "", **values: Any) -> Promotion:
        wanted = {
            "monitor": "shop",
            "model": "shop",
            "alias": "champion",
            "action": "promote",
            "from_version": "7",
            "to_version": "8",
            "actor": "ana",
            "evidence": EVIDENCE,
        } | values
        begun = self.ledger.promotions.begin(NewPromotion(**wanted), lease=timedelta(minutes=1))
        if state == "begun":
            return begun
        return self.ledger.promotions.settle(begun, state, reason=reason)

    def command(self, *arguments: str) -> Any:
        found = CliRunner().invoke(app, [*arguments, "--json", "--config", str(self.path)])
        assert found.exit_code in {0, 1}, found.output
        return json.loads(found.stdout)
