"""Claesen et al. (2015): bounds on AUROC, what they cover, what known rows and the prior do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import roc_auc_score

from benchmarks.bounds import published_auroc
from benchmarks.reproduce import claesen_charts
from benchmarks.reproduce.claesen_covertype import figure_5
from benchmarks.reproduce.claesen_known_rows import tables
from benchmarks.reproduce.rows import (
    Figure,
    Report,
    Row,
    RowResult,
    generator,
    monte_carlo_error,
)
from pumonitor import ScoreTable, metrics
from pumonitor.metrics.bounds import bounds_of_table
from pumonitor.results import ClassPriorEstimate

__all__ = ["ROWS"]

FloatArray = NDArray[np.float64]

_UNLABELED, _PRIOR, _AUC = 100_000, 0.2, 0.85
_SIZES = (20, 50, 100, 200, 500, 1000, 2000)


def _sample(
    row: str, repetition: int, n_labeled: int, *, unlabeled: int = _UNLABELED, prior: float = _PRIOR
) -> tuple[NDArray[np.int_], FloatArray, NDArray[np.bool_]]:
    """Labels, scores and true classes: known positives first, normal scores."""
    rng = generator(row, repetition, purpose=str(n_labeled))
    positive = np.arange(n_labeled + unlabeled) < n_labeled + int(prior * unlabeled)
    labels = (np.arange(len(positive)) < n_labeled).astype(int)
    separation = float(stats.norm.ppf(_AUC) * np.sqrt(2))
    return labels, rng.normal(separation * positive), positive


def _figure_2(repetitions: int, report: Report) -> RowResult:
    row = "claesen-figure2"
    held: dict[int, list[bool]] = {size: [] for size in _SIZES}
    safe: dict[int, list[bool]] = {size: [] for size in _SIZES}
    ends: dict[int, list[tuple[float, float]]] = {size: [] for size in _SIZES}
    ratios: dict[int, list[float]] = {100: [], 1000: []}
    for run in range(repetitions):
        for size in _SIZES:
            labels, scores, positive = _sample(row, run, size)
            truth = float(roc_auc_score(positive, scores))
            table = ScoreTable.from_arrays(labels, scores, density_edges=0)
            given = ClassPriorEstimate.given(float(positive.mean()))
            found = bounds_of_table(table, given, band="bootstrap").auc()
            exact = bounds_of_table(table, given, band="exact").auc()
            held[size].append(found.low <= truth <= found.high)
            safe[size].append(exact.low <= truth <= exact.high)
            ends[size].append((found.low, found.high))
            if size in ratios:
                rng = generator(row, run, purpose=f"resamples {size}")
                low, high = published_auroc(
                    labels, scores, unlabeled_prior=_PRIOR, resamples=2000, rng=rng
                )
                ratios[size].append((found.high - found.low) / (high - low))
        report(run + 1, repetitions)
    figures = []
    for size in (100, 1000):
        coverage = float(np.mean(held[size]))
        figures += [
            Figure(
                name=f"bounds hold AUROC, {size} known positives",
                ours=coverage,
                error=float(np.sqrt(max(coverage * (1 - coverage), 0.0) / repetitions)),
                printed=0.95,
                rule="at least",
                why="level of the band",
            ),
            Figure(
                name=f"width over that of the published construction, {size} known positives",
                ours=float(np.mean(ratios[size])),
                error=monte_carlo_error(ratios[size]),
                printed=1.0,
                rule="at most",
                why="both on the same samples; the published one with 2,000 resamples",
            ),
        ]
    worst = min(_SIZES, key=lambda size: np.mean(safe[size]))
    figures.append(
        Figure(
            name=f"bounds with the exact band hold AUROC, worst size ({worst} known)",
            ours=float(np.mean(safe[worst])),
            error=float(np.sqrt(0.05 * 0.95 / repetitions)),
            printed=0.95,
            rule="at least",
            why="the default of this library, from 20 known positives up",
        )
    )
    return RowResult(
        figures=tuple(figures),
        note=(
            "AUROC of the rows themselves, two normal score densities (AUC .85), 100,000 unlabeled "
            "rows of which 20% are positive."
        ),
        series={
            "truth": _AUC,
            "points": [
                {
                    "known": size,
                    "low": float(np.mean([low for low, _ in ends[size]])),
                    "high": float(np.mean([high for _, high in ends[size]])),
                }
                for size in _SIZES
            ],
        },
    )


def _figure_3(repetitions: int, report: Report) -> RowResult:
    row = "claesen-figure3"
    labels, scores, positive = _sample(row, 0, 2000, prior=0.3)
    truth = float(roc_auc_score(positive, scores))
    curves, areas = [], {}
    for assumed in (0.0, 0.15, 0.3, 0.45):
        prior = (2000 + assumed * _UNLABELED) / len(labels) + 1e-9
        found = metrics.bounds(labels, scores, class_prior=prior, band="bootstrap")
        areas[assumed] = found.auc()
        roc = found.roc()
        curves += [
            {"x": x, "low": low, "high": high, "assumed": f"{assumed:g}"}
            for x, low, high in zip(roc.x[::4], roc.low[::4], roc.high[::4], strict=True)
        ]
    report(repetitions, repetitions)
    figures = (
        Figure(
            name="upper bound on AUROC with .15 assumed where .30 is true",
            ours=areas[0.15].high,
            error=0.0,
            printed=truth,
            rule="at most",
            why="lemma 4: too small a prior understates; the printed column is the true AUROC",
        ),
        Figure(
            name="lower bound with .30 assumed",
            ours=areas[0.3].low,
            error=0.0,
            printed=truth,
            rule="at most",
        ),
        Figure(
            name="upper bound with .30 assumed",
            ours=areas[0.3].high,
            error=0.0,
            printed=truth,
            rule="at least",
        ),
        Figure(
            name="lower bound with .45 assumed",
            ours=areas[0.45].low,
            error=0.0,
            printed=truth,
            rule="at least",
            why="lemma 4: too large a prior overstates",
        ),
    )
    return RowResult(figures=figures, series={"curves": curves})


def _figure_4(repetitions: int, report: Report) -> RowResult:
    rng = generator("claesen-figure4", 0)
    known, unlabeled = 5000, 45_000
    labels = np.r_[np.ones(known, int), np.zeros(unlabeled, int)]
    others = rng.random(unlabeled)
    steep = np.where(
        rng.random(known) < 0.325, rng.uniform(0.999, 1, known), rng.random(known) ** 0.75
    )
    even = rng.beta(2.35, 1, known)
    points = []
    for assumed in (0.0, 0.05, 0.1, 0.15, 0.2, 0.25):
        prior = (known + assumed * unlabeled) / len(labels) + 1e-9
        for name, own in (("steep at the top", steep), ("even", even)):
            found = metrics.bounds(
                labels, np.r_[own, others], class_prior=prior, band="bootstrap"
            ).auc()
            points.append(
                {"assumed": assumed, "model": name, "auc": 0.5 * (found.low + found.high)}
            )
    report(repetitions, repetitions)
    lead = {
        assumed: points[2 * i]["auc"] - points[2 * i + 1]["auc"]
        for i, assumed in enumerate((0.0, 0.05, 0.1, 0.15, 0.2, 0.25))
    }
    return RowResult(
        figures=(
            Figure(
                name="lead of the steep model in AUROC, no positives assumed in U",
                ours=lead[0.0],
                error=0.0,
                printed=0.0,
                rule="at least",
            ),
            Figure(
                name="its lead with a share of .25 assumed",
                ours=lead[0.25],
                error=0.0,
                printed=0.0,
                rule="at most",
                why="the order has swapped",
            ),
        ),
        note=(
            "The paper prints 72.5 against 73.2 at 0 and 75.5 against 74.7 at .1. With the rank "
            "distribution T of the positives held fixed, AUROC = (integral of T - pi / 2) / "
            "(1 - pi) and the precision at every rank is pi T / theta, so both areas keep their "
            "order at every prior: a swap needs the corner cases of equation 11, a prior that "
            "leaves no room for the hidden positives where one of the rankings puts them. That is "
            "what is drawn here: a third of the known positives above nearly all other rows."
        ),
        series={"points": points},
    )


ROWS: tuple[Row, ...] = (
    Row(
        id="claesen-figure2",
        paper="claesen",
        title="Figure 2: bounds on AUROC against the number of known positives",
        data=(),
        run=_figure_2,
        repetitions=200,
        quick=6,
        draw=claesen_charts.known_positives,
        caption="Mean bounds; the dashed line is the AUC of the process.",
    ),
    Row(
        id="claesen-figure3",
        paper="claesen",
        title="Figure 3: the assumed share of positives moves the ROC curve",
        data=(),
        run=_figure_3,
        repetitions=1,
        quick=1,
        draw=claesen_charts.assumed_shares,
        caption="2,000 known positives, 100,000 unlabeled rows, 30% of them positive.",
    ),
    Row(
        id="claesen-figure4",
        paper="claesen",
        title="Figure 4: two models swap as the assumed share of positives changes",
        data=(),
        run=_figure_4,
        repetitions=1,
        quick=1,
        draw=claesen_charts.swapping_models,
        caption="5,000 known positives, 45,000 unlabeled rows.",
    ),
    Row(
        id="claesen-figure5",
        paper="claesen",
        title="Figure 5: covertype, bounds beside the true ROC curve",
        data=("covertype_16pct",),
        run=figure_5,
        repetitions=40,
        quick=2,
        draw=claesen_charts.covertype,
        caption="Bounds for three assumptions about the prior; dashed: the true curve.",
    ),
    Row(
        id="claesen-tables",
        paper="claesen",
        title="Tables 1 and 2: known positives against known negatives",
        data=(),
        run=tables,
        repetitions=50,
        quick=3,
        draw=claesen_charts.known_rows,
        caption="From known positives alone (table 1).",
    ),
)
