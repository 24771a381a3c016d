"""Causes: hypotheses about what changed between two periods, fitted to the counts and compared."""

from pumonitor.monitor.rules.causes.cause import name_cause
from pumonitor.monitor.rules.causes.named import KINDS, Cause, Size
from pumonitor.monitor.rules.causes.period import Period, score_edges
from pumonitor.monitor.rules.causes.sizes import Level, LevelOf

__all__ = [
    "KINDS",
    "Cause",
    "Level",
    "LevelOf",
    "Period",
    "Size",
    "name_cause",
    "score_edges",
]
