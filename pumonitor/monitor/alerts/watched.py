"""What the fold of alerts has to know of a monitor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pumonitor.monitor.alerts.incidents import CauseOf, no_cause
from pumonitor.monitor.ledger.records.alerts import PaneResults
from pumonitor.monitor.rules.alerts.rule import AlertRule, Baseline

__all__ = ["Watched"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A monitor as alerts see it.

    Attributes
    ----------
    name, configuration : str
    rules : tuple of AlertRule
    baseline : callable
        Results of its reference as known at a moment.
    scores_of : callable
        Of a pane, where a rule reads them.
    cause_of : callable
        What changed when an alert fired.
    rules_digest : str
        Hash of all that its alerts are judged by beside results.
    have_stopped : callable
        Whether no window is due before there are new predictions.
    """

    name: str
    configuration: str
    rules: tuple[AlertRule, ...]
    baseline: Callable[[datetime], Baseline | None]
    scores_of: Callable[[PaneResults], tuple[float, float, float, float] | None]
    cause_of: CauseOf = no_cause
    rules_digest: str = ""
    have_stopped: Callable[[], bool] = bool
