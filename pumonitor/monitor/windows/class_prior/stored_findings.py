"""Findings about an assumed class prior, as results hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pumonitor.results import Finding

FINDING: Final = "assumed_prior"
FINDING_OF_SEGMENT: Final = "assumed_prior_of_segment"


def stored_findings(evaluation: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Warnings about the assumed class prior in a stored evaluation."""
    return tuple(
        Finding(**one)
        for one in evaluation.get("warnings", ())
        if one["name"] in (FINDING, FINDING_OF_SEGMENT) and one["severity"] == "warning"
    )
