"""What a replay says of rules that could not be judged, and of false alarms."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pumonitor.monitor.alerts.simulation import _false_alarms, _why_unknown
from pumonitor.monitor.rules.alerts.fold import RuleFold
from pumonitor.monitor.rules.alerts.limit import Limit
from pumonitor.monitor.rules.alerts.rule import AlertRule, Reading, WindowView
from pumonitor.monitor.rules.alerts.shift import Shift
from tests.monitor.alerted_ledger import DAY, day

RULE = AlertRule(
    key="shift",
    name="shift",
    metric="auc",
    condition=Shift(
        direction="down",
        false_alarms_per_year=1,
        windows_per_year=365,
        detector="cusum",
        reference_windows=5,
        begins=None,
    ),
)


@pytest.mark.parametrize(
    ("windows", "said"),
    [
        (0, "there is no window yet"),
        (3, "AUC is 0.900; the usual value is still being estimated from 5 windows"),
        (8, ""),
    ],
)
def test_a_reference_too_short_to_judge_by_is_named(windows: int, said: str) -> None:
    fold = RuleFold(RULE, known_reference=None)
    reading = Reading(value=0.9, low=0.88, high=0.92, se=0.01, n_labeled=50)
    views = [
        WindowView(
            window=day(number),
            pane=1,
            as_of=day(number).end + 2 * DAY,
            readings={("7", ""): {"auc": reading}},
        )
        for number in range(windows)
    ]
    if views:
        fold.refold(views, 0)
    assert _why_unknown(fold) == said


def quiet(*values: float) -> list[WindowView]:
    return [
        WindowView(
            window=day(number),
            pane=1,
            as_of=day(number).end + 2 * DAY,
            readings={("7", ""): {"auc": Reading(value=value, low=value, high=value, se=0.0)}},
        )
        for number, value in enumerate(values)
    ]


def test_false_alarms_of_a_year_are_counted_over_years_of_quiet_windows() -> None:
    rule = replace(RULE, condition=Limit(side="below", limit=0.8))
    often, source = _false_alarms(rule, quiet(*[0.9] * 39, 0.7), None, seed=0)
    assert source == "quiet windows"
    assert often == pytest.approx(365 / 40, rel=0.2)
    assert _false_alarms(rule, quiet(*[0.9] * 40), None, seed=0) == (0.0, "quiet windows")


def test_false_alarms_that_were_chosen_are_said_and_few_windows_tell_none() -> None:
    windows = quiet(*[0.9] * 9)
    assert _false_alarms(RULE, windows, None, seed=0) == (1, "chosen")
    limit = replace(RULE, condition=Limit(side="below", limit=0.8))
    assert _false_alarms(limit, windows, None, seed=0) == (None, "")
