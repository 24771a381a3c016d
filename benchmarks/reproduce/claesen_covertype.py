"""Claesen et al., figure 5: bounds beside the true ROC curve of covertype."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.reproduce.data import load
from benchmarks.reproduce.rows import Figure, Report, RowResult, generator, monte_carlo_error
from pumonitor import metrics
from pumonitor.metrics.contingency_bounds import ContingencyBounds

__all__ = ["figure_5"]

FloatArray = NDArray[np.float64]


def _covertype_scores(repetition: int) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Held-out scores of a boosted-tree model, as many positives as negatives."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    found = load("covertype_16pct")
    positive = found.target == 2
    rng = generator("claesen-figure5", repetition)
    rows = rng.permutation(len(positive))
    train, rest = rows[:4000], rows[4000:]
    model = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, random_state=repetition)
    model.fit(found.features[train], positive[train])
    test = np.concatenate([rest[positive[rest]][:20_000], rest[~positive[rest]][:20_000]])
    return model.decision_function(found.features[test]), positive[test]


def figure_5(repetitions: int, report: Report) -> RowResult:
    """1,000 known of 20,000 positives; how often the truth lies inside."""
    inside, areas, precisions = [], [], []
    curves: list[dict[str, Any]] = []
    for run in range(repetitions):
        scores, positive = _covertype_scores(run)
        rng = generator("claesen-figure5", run, purpose="labels")
        known = rng.choice(np.flatnonzero(positive), 1000, replace=False)
        labels = np.zeros(len(scores), dtype=int)
        labels[known] = 1
        hidden = (positive.sum() - 1000) / (len(scores) - 1000)
        found = metrics.bounds(labels, scores, class_prior=float(positive.mean()), band="bootstrap")
        area, precision = found.auc(), found.average_precision()
        areas.append(area.low <= roc_auc_score(positive, scores) <= area.high)
        precisions.append(
            precision.low <= average_precision_score(positive, scores) <= precision.high
        )
        roc = found.roc()
        negatives = np.sort(scores[~positive])
        cuts = np.quantile(negatives, 1 - roc.x)
        recall = np.array([np.mean(scores[positive] >= cut) for cut in cuts])
        inside.append(float(np.mean((roc.low - 0.005 <= recall) & (recall <= roc.high + 0.005))))
        if run == 0:
            curves = _curves_of(found, labels, scores, recall, hidden)
        report(run + 1, repetitions)
    return RowResult(
        figures=(
            Figure(
                name="share of the true ROC curve inside its bounds",
                ours=float(np.mean(inside)),
                error=monte_carlo_error(inside),
                printed=0.95,
                rule="at least",
            ),
            *(
                Figure(
                    name=f"bounds hold {name}",
                    ours=float(np.mean(values)),
                    error=float(np.sqrt(0.05 * 0.95 / repetitions)),
                    printed=0.95,
                    rule="at least",
                )
                for name, values in (("AUROC", areas), ("average precision", precisions))
            ),
        ),
        note=(
            "1,000 known of 20,000 positives, 20,000 negatives as in the paper; the model is a "
            "boosted-tree one (their PU-trained support vector machine is not available)."
        ),
        series={"curves": curves},
    )


def _curves_of(
    found: ContingencyBounds,
    labels: NDArray[np.int_],
    scores: FloatArray,
    recall: FloatArray,
    hidden: float,
) -> list[dict[str, Any]]:
    """ROC bounds with the right prior, with none, with an interval, and the truth."""
    rows = []
    priors = {
        "right": found,
        "0.88 to 1.25 of it": metrics.bounds(
            labels,
            scores,
            class_prior=tuple(  # type: ignore[arg-type]
                (1000 + factor * hidden * 39_000) / 40_000 for factor in (0.88, 1.25)
            ),
            band="bootstrap",
        ),
        "none": metrics.bounds(labels, scores, class_prior=0.025 + 1e-9, band="bootstrap"),
    }
    for name, bounds in priors.items():
        roc = bounds.roc()
        rows += [
            {"x": x, "low": low, "high": high, "prior": name, "truth": truth}
            for x, low, high, truth in zip(
                roc.x[::2], roc.low[::2], roc.high[::2], recall[::2], strict=True
            )
        ]
    return rows
