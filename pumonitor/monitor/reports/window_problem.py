"""What a stored evaluation was computed from: its table, its class prior and its seed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pumonitor.metrics.curves import ThresholdCells, threshold_cells
from pumonitor.metrics.evaluation_estimates import CURVE_CELLS
from pumonitor.metrics.problem import Problem, make_problem
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.windows.evaluation.audited_windows import read_again
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_from_json
from pumonitor.positive_evidence import FairLabels, PositiveEvidence, PositivesByScore
from pumonitor.prior import resolve_class_prior
from pumonitor.results import Target


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WindowProblem:
    """A stored evaluation, ready to be computed from again.

    Attributes
    ----------
    evidence : PositiveEvidence
        What told the positives of the window.
    threshold, top_k, f_beta : float
    """

    evidence: PositiveEvidence
    threshold: float
    top_k: float
    f_beta: float

    @property
    def problem(self) -> Problem:
        """Its table with the class prior that the evaluation took."""
        return self.evidence.problem

    def threshold_cells(self) -> ThresholdCells:
        """What is to be known to read its curves by threshold."""
        cells = threshold_cells(
            self.problem, cells=CURVE_CELLS, thresholds=(self.threshold, *self.evidence.edges)
        )
        if self.evidence.reading is None:
            return cells
        # An audit finds no more positives than rows anywhere.
        return replace(cells, impossible=np.zeros_like(cells.impossible))


def window_problem(found: StoredEvaluation, ledger: LedgerReader) -> WindowProblem | None:
    """Restore it from the ledger; what is computed from it equals what is stored, digit by digit.

    None if the series has no table or no estimates, or if the pane was collected again since, with
    other data.

    Parameters
    ----------
    found : StoredEvaluation
    ledger : LedgerReader
    """
    made_with, settings = found.evaluation.get("made_with"), found.evaluation.get("settings")
    if made_with is None or settings is None:
        return None
    table = next(
        (
            one.table()
            for one in ledger.series(found.window_key, found.number)
            if (one.model_version, one.segment) == (found.model_version, found.segment)
        ),
        None,
    )
    audit = read_again(found.evaluation, table)
    prior = class_prior_from_json(made_with["class_prior"]) if audit is None else audit.class_prior
    if table is None or prior is None:
        return None
    # Those of an audit are about these very rows; all else of it was computed for the process.
    target: Target = settings["target"] if audit is None else "process"
    assumed = resolve_class_prior(
        prior,
        table,
        scenario=settings["scenario"],
        label_purity=settings["label_purity"],
        confidence_level=settings["confidence_level"],
        rng=made_with["seed"],
        target=target,
    )
    problem = make_problem(
        table,
        assumed,
        scenario=settings["scenario"],
        label_purity=settings["label_purity"],
        target=target,
        confidence_level=settings["confidence_level"],
        rng=made_with["seed"],
    )
    if not _is_of(problem, found):
        return None
    evidence: PositiveEvidence = (
        FairLabels(problem=problem, prior=assumed)
        if audit is None
        else PositivesByScore(problem=problem, reading=audit)
    )
    return WindowProblem(
        evidence=evidence,
        threshold=settings["threshold"],
        top_k=settings["top_k"],
        f_beta=settings["f_beta"],
    )


def _is_of(problem: Problem, found: StoredEvaluation) -> bool:
    """Whether the table is the one that was evaluated: a pane may have been collected again."""
    settings, table = found.evaluation["settings"], problem.table
    if (settings["n_labeled"], settings["n_unlabeled"]) != (table.n_labeled, table.n_unlabeled):
        return False
    flagged = problem.population_above[table.index_of_threshold(settings["threshold"])]
    stored = found.evaluation["estimates"]["predicted_positive_rate"]["value"]
    return stored is not None and float(flagged) == stored
