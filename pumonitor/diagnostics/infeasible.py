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
    """Estimates outside their range, and what that is evidence of.

    A warning for those whose whole interval is outside; a value outside while its interval reaches
    inside is what sampling alone can do, and a note.
    """
    beyond = [estimate for estimate in estimates.values() if estimate.infeasible]
    sure = [estimate for estimate in beyond if estimate.surely_impossible]
    by_chance = [estimate for estimate in beyond if not estimate.surely_impossible]

    def listed(found: list[Estimate]) -> str:
        return ", ".join(f"{title(e.name, settings)} ({e.value:.3g})" for e in found[:6])

    findings = []
    if sure:
        findings.append(
            Finding(
                name="infeasible",
                severity="warning",
                sentence=(
                    f"Impossible values that sampling does not explain: {listed(sure)}. The class "
                    "prior is wrong, or the confirmed positives are not a fair sample of the "
                    "positives."
                ),
            )
        )
    if by_chance:
        findings.append(
            Finding(
                name="infeasible",
                severity="note",
                sentence=(
                    "Values just outside what is possible, within sampling error: "
                    f"{listed(by_chance)}. They are shown clipped; a class prior that is too high "
                    "does this too."
                ),
            )
        )
    return findings
