"""Compared with which windows: those of the reference, or the first ones, however long ago."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import insert, update

from pumonitor.monitor.alerts.inputs import alert_inputs
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.database.schema import panes, series
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import window_key
from pumonitor.monitor.ledger.records.table_bytes import table_to_bytes
from pumonitor.monitor.rules.alerts.shift import Shift
from pumonitor.monitor.rules.alerts.states import Evidence
from pumonitor.monitor.windows.evaluation.baseline import (
    baseline_period,
    baseline_series,
    version_to_compare_with,
)
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_to_json
from pumonitor.ports import Window
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

FIRST = datetime(2026, 1, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
CONFIGURATION = "c0ffee"
TEXT = """
state: sqlite:///state.db
monitors:
  fraud:
    predictions: {{source: p.parquet, id: id, time: at, score: score, model_version: version}}
    positives: {{source: c.parquet, id: id, known_at: at}}
    window: {window}
    maturity: 1h
    panes: []
    threshold: 0.5
    class_prior: 0.1
    {reference}
    rules:
      - {{metric: auc, shift: down}}
      - {{metric: auc, below: 0.7}}
"""
COUNTS = {
    "labeled": 60, "unlabeled": 540, "negative": 0, "flagged": 0, "digest": "d",
    "undefined_reason": None,
}  # fmt: skip
REFERENCE = "reference: {start: 2026-01-05T00:00:00Z, end: 2026-01-06T00:00:00Z}"


@cache
def monitored(*, window: str = "1h", reference: str = REFERENCE) -> Monitor:
    text = TEXT.format(window=window, reference=reference)
    return read_configuration_text(text, environment={}).configuration.monitors["fraud"]


def hour(number: int) -> Window:
    return monitored().windows.containing(FIRST + number * HOUR)


def counted(number: int, *, broken: bool = False) -> ScoreTable:
    """Sixty confirmed of 600, which score high, or like all others."""
    rng = np.random.default_rng(number)
    rising = np.array([0.05, 0.1, 0.15, 0.3, 0.4])
    positives = rng.multinomial(60, np.full(5, 0.2) if broken else rising)
    return ScoreTable.from_counts(
        positives, rng.multinomial(540, [0.3, 0.25, 0.2, 0.15, 0.1]), edges=np.linspace(0, 1, 6)
    )


def fill(ledger: Ledger, numbers: range, *, version: str = "1", broken: range = range(0)) -> None:
    """Hours counted and mature, as a run would have collected them."""
    schedule = monitored().pane_schedule
    ledger.register_monitor("fraud", CONFIGURATION, meaning={})
    looks = {number: schedule.panes(hour(number))[0] for number in numbers}
    ledger.plan("fraud", CONFIGURATION, list(looks.values()))
    prior = class_prior_to_json(ClassPriorEstimate.given(0.1))
    rows = [
        {
            "window_key": window_key("fraud", CONFIGURATION, look.window.start, look.window.end),
            "pane": look.number,
            "model_version": version,
            "segment": "",
            "table_bytes": table_to_bytes(counted(number, broken=number in broken)),
            "class_prior": prior,
            "delays": COUNTS,
        }
        for number, look in looks.items()
    ]
    collected = {
        "status": "collected",
        "collected_at": FIRST,
        "counts": {"arrivals": [60] + [0] * 24},
    }
    # Window by window, as workers do it, it would take ten seconds.
    with ledger.database.writing() as connection:
        connection.execute(insert(series), rows)
        connection.execute(update(panes).values(collected))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(f"sqlite:///{tmp_path / 'state.db'}") as opened:
        yield opened


def cause_at(ledger: Ledger, number: int, *, monitor: Monitor, since: int) -> dict[str, object]:
    """What an alert on an hour says of its cause."""
    seen = alert_inputs(monitor, CONFIGURATION, ledger=ledger, references=None)
    (rule,) = (one for one in seen.rules if not isinstance(one.condition, Shift))
    window = hour(number)
    evidence = Evidence(window=window, kind="breach", value=0.5, since=hour(since).start)
    as_of = window.end + monitor.maturity
    with ledger.database.reading() as connection:
        return dict(seen.cause_of(rule, ("1", ""), evidence, as_of, connection))


@pytest.mark.parametrize("reference", [REFERENCE, ""])
def test_an_alert_of_an_hourly_monitor_has_a_cause_after_400_windows(
    ledger: Ledger, reference: str
) -> None:
    last = 430
    fill(ledger, range(last + 1), broken=range(last - 5, last + 1))
    found = cause_at(ledger, last, monitor=monitored(reference=reference), since=last - 5)
    # All rows score as they did, and more are confirmed at low scores than were positive there.
    assert found["kind"] == "ranking"


def baseline(
    ledger: Ledger, monitor: Monitor, *, before: int, version: str = "1"
) -> list[tuple[str, int]]:
    found = baseline_series(
        ledger,
        monitor,
        CONFIGURATION,
        model_version=version,
        segment="",
        before=hour(before).start,
        as_of=hour(before).end + 2 * HOUR,
    )
    return [(one.model_version, (one.window.start - FIRST) // HOUR) for one in found]


def test_the_baseline_is_the_reference_or_the_first_thirty_windows(ledger: Ledger) -> None:
    fill(ledger, range(50))
    reference, none = monitored(), monitored(reference="")
    assert baseline(ledger, reference, before=45) == [("1", at) for at in range(24)]
    assert baseline(ledger, none, before=45) == [("1", at) for at in range(30)]
    # What the change itself may have spoilt is no baseline.
    assert baseline(ledger, reference, before=10) == [("1", at) for at in range(10)]
    assert baseline(ledger, none, before=10) == [("1", at) for at in range(10)]
    assert baseline(ledger, none, before=0) == []


def test_a_new_model_version_is_compared_with_the_one_that_has_most(ledger: Ledger) -> None:
    fill(ledger, range(4), version="0")
    fill(ledger, range(4, 30))
    fill(ledger, range(30, 40), version="2")
    own = [("2", at) for at in range(30, 35)]
    assert baseline(ledger, monitored(reference=""), before=35, version="2") == own
    most = [("1", at) for at in range(4, 24)]
    assert baseline(ledger, monitored(), before=35, version="2") == most


def test_versions_that_have_as_much_are_chosen_between_by_name() -> None:
    assert version_to_compare_with("3", {"1": 5, "2": 5}) == "2"
    assert version_to_compare_with("3", {}) is None


def test_windows_partly_outside_the_reference_are_in_no_part_of_it() -> None:
    monitor = monitored(window="1w", reference="reference: {start: 2026-01-01, end: 2026-03-01}")
    period = baseline_period(monitor)
    # From a Thursday to a Saturday, and weeks start on Monday.
    assert period.start == datetime(2026, 1, 5, tzinfo=UTC)
    assert period.end == datetime(2026, 2, 23, tzinfo=UTC)
    weeks = list(
        monitor.windows.between(datetime(2025, 12, 1, tzinfo=UTC), FIRST + 100 * 24 * HOUR)
    )
    chosen = period.chosen(weeks)
    assert [chosen[0].start, chosen[-1].end] == [period.start, period.end]
    assert len(chosen) == period.windows == 7
    (shift,) = (
        rule.condition for rule in alert_rules(monitor, "") if isinstance(rule.condition, Shift)
    )
    assert (shift.reference_windows, shift.begins) == (7, period.start)


def test_a_reference_without_a_whole_window_has_none() -> None:
    monitor = monitored(window="1mo", reference="reference: {start: 2026-01-02, end: 2026-02-01}")
    period = baseline_period(monitor)
    january = monitor.windows.containing(FIRST)
    assert (period.windows, period.chosen([january])) == (0, [])
