"""Diagnostics: what is doubtful about an evaluation, each finding a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pumonitor.diagnostics.approximation import coarse_table
from pumonitor.diagnostics.auxiliary import auxiliary_left_out
from pumonitor.diagnostics.calibrated_scores import against_calibrated_scores
from pumonitor.diagnostics.decision import one_sided_decision
from pumonitor.diagnostics.effective_rows import few_effective_rows
from pumonitor.diagnostics.few_entities import few_entities
from pumonitor.diagnostics.few_positives import few_positives
from pumonitor.diagnostics.infeasible import infeasible_values
from pumonitor.diagnostics.known_negatives import against_known_negatives
from pumonitor.diagnostics.label_noise import label_noise
from pumonitor.diagnostics.label_sources import different_label_sources
from pumonitor.diagnostics.prior_bound import prior_is_upper_bound
from pumonitor.diagnostics.prior_too_high import prior_too_high
from pumonitor.diagnostics.pure_region import no_pure_region
from pumonitor.diagnostics.ranking import no_ranking
from pumonitor.diagnostics.review_cut import labels_stop_at_a_rank
from pumonitor.diagnostics.reviewed_cases import against_reviewed_cases
from pumonitor.diagnostics.ties import tied_scores
from pumonitor.results import ClassPriorEstimate, Estimate, Finding
from pumonitor.tables import ScoreTable

__all__ = ["diagnose"]


def diagnose(
    table: ScoreTable,
    estimates: Mapping[str, Estimate],
    class_prior: ClassPriorEstimate,
    settings: Mapping[str, Any],
    *,
    label_sources: Mapping[str, NDArray[np.float64]] | None = None,
    prior_table: ScoreTable | None = None,
    reviewed: bool = False,
) -> tuple[Finding, ...]:
    """All findings, warnings before notes.

    Each looks for one thing that can be seen in scores and labels; most ways in which labels can
    be an unfair sample cannot be: labels that favour some positives whatever their score, sources
    all unfair alike, negatives of a kind nobody ever reviews. No warning is no proof. The findings
    that test for significance do so at level 0.001 each; `benchmarks/diagnostics.py` measures how
    often each fires on clean and on spoilt data, `benchmarks/stress` how much of what could be seen
    is, and why the rest cannot be.

    Parameters
    ----------
    table : ScoreTable
    estimates : mapping of str to Estimate
    class_prior : ClassPriorEstimate
    settings : mapping
        Those of `Evaluation.settings`. ``calibrated_scores`` (bool), ``largest_weight_share``
        (float), ``auxiliary_left_out`` (str or None) and ``label_purity_evidence`` (mapping, None
        with an audit) may be missing.
    label_sources : mapping of str to ndarray, optional
        Scores of the labeled rows by where the label came from.
    prior_table : ScoreTable, optional
        The score that the class prior was estimated from, where it is another.
    reviewed : bool
        Whether labels are verdicts of a queue and complaints: what asks whether they are a fair
        sample of the positives is then left out, as they are not, and nobody takes them for one.
    """
    if reviewed:
        found = [
            *infeasible_values(estimates, settings),
            *few_entities(settings),
            *no_ranking(estimates),
            *tied_scores(table),
            *one_sided_decision(estimates, class_prior, settings),
            *coarse_table(table, class_prior, settings),
        ]
    else:
        found = [
            *infeasible_values(estimates, settings),
            *prior_too_high(table, estimates, class_prior, settings),
            *few_positives(estimates, settings),
            *few_effective_rows(table, settings),
            *few_entities(settings),
            *no_ranking(estimates),
            *tied_scores(table),
            *one_sided_decision(estimates, class_prior, settings),
            *against_calibrated_scores(table, class_prior, settings),
            *against_reviewed_cases(table, settings),
            *labels_stop_at_a_rank(table, settings),
            *against_known_negatives(table, estimates, class_prior, settings),
            *different_label_sources(label_sources),
            *label_noise(settings),
            *auxiliary_left_out(settings),
            *coarse_table(table, class_prior, settings),
            *no_pure_region(prior_table or table, class_prior, settings),
            *prior_is_upper_bound(class_prior),
        ]
    return tuple(sorted(found, key=lambda finding: finding.severity != "warning"))
