"""Views of windows and rules folded over them, for tests of rules."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from pumonitor.monitor.rules.alerts.change import Change
from pumonitor.monitor.rules.alerts.fold import RuleFold
from pumonitor.monitor.rules.alerts.rule import (
    AlertRule,
    KnownReference,
    Reading,
    WindowView,
)
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.rules.reference.uncertain import Uncertain
from pumonitor.ports import Window

START = datetime(2026, 1, 1, tzinfo=UTC)


DAY = timedelta(days=1)


ALL = ("7", "")


def reading(value, half=0.02, n=50):
    if value is None:
        return Reading(value=None, reason="no positives")
    return Reading(value=value, low=value - half, high=value + half, se=half / 1.96, n_labeled=n)


def view(number, readings=None, **more):
    start = START + number * DAY
    return WindowView(
        window=Window(start=start, end=start + DAY, index=number),
        pane=more.pop("pane", 1),
        as_of=more.pop("as_of", start + 3 * DAY),
        readings={} if readings is None else readings,
        **more,
    )


def of_metric(*values, metric="auc", series=ALL, half=0.02):
    return [
        view(number, {series: {metric: reading(value, half)}})
        for number, value in enumerate(values)
    ]


def rule(condition, **more):
    return AlertRule(**{"key": "k", "name": "r", "metric": "auc", **more}, condition=condition)


def folded(one, views, known_reference=None):
    fold = RuleFold(one, known_reference=known_reference)
    fold.refold(views, 0)
    return fold


def kinds(one, views, series=ALL, known_reference=None):
    found = folded(one, views, known_reference).evidence
    return [each[series].kind for each in found if series in each]


def reference(value, half=0.01, *, spread=(-0.02, -0.01, 0.0, 0.01, 0.02)):
    """Five windows whose values have a variance of .00025, of which .00005 is by sampling."""
    windows = [
        {
            "auc": Uncertain(
                value=value + off, low=0.0, high=1.0, se=math.sqrt(0.00005) * half / 0.01
            )
        }
        for off in spread
    ]
    found = ReferenceWindows(windows=windows)
    return KnownReference(as_of=START + 4 * DAY, end=START, windows=lambda series: found)


DROP, RISE, CHANGE = (
    Change(direction=direction, amount=0.05, relative=False)
    for direction in ("drop", "rise", "change")
)
