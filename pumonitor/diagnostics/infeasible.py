"""Estimates outside what their metric can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pumonitor.names import title
from pumonitor.results import Estimate, Finding
from pumonitor.text import number_text

_STANDARD_ERRORS = 3.1


def more_than_chance(estimate: Estimate) -> bool:
    """Whether the whole interval is outside the range and the estimate 3.1 standard errors.

    The estimate as it came out, where it was held to what is possible.

    An interval at 95% leaves the range by chance in one evaluation of forty or so, and many
    metrics are looked at; at 3.1 standard errors it is one of a thousand.
    """
    if not estimate.interval_infeasible:
        return False
    low, high = estimate.range
    beyond = max(low - estimate.value, estimate.value - high)
    return not beyond < _STANDARD_ERRORS * estimate.se


def infeasible_values(
    estimates: Mapping[str, Estimate], settings: Mapping[str, Any]
) -> list[Finding]:
    """Estimates outside their range, and what that is evidence of.

    A warning for those outside by more than chance; a value outside by no more standard errors
    than sampling alone can do is a note, however far that is with few rows.
    """
    beyond = [estimate for estimate in estimates.values() if estimate.infeasible]
    sure = [estimate for estimate in beyond if more_than_chance(estimate)]
    by_chance = [estimate for estimate in beyond if not more_than_chance(estimate)]

    def listed(found: list[Estimate]) -> str:
        return ", ".join(f"{title(e.name, settings)} ({number_text(e.value)})" for e in found[:6])

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
                    "Values outside what is possible, by no more than sampling error explains: "
                    f"{listed(by_chance)}. They are shown clipped; a class prior that is too high "
                    "does this too."
                ),
            )
        )
    return findings
