"""For each rule of a monitor: its condition in words, and the first window it is evaluated on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from scipy import special

from pumonitor.monitor.alerts.false_alarms import QuietAlarms
from pumonitor.monitor.alerts.rules import alert_rules
from pumonitor.monitor.config.file import configuration_hash
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.rules.alerts.rule import AlertRule
from pumonitor.monitor.rules.alerts.shift import Shift
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.ports import Window
from pumonitor.text import times_text

FEW_TO_LEARN: Final = 10
"""Windows, below which a detector hardly knows how much windows differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutlook:
    """Description of a rule: its condition, first window, destinations and false alarms.

    Attributes
    ----------
    rule, severity : str
    fires : str
        Condition in words.
    first_window : datetime or None
        Start of the first window that the rule can be evaluated on; None without predictions.
    judged_at : datetime or None
        When the rule is evaluated on that window.
    to : tuple of str or None
        Destinations; None for all.
    quiet : QuietAlarms or None
        False alarms in quiet windows. None without results, for detectors (their rate is chosen)
        and for rules on the health of the data.
    sees : str
        Detection delay of a detector for a fall, from the variation of quiet windows; "" if
        unknown.
    """

    rule: str
    severity: str
    fires: str
    first_window: datetime | None
    judged_at: datetime | None
    to: tuple[str, ...] | None
    quiet: QuietAlarms | None = None
    sees: str = ""


def rule_outlooks(
    monitor: Monitor,
    *,
    first: datetime | None,
    quiet: Mapping[str, QuietAlarms] | None = None,
    sights: Mapping[str, str] | None = None,
) -> list[RuleOutlook]:
    """Describe every rule of a monitor whose first prediction is at `first`.

    Parameters
    ----------
    monitor : Monitor
    first : datetime or None
    quiet : mapping of str to QuietAlarms, optional
    sights : mapping of str to str, optional
        By the rules' keys.
    """
    found = []
    for rule in alert_rules(monitor, configuration_hash(monitor)):
        window = None if first is None else _first_window(monitor, rule, first)
        wait = timedelta() if rule.provisional else monitor.maturity
        found.append(
            RuleOutlook(
                rule=rule.name,
                severity=rule.severity,
                fires=_fires(rule),
                first_window=None if window is None else window.start,
                judged_at=None if window is None else window.end + wait,
                to=rule.to,
                quiet=(quiet or {}).get(rule.key),
                sees=(sights or {}).get(rule.key, ""),
            )
        )
    return found


def _first_window(monitor: Monitor, rule: AlertRule, first: datetime) -> Window:
    end = baseline_period(monitor).end
    start, skipped = rule.condition.first_window(first, reference_end=end)
    grid = monitor.windows
    window = grid.containing(start)
    # Months differ in length: twice as much of them as is needed.
    ahead = grid.between(window.start, window.end + (skipped + 1) * 2 * _length(window))
    return next(islice(ahead, skipped, None))


def _length(window: Window) -> timedelta:
    return window.end - window.start


def _fires(rule: AlertRule) -> str:
    text = rule.condition.fires
    if rule.windows > 1:
        text += f", {rule.windows} windows in a row"
    if rule.per:
        text += f", in a {rule.per}"
    return text


def short_to_learn(monitor: Monitor) -> str:
    """Why detectors see changes late, where they learn from few windows; "" where they do not."""
    learning = {
        rule.name: rule.condition.reference_windows
        for rule in alert_rules(monitor, configuration_hash(monitor))
        if isinstance(rule.condition, Shift) and rule.condition.reference_windows < FEW_TO_LEARN
    }
    if not learning:
        return ""
    windows = max(learning.values())
    wider = _reach(windows) / _reach(2 * FEW_TO_LEARN)
    return (
        f"{', '.join(learning)}: how much windows differ is learned from {windows} windows, those "
        "of the reference and those after it, and the first one after them is judged first; a "
        f"change must be some {times_text(wider)} as large as with {2 * FEW_TO_LEARN} windows to "
        "be seen as soon: make the reference longer"
    )


def _reach(windows: int) -> float:
    """Of a window's prediction, in standard deviations: Student's t of so many windows."""
    return float(special.stdtrit(windows - 1, 0.975)) * math.sqrt(1 + 1 / windows)
