"""Configurations that take turns on one state database, and monitors that are gone from a file."""

from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.app import utc_now
from pumonitor.monitor.config.file import read_configuration
from pumonitor.monitor.inspection.doctor import examine
from pumonitor.monitor.ledger.ledger import Ledger
from tests.monitor.delivery.notifications.receivers import http_receiver
from tests.monitor.monitored_shop import write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
RULES = """\
    rules:
      - {metric: recall, below: 0.999, name: everything must be found}
destinations:
  hook: {webhook: "ADDRESS", allow_private: true}
"""


@pytest.fixture
def shop(tmp_path):
    """A monitor of two days, both mature."""
    path = write_shop(tmp_path, days=2, first=TODAY - timedelta(days=3), maturity=timedelta(days=1))
    text = path.read_text().replace("panes: [0d, 1d]", "panes: []\n    class_prior: 0.1")
    path.write_text(text)
    return path


def invoke(*words, path, status=0):
    done = CliRunner().invoke(app, [*words, "--config", str(path)])
    assert done.exit_code == status, done.output
    return " ".join(done.output.split())


def test_two_configurations_that_take_turns_are_told_and_the_one_left_alone_changes_nothing(shop):
    other = shop.with_name("other.yaml")
    other.write_text(shop.read_text().replace("class_prior: 0.1", "class_prior: 0.2"))
    for path in (shop, other, shop, other):
        invoke("run", path=path)
    told = invoke("run", path=shop, status=2)
    assert "card-fraud: two configurations take turns on this state database, and this one" in told
    assert "pumonitor run --take-over" in told
    invoke("run", path=other)
    for path in (shop, other):
        found = invoke("doctor", path=path, status=3)
        assert "(class_prior was 0.1 and is now 0.2)" in found
    assert invoke("run", "--take-over", path=shop)
    assert "take turns" not in invoke("doctor", path=shop)
    invoke("run", path=other)


def test_a_configuration_may_be_taken_back_and_forth_once(shop):
    text = shop.read_text()
    for prior in ("0.2", "0.1", "0.2", "0.3", "0.2"):
        shop.write_text(text.replace("class_prior: 0.1", f"class_prior: {prior}"))
        invoke("run", path=shop)


def renamed(shop):
    shop.write_text(shop.read_text().replace("card-fraud:", "payment-fraud:"))


def test_a_monitor_that_was_renamed_leaves_no_incident_open(shop):
    with http_receiver() as receiver:
        shop.write_text(shop.read_text() + RULES.replace("ADDRESS", receiver.address))
        invoke("run", path=shop)
        assert any(b"fired" in one.body for one in receiver.requests)
        receiver.requests.clear()
        renamed(shop)
        found = invoke("doctor", path=shop)
        assert f"card-fraud: it is not in {shop} any more" in found
        told = invoke("run", path=shop)
        assert f"card-fraud: it is not in {shop} any more" in told
        resolved = [one.body.decode() for one in receiver.requests if b"resolved" in one.body]
    (body,) = resolved
    assert '"card-fraud"' in body
    assert "The monitor is not in pumonitor.yaml any more." in body
    with Ledger.open(f"sqlite:///{shop.parent / 'state.db'}") as ledger:
        assert ledger.alerts.current("card-fraud", firing=True) == ()
    assert "card-fraud" not in invoke("doctor", path=shop)


def test_a_monitor_of_another_machine_is_told_of_and_finished_by_hand(shop, monkeypatch):
    with http_receiver() as receiver:
        shop.write_text(shop.read_text() + RULES.replace("ADDRESS", receiver.address))
        monkeypatch.setattr("socket.gethostname", lambda: "pod-1")
        invoke("run", path=shop)
        monkeypatch.setattr("socket.gethostname", lambda: "pod-2")
        receiver.requests.clear()
        renamed(shop)
        told = invoke("run", path=shop)
        remedy = "if nobody else watches it, pumonitor finish card-fraud resolves them"
        assert remedy in told
        complaints = examine(read_configuration(shop).configuration, now=utc_now())
        (left,) = [one for one in complaints if one.what.startswith("card-fraud: ")]
        assert left.remedy == remedy
        assert not any(b'"card-fraud"' in one.body for one in receiver.requests)
        done = invoke("finish", "card-fraud", path=shop)
        assert done == "card-fraud: its open incidents are resolved"
        (resolved,) = [one for one in receiver.requests if b'"card-fraud"' in one.body]
        assert b"The monitor is not followed any more." in resolved.body
        assert "no monitor" in invoke("finish", "nobody", path=shop, status=2)


def test_a_monitor_of_another_file_is_left_alone(shop):
    with http_receiver() as receiver:
        shop.write_text(shop.read_text() + RULES.replace("ADDRESS", receiver.address))
        invoke("run", path=shop)
        other = shop.with_name("other.yaml")
        other.write_text(shop.read_text().replace("card-fraud:", "payment-fraud:"))
        assert "card-fraud" not in invoke("run", path=other).replace("payment-fraud", "")
    with Ledger.open(f"sqlite:///{shop.parent / 'state.db'}") as ledger:
        assert len(ledger.alerts.current("card-fraud", firing=True)) == 1
