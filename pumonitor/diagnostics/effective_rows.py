"""Weights so uneven that few labeled rows carry the estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pumonitor.results import Finding
from pumonitor.tables import ScoreTable
from pumonitor.text import count_text, percent_text

_LITTLE_LEFT = 0.3
_HEAVY = 0.1


def few_effective_rows(table: ScoreTable, settings: Mapping[str, Any]) -> list[Finding]:
    """A warning when weights leave under 30% of the labeled rows, or one row holds over 10%.

    The effective number of rows is (sum w)^2 / sum w^2 (Kish). The heaviest row's share is read
    from ``settings["largest_weight_share"]`` or else from the squares in the table, where rows
    tied in score count as one. Silent with equal weights.
    """
    if table.weights is None:
        return []
    rows, effective = settings["n_labeled"], settings["effective_labeled"]
    heaviest = settings.get("largest_weight_share")
    if heaviest is None:
        heaviest = math.sqrt(float(np.max(table.labeled_squares))) / float(table.labeled.sum())
    # One row of ten equal ones holds a tenth as well.
    uneven = heaviest > _HEAVY and heaviest > 2 / rows
    if effective >= _LITTLE_LEFT * rows and not uneven:
        return []
    return [
        Finding(
            name="few_effective_rows",
            severity="warning",
            sentence=(
                f"The {rows} confirmed positives count for only {count_text(effective)}: weights "
                f"are very uneven, the heaviest row holds {percent_text(heaviest)} of all. Check "
                "the smallest propensities, because a wrong one changes every estimate. Bounding "
                "them from below makes intervals narrower but adds a bias."
            ),
        )
    ]
