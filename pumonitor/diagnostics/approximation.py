"""A table of counts too coarse for what is read off it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pumonitor.results import ClassPriorEstimate, Finding
from pumonitor.tables import ScoreTable
from pumonitor.text import number_text

_NEGLIGIBLE = 1e-3


def coarse_table(
    table: ScoreTable, class_prior: ClassPriorEstimate, settings: Mapping[str, Any]
) -> list[Finding]:
    """A warning when binning alone can move AUC by more than 0.001."""
    error = table.resolution / (settings["label_purity"] - class_prior.value)
    if error <= _NEGLIGIBLE:
        return []
    return [
        Finding(
            name="coarse_table",
            severity="warning",
            sentence=(
                f"The scores are counted in {len(table)} bins: AUC can be wrong by up to "
                f"{number_text(error)} and AUL by up to {number_text(table.resolution)}, in "
                "addition to their intervals. Use more bins."
            ),
        )
    ]
