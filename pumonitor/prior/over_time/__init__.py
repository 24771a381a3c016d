"""The class prior over windows: what moves it, what only seems to, and how sure that is."""

from pumonitor.prior.over_time.changes import CHANGES, Change
from pumonitor.prior.over_time.level import Level, auc_against_all
from pumonitor.prior.over_time.prior_filter import PriorFilter
from pumonitor.prior.over_time.score_index import ScoreIndex
from pumonitor.prior.over_time.since_reference import Explanation, Movement
from pumonitor.prior.over_time.summaries import Cells, Summariser
from pumonitor.prior.over_time.window_summary import WindowSummary

__all__ = [
    "CHANGES",
    "Cells",
    "Change",
    "Explanation",
    "Level",
    "Movement",
    "PriorFilter",
    "ScoreIndex",
    "Summariser",
    "WindowSummary",
    "auc_against_all",
]
