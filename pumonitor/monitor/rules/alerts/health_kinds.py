"""What rules on the health of the data and of audits look at."""

from __future__ import annotations

from typing import Final, Literal

HealthKind = Literal[
    "no_data",
    "stale",
    "lost_rows",
    "few_positives",
    "unmatched_labels",
    "score_range",
    "volume",
    "audit_overdue",
    "audit_unread",
    "audit_conflicts",
    "unfair_labels",
]

OF_AUDITS: Final = ("audit_overdue", "audit_unread", "audit_conflicts", "unfair_labels")
"""Kinds that look at audits instead of windows."""

BY_THE_CLOCK: Final = ("stale", "lost_rows", *OF_AUDITS)
"""Kinds that are evaluated by the clock and not by window."""
