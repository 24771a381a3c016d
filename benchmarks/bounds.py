"""How often Claesen bounds hold the truth, how wide and how fast: `python -m benchmarks.bounds`.

Beside them is the published construction (rank by rank, bootstrap of the rank distribution), here
written anew as the paper describes it, on the same samples.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from pumonitor import ScoreTable
from pumonitor.metrics.bounds import bounds_of_table
from pumonitor.results import ClassPriorEstimate
from pumonitor.stats.distribution_bands import BANDS

FloatArray = NDArray[np.float64]

DESIGNS = (
    (100, 100_000, 0.2),
    (1000, 100_000, 0.2),
    (20, 2000, 0.1),
    (1000, 1500, 0.3),
    (1000, 2000, 0.05),
)


def published_auroc(
    labels: NDArray[np.int_],
    scores: FloatArray,
    *,
    unlabeled_prior: float,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Lower and upper AUROC by equations 10-13 at the ranks of the known positives."""
    ranked = labels[np.argsort(-scores, kind="stable")] == 1
    known, unlabeled = int(ranked.sum()), int((~ranked).sum())
    head = np.cumsum(~ranked)[ranked]
    counts = rng.multinomial(known, np.full(known, 1 / known), size=resamples)
    share = np.sort(np.cumsum(counts, axis=1) / known, axis=0)
    tail = int(resamples * 0.025)
    hidden = int(unlabeled_prior * unlabeled)
    areas = []
    for band, rounded in ((share[tail], np.floor), (share[-tail - 1], np.ceil)):
        surrogates = np.clip(rounded(band * hidden), hidden - (unlabeled - head), head)
        recall = (np.arange(1, known + 1) + surrogates) / (known + hidden)
        false_positive_rate = (head - surrogates) / (unlabeled - hidden)
        areas.append(
            float(
                np.trapezoid(
                    np.concatenate([[0.0], recall, [1.0]]),
                    np.concatenate([[0.0], false_positive_rate, [1.0]]),
                )
            )
        )
    return areas[0], areas[1]


def coverage(n_labeled: int, n_unlabeled: int, prior: float, *, auc: float, runs: int) -> None:
    """Print the share of samples whose bounds hold the truth, and the mean width."""
    hidden = int(prior * n_unlabeled)
    separation = stats.norm.ppf(auc) * np.sqrt(2)
    positive = np.arange(n_labeled + n_unlabeled) < n_labeled + hidden
    labels = (np.arange(len(positive)) < n_labeled).astype(int)
    found: dict[str, list[tuple[bool, float]]] = {}
    for run in range(runs):
        rng = np.random.default_rng([n_labeled, n_unlabeled, run])
        scores = rng.normal(separation * positive)
        truth = float(roc_auc_score(positive, scores))
        precision = float(average_precision_score(positive, scores))
        table = ScoreTable.from_arrays(labels, scores, density_edges=0)
        given = ClassPriorEstimate.given(float(positive.mean()))
        low, high = published_auroc(labels, scores, unlabeled_prior=prior, resamples=500, rng=rng)
        found.setdefault("published", []).append((low <= truth <= high, high - low))
        for band in BANDS:
            bounds = bounds_of_table(table, given, band=band, rng=run)
            for bound, value in ((bounds.auc(), truth), (bounds.average_precision(), precision)):
                key = band if bound.name == "auc" else f"{band}, average precision"
                found.setdefault(key, []).append(
                    (bound.low <= value <= bound.high, bound.high - bound.low)
                )
    print(f"{n_labeled} known, {n_unlabeled} unlabeled, {prior:g} of them positive, AUC {auc:g}")
    for key, held in found.items():
        share, width = np.mean(held, axis=0)
        print(f"    {key:45} holds {share:.3f}   width {width:.4f}", flush=True)


def speed(rows: int) -> None:
    """Print the time of table, bounds on areas and both curves."""
    rng = np.random.default_rng(0)
    positive = rng.random(rows) < 0.1
    labels = (positive & (rng.random(rows) < 0.5)).astype(np.int8)
    scores = rng.normal(1.5 * positive)
    times = []
    for _ in range(5):
        started = time.perf_counter()
        table = ScoreTable.from_arrays(labels, scores, density_edges=0)
        bounds = bounds_of_table(table, ClassPriorEstimate.given(0.1))
        bounds.auc()
        bounds.average_precision()
        bounds.roc()
        bounds.precision_recall()
        times.append(time.perf_counter() - started)
    print(f"{rows:>12,} rows: {min(times):.3f} s (median {np.median(times):.3f} s)", flush=True)


def main() -> None:
    """Print coverage and widths, then times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="samples per design")
    arguments = parser.parse_args()
    for n_labeled, n_unlabeled, prior in DESIGNS:
        for auc in (0.76, 0.92):
            coverage(n_labeled, n_unlabeled, prior, auc=auc, runs=arguments.runs)
    print("\nfrom rows to bounds on both areas and both curves")
    for rows in (64_000, 1_000_000, 10_000_000):
        speed(rows)


if __name__ == "__main__":
    main()
