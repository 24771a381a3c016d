"""Why a model's numbers changed: stories that could have made the new counts, and which fits."""

from pumonitor.monitoring.causes.cause import KINDS, Cause, Size, name_cause
from pumonitor.monitoring.causes.period import Period, score_edges

__all__ = ["KINDS", "Cause", "Period", "Size", "name_cause", "score_edges"]
