"""Audits: a few hundred reviewed cases that make every number sure."""

from __future__ import annotations

from pumonitor.audit.allocation import design_audit
from pumonitor.audit.bins import ScoreBins, score_bins
from pumonitor.audit.counts import AuditCounts, AuditDesign
from pumonitor.audit.drawn import Case, DrawnAudit
from pumonitor.audit.estimation import estimate_audit, undecided_extremes
from pumonitor.audit.evaluated import AuditReading, read_audit
from pumonitor.audit.fairness import Fairness, check_fairness
from pumonitor.audit.frequency import FAIR, UNKNOWN, FrequencyByScore
from pumonitor.audit.ordering import draw_key, first_keys
from pumonitor.audit.planning import planned_widths, simple_widths
from pumonitor.audit.posterior import AuditPosterior
from pumonitor.audit.reading import Reading, Reviewers
from pumonitor.audit.verdicts import Audit, Refused, read_verdicts

__all__ = [
    "FAIR",
    "UNKNOWN",
    "Audit",
    "AuditCounts",
    "AuditDesign",
    "AuditPosterior",
    "AuditReading",
    "Case",
    "DrawnAudit",
    "Fairness",
    "FrequencyByScore",
    "Reading",
    "Refused",
    "Reviewers",
    "ScoreBins",
    "check_fairness",
    "design_audit",
    "draw_key",
    "estimate_audit",
    "first_keys",
    "planned_widths",
    "read_audit",
    "read_verdicts",
    "score_bins",
    "simple_widths",
    "undecided_extremes",
]
