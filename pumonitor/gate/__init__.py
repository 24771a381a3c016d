"""Whether a challenger is surely better than the deployed model, whenever it is asked."""

from __future__ import annotations

from pumonitor.gate.audited_pairs import AuditedBetween, Side
from pumonitor.gate.judging import (
    ENOUGH_WINDOWS,
    ERROR,
    Condition,
    GateSettings,
    Judgement,
    Verdict,
    judge,
)
from pumonitor.gate.mean_evidence import MeanEvidence
from pumonitor.gate.paired_labels import GateMetric, PairedLabels
from pumonitor.gate.reviewed_pairs import ReviewedEvidence, ReviewedPair
from pumonitor.gate.window_evidence import evidence_of, window_from_bytes

__all__ = [
    "ENOUGH_WINDOWS",
    "ERROR",
    "AuditedBetween",
    "Condition",
    "GateMetric",
    "GateSettings",
    "Judgement",
    "MeanEvidence",
    "PairedLabels",
    "ReviewedEvidence",
    "ReviewedPair",
    "Side",
    "Verdict",
    "evidence_of",
    "judge",
    "window_from_bytes",
]
