"""A threshold that flags everything or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pumonitor.results import Estimate, Finding

__all__ = ["one_sided_decision"]


def one_sided_decision(
    estimates: Mapping[str, Estimate], settings: Mapping[str, Any]
) -> list[Finding]:
    """A warning when all rows, or none, are at or above the threshold."""
    flagged = estimates["predicted_positive_rate"].value
    if 0 < flagged < 1:
        return []
    which = "No row scores" if flagged == 0 else "Every row scores"
    return [
        Finding(
            name="one_sided_decision",
            severity="warning",
            sentence=(
                f"{which} at or above the threshold {settings['threshold']:g}: the metrics at the "
                "threshold say nothing of the model. Is the threshold on the scale of the scores?"
            ),
        )
    ]
