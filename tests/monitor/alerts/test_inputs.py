"""From when on the cause of an alert is looked for."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pumonitor.monitor.alerts import inputs as alert_inputs
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.rules.alerts.health import UnusualScores
from pumonitor.monitor.rules.alerts.rule import AlertRule
from pumonitor.monitor.rules.alerts.states import Evidence
from pumonitor.tables import ScoreTable

TEXT = """
state: sqlite:///state.db
monitors:
  churn:
    predictions: {{source: scored.parquet, id: id, time: at, score: score}}
    positives: {{source: left.parquet, id: id, known_at: at}}
    threshold: 0.5
    maturity: 30d
    window: {window}
    zone: Europe/Berlin
    rules: [{{metric: recall, below: 0.5, for: {windows}}}]
"""


@pytest.mark.parametrize(
    ("window", "windows", "middle", "since"),
    [
        # February is shorter than the month of the alert.
        ("1mo", 3, datetime(2026, 4, 10, tzinfo=UTC), datetime(2026, 1, 31, 23, tzinfo=UTC)),
        # The alert's day has 23 hours, those before it 24.
        ("1d", 2, datetime(2026, 3, 29, 12, tzinfo=UTC), datetime(2026, 3, 27, 23, tzinfo=UTC)),
        ("1d", 1, datetime(2026, 3, 29, 12, tzinfo=UTC), datetime(2026, 3, 28, 23, tzinfo=UTC)),
    ],
)
def test_a_cause_is_looked_for_from_the_first_of_the_bad_windows(
    monkeypatch, window, windows, middle, since
):
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(alert_inputs, "newest_class_prior", lambda *_, **__: None)
    monkeypatch.setattr(alert_inputs, "cause_of", lambda *_, **asked_for: asked.append(asked_for))
    monkeypatch.setattr(alert_inputs.MonitorAudits, "used_by", lambda *_, **__: [])
    text = TEXT.format(window=window, windows=windows)
    monitor = read_configuration_text(text, environment={}).configuration.monitors["churn"]
    found_inputs = alert_inputs.alert_inputs(monitor, "c0ffee", ledger=None, references=None)
    (rule,) = (rule for rule in found_inputs.rules if rule.metric == "recall")
    found = monitor.windows.containing(middle)
    evidence = Evidence(window=found, kind="breach", value=0.4)
    assert found_inputs.cause_of(rule, ("", ""), evidence, found.end, None) == {}
    assert [(one["since"], one["until"]) for one in asked] == [(since, found.end)]


def test_the_range_of_scores_is_that_of_all_rows_of_all_versions_and_of_no_segment():
    def series(scores, segment=""):
        labels = np.arange(len(scores)) % 5 == 0
        table = ScoreTable.from_arrays(labels, scores)
        return SimpleNamespace(segment=segment, table=lambda: table)

    low, high = np.linspace(0.2, 0.4, 60), np.linspace(0.4, 0.6, 40)
    stored = [series(low), series(high), series(np.linspace(0.0, 1.0, 20), "country=DE")]
    ledger = SimpleNamespace(
        series=lambda window, pane: stored if (window, pane) == ("w", 3) else ()
    )
    pane = SimpleNamespace(pane=SimpleNamespace(window_key="w", number=3))
    rule = AlertRule(key="k", name="r", metric="", condition=UnusualScores())
    scores_of = alert_inputs._scores_of((rule,), ledger)
    found = scores_of(pane)
    rows = np.sort(np.concatenate([low, high]))
    # Of 100 rows, those in the third and in the 98th place.
    assert found == pytest.approx((0.2, rows[2], rows[97], 0.6), abs=1e-12)
    assert alert_inputs._scores_of((), ledger)(pane) is None
    pane.pane.window_key = "without rows"
    assert scores_of(pane) is None
