"""Decisions: thresholds with what they bring, and reviews that would tell more."""

from __future__ import annotations

from pumonitor.decisions.best_threshold import BestThreshold
from pumonitor.decisions.deciding import decide, decide_table, decision_of
from pumonitor.decisions.decision import Decision, Outcome
from pumonitor.decisions.reviews import (
    MOST_CASES,
    ReviewOption,
    ReviewOptions,
    Where,
    review_options,
    review_refusal,
)
from pumonitor.decisions.thresholds import nearest_threshold, threshold_of_capacity

__all__ = [
    "MOST_CASES",
    "BestThreshold",
    "Decision",
    "Outcome",
    "ReviewOption",
    "ReviewOptions",
    "Where",
    "decide",
    "decide_table",
    "decision_of",
    "nearest_threshold",
    "review_options",
    "review_refusal",
    "threshold_of_capacity",
]
