"""Diagnostics: what is doubtful about an evaluation, each finding a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pumonitor.diagnostics.approximation import coarse_table
from pumonitor.diagnostics.decision import one_sided_decision
from pumonitor.diagnostics.few_positives import few_positives
from pumonitor.diagnostics.infeasible import infeasible_values
from pumonitor.diagnostics.prior_bound import prior_is_upper_bound
from pumonitor.diagnostics.ranking import no_ranking
from pumonitor.results import ClassPriorEstimate, Estimate, Finding
from pumonitor.tables import ScoreTable

__all__ = ["diagnose"]


def diagnose(
    table: ScoreTable,
    estimates: Mapping[str, Estimate],
    class_prior: ClassPriorEstimate,
    settings: Mapping[str, Any],
) -> tuple[Finding, ...]:
    """All findings, warnings before notes."""
    found = [
        *infeasible_values(estimates, settings),
        *few_positives(estimates, settings),
        *no_ranking(estimates),
        *one_sided_decision(estimates, settings),
        *coarse_table(table, class_prior, settings),
        *prior_is_upper_bound(class_prior),
    ]
    return tuple(sorted(found, key=lambda finding: finding.severity != "warning"))
