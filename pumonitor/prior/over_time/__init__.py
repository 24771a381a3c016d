"""The class prior over windows: what moves it, what only seems to, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pumonitor._on_demand import on_demand

if TYPE_CHECKING:
    from pumonitor.prior.over_time.changes import CHANGES, Change
    from pumonitor.prior.over_time.explanation import Explanation, Movement
    from pumonitor.prior.over_time.level import Level, auc_against_all
    from pumonitor.prior.over_time.prior_filter import PriorFilter
    from pumonitor.prior.over_time.score_index import ScoreIndex
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

_HOMES = {
    "CHANGES": "pumonitor.prior.over_time.changes",
    "Cells": "pumonitor.prior.over_time.summaries",
    "Change": "pumonitor.prior.over_time.changes",
    "Explanation": "pumonitor.prior.over_time.explanation",
    "Level": "pumonitor.prior.over_time.level",
    "Movement": "pumonitor.prior.over_time.explanation",
    "PriorFilter": "pumonitor.prior.over_time.prior_filter",
    "ScoreIndex": "pumonitor.prior.over_time.score_index",
    "Summariser": "pumonitor.prior.over_time.summaries",
    "WindowSummary": "pumonitor.prior.over_time.window_summary",
    "auc_against_all": "pumonitor.prior.over_time.level",
}

# What is stored of a followed class prior is read without the filter.
__getattr__ = on_demand(__name__, _HOMES)
