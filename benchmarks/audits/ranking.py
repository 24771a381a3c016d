"""What intervals of an audit cover beyond its threshold: the ranking, the best F1, curves."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from benchmarks.audits.rows import Extent, Row
from benchmarks.audits.windows import Cell, Window, audited, designed, window
from pumonitor.audit.estimation import estimate_audit
from pumonitor.audit.posterior import AuditPosterior
from pumonitor.audited_curves import audited_curves, audited_estimates
from pumonitor.metrics.f_beta import F1
from pumonitor.metrics.problem import make_problem
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

__all__ = ["ranking"]

_TOP = 0.1
_NAMES = ("average_precision", "f1_max", "precision_at_k", "recall_at_k")


def ranking(extent: Extent) -> Iterator[Row]:
    """9: average precision, best F1, the top 10%, F1 by threshold: labels fair, and not."""
    for name, favoured in itertools.product(extent.sets, (1.0, 3.0)):
        cell = Cell(name=name, favoured=favoured)
        runs = max(extent.runs // 5, 2)
        held: dict[str, list[float]] = {}
        off: dict[str, list[float]] = {}
        for run in range(runs):
            rng = np.random.default_rng([run, 9])
            rows = window(cell, rng)
            counts = audited(designed(cell, rows), rows, rng)
            for metric, low, value, high, true in _one(rows, estimate_audit(counts)):
                held.setdefault(metric, []).append(float(low <= true <= high))
                off.setdefault(metric, []).append(value - true)
        covered = ", ".join(f"{one} {100 * np.mean(held[one]):.0f}" for one in held)
        bias = ", ".join(f"{one} {np.mean(off[one]):+.3f}" for one in _NAMES)
        yield Row(
            what=f"{cell}, high scores confirmed {favoured:g} times as often ({runs} runs)",
            measured=f"covered {covered}; off by {bias}",
            claimed="93 to 97% each",
        )


def _one(
    rows: Window, posterior: AuditPosterior
) -> Iterator[tuple[str, float, float, float, float]]:
    """Name, low, value, high and the truth of each; of a curve the shares of its points."""
    edges = (rows.threshold, *posterior.counts.bins.edges.tolist())
    table = ScoreTable.from_arrays(rows.confirmed, rows.score, thresholds=edges)
    prior = float(np.median(posterior.metrics()["class_prior"]))
    problem = make_problem(table, ClassPriorEstimate.given(prior), target="window")
    found = audited_estimates(problem, posterior, threshold=rows.threshold, top_k=_TOP)
    truth = _truth(rows)
    for name in _NAMES:
        one = found[name]
        yield name, one.low, one.value, one.high, truth[name]
    curve = audited_curves(problem, posterior, threshold=rows.threshold, metrics=(F1,))[
        "f1_by_threshold"
    ]
    # At the scores that flag from a twentieth to a fifth of the rows.
    for share in (0.02, 0.05, 0.1, 0.2):
        at = int(np.argmin(np.abs(curve.x - np.quantile(rows.score, 1 - share))))
        flagged = rows.score >= curve.x[at]
        true = 2 * (flagged & rows.positive).sum() / (flagged.sum() + rows.positive.sum())
        yield "f1_by_threshold", curve.low[at], curve.y[at], curve.high[at], float(true)


def _truth(rows: Window) -> dict[str, float]:
    """Of the window's own rows."""
    from sklearn.metrics import average_precision_score

    positive = rows.positive[::-1]
    flagged, found = np.arange(1, len(positive) + 1), np.cumsum(positive)
    # A threshold takes all rows of one score or none.
    last = np.append(rows.score[::-1][1:] != rows.score[::-1][:-1], True)
    top = round(_TOP * len(positive))
    return {
        "average_precision": float(average_precision_score(rows.positive, rows.score)),
        "f1_max": float((2 * found / (flagged + found[-1]))[last].max()),
        "precision_at_k": found[top - 1] / top,
        "recall_at_k": found[top - 1] / found[-1],
    }
