"""What positives are worth: how much of their value is flagged, and how much is missed.

Why it is computed so, and what was tried: ``docs/decisions/values.md``.
"""

from __future__ import annotations

from pumonitor.values.estimates import ValueAbove, ValueDraws
from pumonitor.values.evaluated import draw_values, with_values
from pumonitor.values.given import Worth, as_unit, worth_of_rows

__all__ = [
    "ValueAbove",
    "ValueDraws",
    "Worth",
    "as_unit",
    "draw_values",
    "with_values",
    "worth_of_rows",
]
