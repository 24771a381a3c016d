"""`pumonitor run --fail-on-alert` on real files."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from pumonitor.cli.app import app
from tests.monitor.monitored_shop import write_shop

pytestmark = pytest.mark.usefixtures("unsearched_labels")

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
RULES = """\
    rules:
      - {metric: recall, below: 0.999, severity: SEVERITY, name: everything must be found}
"""


@pytest.mark.parametrize(("severity", "status"), [("critical", 1), ("warning", 0)])
def test_a_critical_alert_fails_a_run_that_asks_for_it(severity, status, tmp_path):
    days = TODAY - timedelta(days=3)
    path = write_shop(tmp_path, days=2, first=days, maturity=timedelta(days=1))
    text = path.read_text().replace("panes: [0d, 1d]", "panes: []\n    class_prior: 0.1")
    path.write_text(text + RULES.replace("SEVERITY", severity))

    asked = CliRunner().invoke(app, ["run", "--fail-on-alert", "--config", str(path), "--json"])
    assert asked.exit_code == status, asked.output
    (firing,) = json.loads(asked.stdout)["firing"]
    assert (firing["rule"], firing["severity"]) == ("everything must be found", severity)
    assert datetime.fromisoformat(firing["since"]) == days

    plain = CliRunner().invoke(app, ["run", "--config", str(path)])
    assert plain.exit_code == 0
    line = f"Firing, {severity}: card-fraud, everything must be found: Recall is 0."
    assert line in " ".join(plain.stdout.split())
