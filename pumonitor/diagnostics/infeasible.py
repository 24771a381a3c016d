"""Estimates outside what their metric can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pumonitor.names import title
from pumonitor.results import Estimate, Finding

__all__ = ["infeasible_values"]


def infeasible_values(
    estimates: Mapping[str, Estimate], settings: Mapping[str, Any]
) -> list[Finding]:
    """One warning that lists the estimates outside their range, and what that is evidence of.

    A value outside its range while its interval reaches inside is what sampling alone can do.
    """
    beyond = []
    for estimate in estimates.values():
        low, high = estimate.range
        if estimate.infeasible:
            sure = estimate.low > high or estimate.high < low
            beyond.append((title(estimate.name, settings), estimate.value, sure))
    if not beyond:
        return []
    listed = ", ".join(f"{name} ({value:.3g})" for name, value, _ in beyond[:6])
    if any(sure for *_, sure in beyond):
        return [
            Finding(
                name="infeasible",
                severity="warning",
                sentence=(
                    f"Impossible values that sampling does not explain: {listed}. The class prior "
                    "is wrong, or the confirmed positives are not a fair sample of the positives."
                ),
            )
        ]
    return [
        Finding(
            name="infeasible",
            severity="note",
            sentence=(
                f"Values just outside what is possible, within sampling error: {listed}. They are "
                "shown clipped; a class prior that is too high does this too."
            ),
        )
    ]
