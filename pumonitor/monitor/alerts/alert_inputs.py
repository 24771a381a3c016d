"""Inputs of the alert fold of one monitor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pumonitor.monitor.alerts.incidents import CauseOf, no_cause
from pumonitor.monitor.ledger.records.alerts import PaneResults
from pumonitor.monitor.rules.alerts.rule import AlertRule, KnownReference


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertInputs:
    """Rules of a monitor, and functions that read what the fold needs besides results.

    Attributes
    ----------
    name, configuration : str
        Name of the monitor and hash of its configuration.
    rules : tuple of AlertRule
    known_reference : callable
        Returns the reference as known at a moment, or None.
    scores_of : callable
        Returns the score range of a pane; None if no rule needs it.
    cause_of : callable
        Returns the cause of an alert that fires.
    rules_digest : str
        Hash of everything besides results that its alerts depend on.
    have_stopped : callable
        Returns whether predictions have stopped, so that no window is due.
    """

    name: str
    configuration: str
    rules: tuple[AlertRule, ...]
    known_reference: Callable[[datetime], KnownReference | None]
    scores_of: Callable[[PaneResults], tuple[float, float, float, float] | None]
    cause_of: CauseOf = no_cause
    rules_digest: str = ""
    have_stopped: Callable[[], bool] = bool
