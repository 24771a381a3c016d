"""Why a model's numbers changed: stories that could have made the new counts, and which fits."""

from pumonitor.monitoring.causes.cause import name_cause
from pumonitor.monitoring.causes.named import KINDS, Cause, Size
from pumonitor.monitoring.causes.period import Period, score_edges
from pumonitor.monitoring.causes.sizes import Level, LevelOf

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
