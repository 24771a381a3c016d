"""`promote` asks the gate, moves the alias, undoes it, and lists what was done."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pumonitor.monitor.promotion.gate import GateAnswer
from tests.cli.test_alert_commands import invoke
from tests.monitor.delivery.mlflow.conftest import WARNINGS_OF_MLFLOW
from tests.monitor.delivery.notifications.receivers import http_receiver
from tests.monitor.monitored_shop import write_shop
from tests.monitor.promotion.promotion_worker import EVIDENCE, registered
from tests.monitor.promotion.registered_models import aliases

pytestmark = [pytest.mark.filterwarnings(accepted) for accepted in WARNINGS_OF_MLFLOW]

BETTER = GateAnswer(
    verdict="better",
    reason="Recall is 0.031 higher, from 0.012 to 0.050.",
    evidence=EVIDENCE,
    champion_version="1",
    challenger_version="2",
)


class Shop:
    """A monitor with a challenger, its registry, and what the gate will answer."""

    def __init__(self, folder: Path, database: Path, client_class: Any, receiver: str) -> None:
        shutil.copy(database, folder / "mlflow.db")
        self.registry = f"sqlite:///{folder / 'mlflow.db'}"
        self.client = client_class(tracking_uri=self.registry, registry_uri=self.registry)
        registered(self.client, "fraud")
        self.path = write_shop(folder, days=1, tracking=self.registry)
        self.path.write_text(
            f"destinations: {{hook: {{webhook: '{receiver}', allow_private: true}}}}\n"
            + self.path.read_text()
            + "    model: models:/fraud@champion\n"
            "    challengers: {models: {v2: 'models:/fraud/2'}}\n"
        )
        self.answer = BETTER
        self.asked: list[str] = []

    def gate_answer(self, *_: Any, challenger: str, **__: Any) -> GateAnswer:
        self.asked.append(challenger)
        return self.answer

    def __call__(self, *arguments: str, status: int = 0) -> Any:
        return invoke("promote", "card-fraud", *arguments, path=self.path, status=status)

    def edit(self, before: str, after: str) -> None:
        text = self.path.read_text()
        assert before in text
        self.path.write_text(text.replace(before, after))

    @property
    def aliases(self) -> dict[str, str]:
        return aliases(self.client, "fraud")


@pytest.fixture
def receiver():
    with http_receiver() as one:
        yield one


@pytest.fixture
def shop(tmp_path, mlflow_database, mlflow_client_class, receiver, monkeypatch):
    shop = Shop(tmp_path, mlflow_database, mlflow_client_class, receiver.address)
    module = ModuleType("pumonitor.monitor.challenging.gate_answer")
    module.gate_answer = shop.gate_answer
    # The parent, so that the double is found whether or not the real one is there.
    package = ModuleType("pumonitor.monitor.challenging")
    package.gate_answer = module
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return shop


def test_a_better_challenger_is_promoted_told_listed_and_undone(shop, receiver):
    done = shop("--by", "ana")
    assert done.stdout == (
        "better: Recall is 0.031 higher, from 0.012 to 0.050.\n"
        "ana made version 2 of model fraud champion, in place of version 1: its Recall differs by "
        "+0.0312 (+0.0120 to +0.0500).\n"
    )
    assert shop.aliases == {"champion": "2", "previous": "1"}
    assert shop.asked == ["v2"]
    assert [one["type"] for one in receiver.documents] == ["model.promoted"]

    again = shop(status=3)
    assert "version 2 of model fraud is champion already: somebody else" in again.stderr
    undone = shop("--undo", "--by", "ben").stdout
    assert undone.startswith("Version 1 of model fraud is champion again, in place of version 2")
    assert shop.aliases == {"champion": "1", "previous": "2"}
    assert [one["type"] for one in receiver.documents][1:] == ["model.promotion_undone"]
    assert "was undone already" in shop("--undo", status=2).stderr

    table = shop("--history").stdout
    assert [word in table for word in ("1 to 2", "2 to 1", "refused", "undoes 1")] == [True] * 4
    rows = json.loads(shop("--history", "--json").stdout)
    assert [(one["id"], one["state"], one["actor"]) for one in rows[::2]] == [
        (3, "done", "ben"),
        (1, "done", "ana"),
    ]
    assert rows[2]["evidence"] == EVIDENCE.to_dict()


def test_what_an_audit_decided_is_listed_as_cases(shop):
    found = EVIDENCE.model_copy(update={"metric": "precision", "labels": 200, "windows": 1})
    shop.answer = BETTER.model_copy(update={"evidence": found})
    shop()
    table = shop("--history").stdout.replace("│", " ").split()
    assert " ".join(table).count("200 cases,") == 1
    assert "windows" not in " ".join(table)


def test_a_dry_run_changes_nothing(shop, receiver):
    assert "Version 2 would be promoted in place of version 1." in shop("--dry-run").stdout
    told = json.loads(shop("--dry-run", "--json").stdout)
    assert (told["promoted"], told["dry_run"], told["promotion"]) == (False, True, None)
    assert told["gate"]["evidence"]["labels"] == 412
    assert shop.aliases == {"champion": "1"}
    assert shop("--history").stdout == "Nothing was promoted yet.\n"
    assert receiver.requests == []


@pytest.mark.parametrize("verdict", ["worse", "not yet", "cannot be judged"])
def test_what_is_not_better_is_not_promoted(shop, verdict):
    shop.answer = BETTER.model_copy(
        update={"verdict": verdict, "reason": "The interval holds 0.", "evidence": None}
    )
    said = shop(status=1).stdout
    assert said == f"{verdict}: The interval holds 0.\nNothing was promoted.\n"
    assert json.loads(shop("--json", status=1).stdout)["gate"]["verdict"] == verdict
    assert "Nothing would be promoted." in shop("--dry-run", status=1).stdout
    assert shop.aliases == {"champion": "1"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--undo", "--dry-run"], "--undo goes without --dry-run"),
        (["--history", "--undo"], "--undo goes without --history"),
        (["--history", "--challenger", "v2"], "--history goes without --challenger"),
        (["--by", " "], "--by must have 1 to 200 printable characters"),
        (["--by", "a\nb"], "--by must have 1 to 200 printable characters"),
        (["--challenger", "v3"], "no challenger 'v3' (there are v2)"),
        (["--undo"], "there is no promotion of model fraud to undo"),
    ],
)
def test_wrong_usage_is_said(shop, options, said):
    assert said in shop(*options, status=2).stderr
    assert shop.aliases == {"champion": "1"}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("    challengers: {models: {v2: 'models:/fraud/2'}}\n", "", "has no challengers"),
        ("v2: 'models:/fraud/2'", "v2: score_v2", "challenger v2 is a column of the predictions"),
        ("v2: 'models:/fraud/2'", "v2: 'models:/other/2'", "of the registered model other, and"),
        (
            "v2: 'models:/fraud/2'",
            "v2: 'models:/fraud/2', v3: 'models:/fraud/3'",
            "several challengers: give --challenger, one of v2, v3",
        ),
        ("    model: models:/fraud@champion\n", "", "has no registered model"),
    ],
)
def test_what_cannot_be_promoted_says_why(shop, before, after, said):
    shop.edit(before, after)
    assert said in shop(status=2).stderr
    assert shop.asked == []


def test_without_a_registry_there_is_nothing_to_move(shop):
    shop.edit(f"tracking: {{uri: '{shop.registry}'}}\n", "")
    assert "has no tracking, so there is no registry" in shop(status=2).stderr


def test_the_registry_may_be_elsewhere(shop, tmp_path):
    shop.edit("tracking: {uri", f"tracking: {{registry: '{shop.registry}', uri")
    shop.edit(f"uri: '{shop.registry}'}}", f"uri: 'sqlite:///{tmp_path}/elsewhere.db'}}")
    shop()
    assert shop.aliases == {"champion": "2", "previous": "1"}
    assert not (tmp_path / "elsewhere.db").exists()


def test_a_registry_that_is_down_is_said_without_its_password(shop, monkeypatch):
    monkeypatch.setenv("REGISTRY", "http://ana:s3cr3t@127.0.0.1:9")
    shop.edit(f"uri: '{shop.registry}'", "uri: '${REGISTRY}'")
    said = shop(status=3).stderr
    assert "the model registry cannot be used" in said
    assert "s3cr3t" not in said
    history = shop("--history", "--json").stdout
    assert "s3cr3t" not in history
    assert [one["state"] for one in json.loads(history)] == ["abandoned"]


def test_a_destination_that_is_down_does_not_stop_it(shop, receiver):
    receiver.in_turn(None)
    done = shop()
    assert "hook is not notified yet; the next run tries again" in done.stderr
    assert shop.aliases["champion"] == "2"
