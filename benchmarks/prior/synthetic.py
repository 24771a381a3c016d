"""Two normals: error of every estimator; coverage of `auto` with few labels, and few positives.

Labeled rows from N(1, 1); unlabeled ones positive with probability a, and negatives from N(-1, 1).
With few positives the normals lie as far apart as the AUC says.
Errors are from a itself, not from the share of positives that happened to be drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

import numpy as np
import pandas as pd
from scipy import special

from benchmarks.prior.elsewhere import MEASURED_ELSEWHERE, Elsewhere
from benchmarks.prior.runs import RUNNABLE, Sample, run, summary, with_median
from benchmarks.prior.tables import FigureTable, watched

__all__ = ["PRIORS", "accuracy", "coverage", "normal_sample", "synthetic_tables"]

PRIORS: Final = (0.05, 0.1, 0.3, 0.5)
LABELED: Final = (30, 100, 300, 1000)
RARE: Final = (0.002, 0.005, 0.01, 0.02, 0.05)
_UNLABELED: Final = 10_000


def normal_sample(
    prior: float,
    seed: int,
    *,
    labeled: int = 1000,
    unlabeled: int = _UNLABELED,
    distance: float = 2.0,
) -> Sample:
    """A draw of normals `distance` apart, with the true P(labeled) of each row."""
    rng = np.random.default_rng([seed, int(1000 * prior)])
    labels = np.repeat(np.array([1, 0], dtype=np.int8), [labeled, unlabeled])
    is_positive = np.concatenate([np.ones(labeled, dtype=bool), rng.random(unlabeled) < prior])
    scores = rng.normal(distance * is_positive - 0.5 * distance)
    # Density of negatives over that of positives: exp(-distance score).
    mixture_ratio = prior + (1 - prior) * np.exp(-distance * scores)
    odds = labeled / (unlabeled * mixture_ratio)
    return Sample(
        labels=labels,
        scores=scores,
        unlabeled_prior=prior,
        probabilities=special.expit(np.log(odds)),
    )


def accuracy(seeds: int, methods: Sequence[str] = RUNNABLE) -> FigureTable:
    """Every method on 1000 labeled and 10 000 unlabeled rows."""
    rows, with_interval = [], []
    for prior, seed in watched(list(product(PRIORS, range(seeds))), "two normals"):
        sample = normal_sample(prior, seed)
        rows += with_median(run(method, sample) for method in methods)
        if seed == 0:
            with_interval += [run(method, sample, interval=True) for method in methods]
    frame = summary(pd.DataFrame(rows)).drop(columns="p95")
    seconds = summary(pd.DataFrame(with_interval)).set_index("method")["seconds"]
    frame.insert(4, "with interval seconds", frame["method"].map(seconds))
    known = [MEASURED_ELSEWHERE.get(method, Elsewhere()) for method in frame["method"]]
    frame["elsewhere MAE"] = [figures.synthetic for figures in known]
    frame["elsewhere seconds"] = [figures.seconds for figures in known]
    return FigureTable(
        title=f"Two normals, 1000 labeled, 10 000 unlabeled, priors {_listed(PRIORS)}, "
        f"{seeds} seeds",
        frame=frame.sort_values("MAE", ignore_index=True),
        notes=(
            "Seconds are from the arrays to the value, medians; of auto they hold its interval.",
            "elkan_noto* read the true P(labeled). Elsewhere: measured elsewhere, not in this run.",
        ),
    )


def coverage(
    seeds: int, labeled: Sequence[int] = LABELED, priors: Sequence[float] = PRIORS
) -> FigureTable:
    """The share of the 95% intervals of `auto` that hold the prior, and their median width."""
    rows = []
    for n_labeled, prior in watched(list(product(labeled, priors)), "intervals of auto"):
        runs = pd.DataFrame(
            [run("auto", normal_sample(prior, seed, labeled=n_labeled)) for seed in range(seeds)]
        )
        rows.append(
            {
                "labeled": n_labeled,
                "prior": prior,
                "coverage": float(runs["held"].mean()),
                "width": float(runs["width"].median()),
                "MAE": float(runs["error"].abs().mean()),
                "bias": float(runs["error"].mean()),
            }
        )
    frame = pd.DataFrame(rows)
    least = frame.iloc[int(frame["coverage"].argmin())]
    error = math.sqrt(0.95 * 0.05 / seeds)
    return FigureTable(
        title=f"95% intervals of auto on two normals, 10 000 unlabeled, {seeds} seeds per cell",
        frame=frame,
        notes=(
            f"Overall {frame['coverage'].mean():.3f}; least {least['coverage']:.3f}, at "
            f"{least['labeled']:.0f} labeled and a prior of {least['prior']:g}.",
            f"The standard error of a coverage of .95 is {error:.3f} here. Widths are medians.",
        ),
    )


def rare_positives(
    seeds: int, priors: Sequence[float] = RARE, aucs: Sequence[float] = (0.75, 0.85, 0.95)
) -> FigureTable:
    """Intervals of `auto` where positives are rare, by how weak the scores are."""
    rows = []
    for prior, auc in watched(list(product(priors, aucs)), "rare positives"):
        distance = math.sqrt(2) * float(special.ndtri(auc))
        runs = pd.DataFrame(
            [
                run(
                    "auto",
                    normal_sample(prior, seed, labeled=100, unlabeled=20_000, distance=distance),
                )
                for seed in range(seeds)
            ]
        )
        rows.append(
            {
                "prior": prior,
                "AUC": auc,
                "estimate": prior + float(runs["error"].median()),
                "coverage": float(runs["held"].mean()),
                "width": float(runs["width"].median()),
            }
        )
    return FigureTable(
        title="Rare positives: 95% intervals of auto, 100 labeled, 20 000 unlabeled, "
        f"{seeds} seeds per cell",
        frame=pd.DataFrame(rows),
        notes=("Estimates and widths are medians.",),
    )


def synthetic_tables(
    *, seeds: int, coverage_seeds: int, methods: Sequence[str] = RUNNABLE
) -> Iterator[FigureTable]:
    """The tables, each as soon as it is there."""
    yield accuracy(seeds, methods)
    if "auto" in methods:
        yield coverage(coverage_seeds)
        yield rare_positives(coverage_seeds)


def _listed(priors: Sequence[float]) -> str:
    return ", ".join(f"{prior:g}" for prior in priors)
