"""Evaluate one window again from its stored table, and make its page and its numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pumonitor.audit.estimates import EstimatesByBin
from pumonitor.evaluation import evaluate_table
from pumonitor.report.history_chart import HistoryPoint
from pumonitor.report.html import render_html
from pumonitor.report.prior_chart import PriorHistory
from pumonitor.results import ClassPriorEstimate, Evaluation, Finding
from pumonitor.tables import ScoreTable


def window_evaluation(
    table: ScoreTable,
    class_prior: ClassPriorEstimate | None,
    *,
    threshold: float,
    audit: EstimatesByBin | None = None,
    **settings: Any,
) -> Evaluation:
    """Evaluate a window's table again; the same arguments give the same numbers.

    Parameters
    ----------
    table : ScoreTable
        The window's, or a compressed one with an edge at the threshold.
    class_prior : ClassPriorEstimate or None
        The one the window was evaluated with, for instance followed from earlier windows; that of
        the audit goes before it.
    threshold : float
    audit : EstimatesByBin, optional
    **settings
        Further keywords of `pumonitor.evaluate_table`.

    Raises
    ------
    InputError
        If the table cannot be evaluated.
    """
    given = "auto" if audit is not None or class_prior is None else class_prior
    return evaluate_table(table, threshold=threshold, class_prior=given, audit=audit, **settings)


def window_files(
    table: ScoreTable,
    class_prior: ClassPriorEstimate | None,
    *,
    threshold: float,
    title: str,
    context: Mapping[str, str] | None = None,
    findings: Sequence[Finding] = (),
    history: Mapping[str, Sequence[HistoryPoint]] | None = None,
    prior_history: PriorHistory | None = None,
    **settings: Any,
) -> dict[str, str]:
    """`report.html` and `evaluation.json` of a window, as MLflow is sent them.

    `findings` come from other windows and are added to those of the evaluation. `history` and
    `prior_history` are of the windows up to this one. `title` and `context` are shown on the page.
    Other parameters are those of `window_evaluation`.

    Examples
    --------
    >>> import pumonitor
    >>> table = ScoreTable.from_counts([2, 10, 28], [700, 250, 50], edges=[0.0, 0.2, 0.8, 1.0])
    >>> prior = pumonitor.evaluate_table(table, threshold=0.8, class_prior=0.06).class_prior
    >>> files = window_files(table, prior, threshold=0.8, title="Card fraud",
    ...                      context={"Window": "1 January 2026"})
    >>> "Card fraud" in files["report.html"]
    True
    """
    evaluation = window_evaluation(table, class_prior, threshold=threshold, **settings)
    own = {one.name for one in evaluation.warnings}
    more = (one for one in findings if one.name not in own)
    evaluation = replace(evaluation, warnings=(*evaluation.warnings, *more))
    return {
        "report.html": render_html(
            evaluation,
            title=title,
            context=context,
            history=history,
            prior_history=prior_history,
        ),
        "evaluation.json": _in_lines(evaluation.to_dict()),
    }


def _in_lines(plain: Mapping[str, Any]) -> str:
    """JSON with a line for each part; one for each number takes ten times as long to write."""
    parts = (
        f"{json.dumps(name)}: {json.dumps(part, allow_nan=False)}" for name, part in plain.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"
