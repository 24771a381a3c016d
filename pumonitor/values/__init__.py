"""What positives are worth: how much of their value is flagged, and how much is missed.

Why it is computed so, and what was tried: ``docs/decisions/values.md``.
"""

from __future__ import annotations

from pumonitor.values.estimates import ValueDraws
from pumonitor.values.evaluated import with_values
from pumonitor.values.fair import draws_with_fair_labels
from pumonitor.values.given import Worth, as_worth, refuse_beside_values
from pumonitor.values.reviewed import draws_with_reviews

__all__ = [
    "ValueDraws",
    "Worth",
    "as_worth",
    "draws_with_fair_labels",
    "draws_with_reviews",
    "refuse_beside_values",
    "with_values",
]
