"""How often nominal 95% intervals hold the truth: `python -m benchmarks.coverage`.

The class prior is given (the window's own for the window target); with `--prior-spread` it is off
by a normal error of that standard deviation on the logit scale, and its interval says so. Every
cell of the grid is printed, then the mean and the lowest of all cells by number of labeled
positives; the last lines name the cells outside the bounds that intervals are held to: 92.5% to
98%, and 90% to 99% at 20 labeled positives, allowing two Monte-Carlo standard errors.
"""

from __future__ import annotations

import argparse
import itertools
import math
import zlib

import numpy as np
from scipy import special, stats

from benchmarks.simulation import Design, process_truth, simulate, window_truth
from pumonitor.metrics import THRESHOLD_METRICS
from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.average_precision import average_precision_estimate
from pumonitor.metrics.ll_score import LL_SCORE
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.rates import at_threshold
from pumonitor.results import ClassPriorEstimate, Estimate, Target
from pumonitor.tables import ScoreTable

AT_THRESHOLD = tuple(metric for metric in THRESHOLD_METRICS if metric is not LL_SCORE)
METRICS = ("aul", "auc", "average_precision", *(metric.name for metric in AT_THRESHOLD))


def estimates_of(
    design: Design, target: Target, rng: np.random.Generator, *, prior_spread: float = 0.0
) -> tuple[dict[str, Estimate], dict[str, float]]:
    """Estimates from one simulated window, and the truth they are for."""
    window = simulate(design, rng)
    while np.count_nonzero(window.labels == 1) < 2:
        window = simulate(design, rng)
    prior, truth = design.class_prior, None
    if target == "window":
        prior = float(window.is_positive[window.population].mean())
        truth = window_truth(design, window)
    table = ScoreTable.from_arrays(
        window.labels, window.scores, thresholds=(design.threshold,), density_edges=0
    )
    problem = make_problem(
        table,
        _given(prior, prior_spread, rng),
        scenario=design.scenario,
        label_purity=design.label_purity,
        target=target,
        rng=int(rng.integers(2**31)),
    )
    lift = observed_lift(problem)
    at = at_threshold(problem, design.threshold)
    found = [
        aul_estimate(problem, lift),
        auc_estimate(problem, lift),
        average_precision_estimate(problem),
        *(metric.estimate(at) for metric in AT_THRESHOLD),
    ]
    return {estimate.name: estimate for estimate in found}, truth or process_truth(design)


def _given(prior: float, spread: float, rng: np.random.Generator) -> ClassPriorEstimate:
    """The true prior, or one that is off by as much as its interval says."""
    if spread == 0:
        return ClassPriorEstimate.given(prior)
    middle = special.logit(prior) + spread * rng.standard_normal()
    reach = stats.norm.ppf(0.975) * spread
    value, low, high = special.expit([middle, middle - reach, middle + reach]).tolist()
    return ClassPriorEstimate.given((value, low, high))


def coverage(
    design: Design, target: Target, *, runs: int, seed: int = 0, prior_spread: float = 0.0
) -> dict[str, float]:
    """Share of runs whose interval holds the truth, per metric."""
    key = zlib.crc32(repr((design, target)).encode())
    held = dict.fromkeys(METRICS, 0)
    for run in range(runs):
        rng = np.random.default_rng([seed, key, run])
        estimates, truth = estimates_of(design, target, rng, prior_spread=prior_spread)
        for name in METRICS:
            estimate = estimates[name]
            held[name] += estimate.low - 1e-12 <= truth[name] <= estimate.high + 1e-12
    return {name: count / runs for name, count in held.items()}


def bounds(n_labeled: int, runs: int) -> tuple[float, float]:
    """What coverage is held to, with two Monte-Carlo standard errors."""
    low, high = (0.90, 0.99) if n_labeled <= 20 else (0.925, 0.98)
    slack = 2 * math.sqrt(0.95 * 0.05 / runs)
    return low - slack, min(high + slack, 1.0)


def main() -> None:
    """Print the grid."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400, help="simulated windows per cell")
    parser.add_argument("--labeled", type=int, nargs="*", default=[20, 50, 200, 1000])
    parser.add_argument("--auc", type=float, nargs="*", default=[0.7, 0.9])
    parser.add_argument("--prior", type=float, nargs="*", default=[0.02, 0.1, 0.3])
    parser.add_argument("--frequency", type=float, nargs="*", default=[0.3], help="of labels, c")
    parser.add_argument("--prior-spread", type=float, nargs="*", default=[0.0])
    parser.add_argument("--target", nargs="*", default=["process", "window"])
    parser.add_argument("--scenario", nargs="*", default=["single-training-set", "case-control"])
    parser.add_argument("--purity", type=float, default=1.0, help="label purity b")
    parser.add_argument("--decimals", type=int, default=None, help="round scores: ties")
    arguments = parser.parse_args()
    outside = []
    by_labeled: dict[int, list[float]] = {}
    print(f"{arguments.runs} runs a cell")
    print(
        "scenario             target   n_L    pi  auc    c spread  "
        + " ".join(f"{n[:9]:>9}" for n in METRICS)
    )
    grid = itertools.product(
        arguments.scenario,
        arguments.target,
        arguments.labeled,
        arguments.prior,
        arguments.auc,
        arguments.frequency,
        arguments.prior_spread,
    )
    for scenario, target, n_labeled, class_prior, auc, frequency, spread in grid:
        design = Design(
            scenario=scenario,
            n_labeled=n_labeled,
            class_prior=class_prior,
            auc=auc,
            label_frequency=frequency,
            label_purity=arguments.purity,
            decimals=arguments.decimals,
        )
        held = coverage(design, target, runs=arguments.runs, prior_spread=spread)
        by_labeled.setdefault(n_labeled, []).extend(held.values())
        low, high = bounds(n_labeled, arguments.runs)
        row = " ".join(f"{held[n]:>8.3f}{' ' if low <= held[n] <= high else '*'}" for n in METRICS)
        print(
            f"{scenario:20} {target:8} {n_labeled:>4} {class_prior:>5} {auc:>4} {frequency:>4} "
            f"{spread:>6}  {row}",
            flush=True,
        )
        outside += [
            (scenario, target, n_labeled, class_prior, auc, frequency, spread, name, held[name])
            for name in METRICS
            if not low <= held[name] <= high
        ]
    for n_labeled, shares in by_labeled.items():
        print(
            f"{n_labeled} labeled: mean {np.mean(shares):.3f}, lowest {min(shares):.3f} of "
            f"{len(shares)} cells and metrics"
        )
    print(f"{len(outside)} cells and metrics outside their bounds")
    for cell in outside:
        print("  ", *cell)


if __name__ == "__main__":
    main()
