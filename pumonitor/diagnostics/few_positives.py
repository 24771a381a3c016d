"""Too few confirmed positives for a useful answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pumonitor.results import Estimate, Finding

__all__ = ["few_positives", "positives_needed"]

_USEFUL_HALF_WIDTH = 0.1


def positives_needed(estimate: Estimate, n_labeled: float, *, half_width: float) -> int:
    """Confirmed positives at which the interval would be +/- half_width, by the root-n rule.

    Examples
    --------
    >>> e = Estimate(name="recall", value=0.5, low=0.3, high=0.7, confidence_level=0.95,
    ...              method="", n_labeled=24, n_unlabeled=100)
    >>> positives_needed(e, 24, half_width=0.1)
    96
    """
    current = 0.5 * (estimate.high - estimate.low)
    return math.ceil(n_labeled * (current / half_width) ** 2 - 1e-9)


def few_positives(estimates: Mapping[str, Estimate], settings: Mapping[str, Any]) -> list[Finding]:
    """A warning when the interval of recall is wider than +/- 0.1."""
    recall = estimates["recall"]
    count = settings["effective_labeled"]
    if recall.undefined_reason or 0.5 * (recall.high - recall.low) <= _USEFUL_HALF_WIDTH:
        return []
    needed = positives_needed(recall, count, half_width=_USEFUL_HALF_WIDTH)
    return [
        Finding(
            name="few_positives",
            severity="warning",
            sentence=(
                f"Only {count:.0f} confirmed positives: intervals are wide. About {needed} would "
                "bring recall to plus or minus 10 points; evaluate a longer period or wait for "
                "more confirmations."
            ),
        )
    ]
