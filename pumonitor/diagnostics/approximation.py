"""A table of counts too coarse for what is read off it."""

from __future__ import annotations

from pumonitor.results import Finding
from pumonitor.tables import ScoreTable

__all__ = ["coarse_table"]

_NEGLIGIBLE = 1e-3


def coarse_table(table: ScoreTable) -> list[Finding]:
    """A warning when binning alone can move AUL or AUC by more than 0.001."""
    if table.resolution <= _NEGLIGIBLE:
        return []
    return [
        Finding(
            name="coarse_table",
            severity="warning",
            sentence=(
                f"The scores came in {len(table)} bins: AUL and AUC are known only to plus or "
                f"minus {table.resolution:.4f} beside their intervals. Use more bins."
            ),
        )
    ]
