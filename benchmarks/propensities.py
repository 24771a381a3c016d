"""How often 95% intervals hold the truth under propensities: `python -m benchmarks.propensities`.

Positives are labeled with a probability that depends on the score. Printed per cell: how often
the intervals of the weighted estimates hold the truth, the bias of those estimates in Monte-Carlo
standard errors (`z`), and of the estimates without weights (`no w`), which should be far off.
"""

from __future__ import annotations

import argparse
import itertools
import math
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, special, stats

from benchmarks.coverage import AT_THRESHOLD, METRICS, bounds
from benchmarks.simulation import Design, Window, process_truth, window_truth
from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.average_precision import average_precision_estimate
from pumonitor.metrics.maxima import maxima
from pumonitor.metrics.prior_quantities import class_prior_estimate
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.metrics.rates import at_threshold
from pumonitor.metrics.resampled import resample
from pumonitor.metrics.top_k import top_k_estimates
from pumonitor.prior import resolve_class_prior
from pumonitor.results import ClassPriorEstimate, Estimate, Target
from pumonitor.tables import ScoreTable

__all__ = ["POLICIES", "SHOWN", "Policy", "PolicyWindow", "estimates_of", "simulate", "sizes"]

FloatArray = NDArray[np.float64]

TOP_K = 0.1
SHOWN = (*METRICS, "f1_max", "precision_at_k", "recall_at_k", "class_prior")
_CURVE_CELLS = 200
_TARGETS: tuple[Target, ...] = ("process", "window")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Who gets labeled among the positives: P(labeled given y = 1, score).

    `rising` climbs with the score from `low` to `high`; `review` labels every positive in the
    upper part that holds `reviewed` of the positives, and a share `low` of the others; `apart`
    has the two probabilities at random, whatever the score.
    """

    kind: Literal["rising", "review", "apart"]
    low: float
    high: float = 1.0
    reviewed: float = 0.6

    def probabilities(
        self, scores: FloatArray, design: Design, rng: np.random.Generator
    ) -> FloatArray:
        """The propensity of each row."""
        if self.kind == "rising":
            climb = special.expit(2.0 * (scores - 0.7 * design.separation))
            return np.asarray(self.low + (self.high - self.low) * climb)
        if self.kind == "review":
            start = stats.norm.isf(self.reviewed, loc=design.separation)
            return np.where(scores >= start, self.high, self.low)
        return np.where(rng.random(len(scores)) < self.reviewed, self.high, self.low)

    def rows_per_effective(self, design: Design) -> float:
        """Positives per effective labeled row: the mean of 1 / e over the positives."""
        if self.kind != "rising":
            return self.reviewed / self.high + (1 - self.reviewed) / self.low
        rng = np.random.default_rng(0)

        def inverse(score: float) -> float:
            chance = self.probabilities(np.array([score]), design, rng)[0]
            return float(stats.norm.pdf(score, loc=design.separation) / chance)

        return float(integrate.quad(inverse, design.separation - 8, design.separation + 8)[0])


POLICIES = {
    "rising": Policy(kind="rising", low=0.05, high=0.9),
    "review": Policy(kind="review", low=0.02),
    "apart": Policy(kind="apart", low=0.1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyWindow:
    """A simulated window and the probability each row had of being labeled if positive."""

    window: Window
    propensity: FloatArray


def sizes(design: Design, policy: Policy, *, effective: float) -> tuple[int, int]:
    """Positives among the rows, and rows of the population, that give so many effective rows."""
    positives = effective * policy.rows_per_effective(design)
    return round(positives), round(positives / design.class_prior)


def simulate(
    design: Design, policy: Policy, *, effective: float, rng: np.random.Generator
) -> PolicyWindow:
    """Draw a window in which about `effective` rows' worth of positives gets labeled."""
    positives, rows = sizes(design, policy, effective=effective)
    if design.scenario == "case-control":
        rows = round(effective / design.class_prior / design.label_frequency)
    is_positive = rng.random(rows) < design.class_prior
    scores = rng.normal(design.separation * is_positive)
    if design.scenario == "single-training-set":
        chance = policy.probabilities(scores, design, rng)
        labels = (is_positive & (rng.random(rows) < chance)).astype(np.int8)
        window = Window(
            labels=labels, scores=scores, is_positive=is_positive, population=np.ones(rows, bool)
        )
        return PolicyWindow(window=window, propensity=chance)
    # The labeled rows come from elsewhere, where positives were chosen by the same policy.
    others = rng.normal(design.separation, size=positives)
    chance = policy.probabilities(others, design, rng)
    chosen = rng.random(positives) < chance
    extra = int(chosen.sum())
    window = Window(
        labels=np.concatenate([np.zeros(rows, np.int8), np.ones(extra, np.int8)]),
        scores=np.concatenate([scores, others[chosen]]),
        is_positive=np.concatenate([is_positive, np.ones(extra, bool)]),
        population=np.concatenate([np.ones(rows, bool), np.zeros(extra, bool)]),
    )
    return PolicyWindow(window=window, propensity=np.concatenate([np.ones(rows), chance[chosen]]))


def truth_of(design: Design, window: Window, target: Target) -> dict[str, float]:
    """What the intervals are for, maxima and the top k included."""
    if target == "window":
        truth = window_truth(design, window)
        positive = window.is_positive[window.population]
        order = np.argsort(-window.scores[window.population], kind="stable")
        hits = np.cumsum(positive[order])
        rows = len(order)
        top = round(TOP_K * rows)
        f1 = 2 * hits / (positive.sum() + np.arange(1, rows + 1))
        return truth | {
            "f1_max": float(f1.max()),
            "precision_at_k": float(hits[top - 1] / top),
            "recall_at_k": float(hits[top - 1] / hits[-1]),
            "class_prior": float(positive.mean()),
        }
    grid = np.linspace(-6, design.separation + 6, 200_001)
    recall = stats.norm.sf(grid, loc=design.separation)
    flagged = design.class_prior * recall + (1 - design.class_prior) * stats.norm.sf(grid)
    at_k = float(np.interp(TOP_K, flagged[::-1], recall[::-1]))
    return process_truth(design) | {
        "f1_max": float(np.max(2 * design.class_prior * recall / (design.class_prior + flagged))),
        "precision_at_k": design.class_prior * at_k / TOP_K,
        "recall_at_k": at_k,
        "class_prior": design.class_prior,
    }


def estimates_of(
    design: Design,
    drawn: PolicyWindow,
    *,
    target: Target,
    class_prior: float | str,
    weighted: bool = True,
    names: Collection[str] = SHOWN,
    seed: int = 0,
) -> dict[str, Estimate]:
    """The estimates of one window; `class_prior` may be the method "propensity"."""
    table = ScoreTable.from_arrays(
        drawn.window.labels,
        drawn.window.scores,
        thresholds=(design.threshold,),
        propensity=drawn.propensity if weighted else None,
        density_edges=0,
    )
    prior = (
        resolve_class_prior(
            class_prior,
            table,
            scenario=design.scenario,
            label_purity=1.0,
            confidence_level=0.95,
            rng=seed,
        )
        if isinstance(class_prior, str)
        else ClassPriorEstimate.given(class_prior)
    )
    problem = make_problem(table, prior, scenario=design.scenario, target=target, rng=seed)
    lift = observed_lift(problem)
    at = at_threshold(problem, design.threshold)
    found = [
        class_prior_estimate(problem),
        aul_estimate(problem, lift),
        auc_estimate(problem, lift),
        average_precision_estimate(problem),
        *(metric.estimate(at) for metric in AT_THRESHOLD),
        *top_k_estimates(problem, TOP_K),
    ]
    if "f1_max" in names:
        resampled = resample(problem, cells=_CURVE_CELLS, thresholds=(design.threshold,))
        found += maxima(problem, resampled)
    return {estimate.name: estimate for estimate in found}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Per metric: coverage, bias in Monte-Carlo errors with and without weights, mean width."""

    coverage: dict[str, float]
    bias: dict[str, float]
    unweighted_bias: dict[str, float]
    width: dict[str, float]


def summary(
    design: Design,
    policy: Policy,
    *,
    effective: float,
    target: Target,
    runs: int,
    prior: Literal["given", "propensity"] = "given",
    names: Collection[str] = SHOWN,
    seed: int = 0,
) -> Summary:
    """Simulate windows and count.

    The class prior given is the process' own, and the window's own for the window target.
    """
    key = zlib.crc32(repr((design, policy, effective, target)).encode())
    held = dict.fromkeys(names, 0)
    errors: dict[str, list[float]] = {name: [] for name in names}
    naive_errors: dict[str, list[float]] = {name: [] for name in names}
    widths: dict[str, list[float]] = {name: [] for name in names}
    for run in range(runs):
        rng = np.random.default_rng([seed, key, run])
        drawn = simulate(design, policy, effective=effective, rng=rng)
        while np.count_nonzero(drawn.window.labels == 1) < 2:
            drawn = simulate(design, policy, effective=effective, rng=rng)
        truth = truth_of(design, drawn.window, target)
        of_window = float(truth["class_prior"])
        given: float | str = of_window if prior == "given" else "propensity"
        own_seed = int(rng.integers(2**31))
        found = estimates_of(
            design, drawn, target=target, class_prior=given, names=names, seed=own_seed
        )
        naive = estimates_of(
            design,
            drawn,
            target=target,
            class_prior=of_window,
            weighted=False,
            names=names,
            seed=own_seed,
        )
        for name in names:
            estimate = found[name]
            held[name] += estimate.low - 1e-12 <= truth[name] <= estimate.high + 1e-12
            errors[name].append(estimate.value - truth[name])
            naive_errors[name].append(naive[name].value - truth[name])
            widths[name].append(estimate.high - estimate.low)
    return Summary(
        coverage={name: count / runs for name, count in held.items()},
        bias={name: _in_errors(values) for name, values in errors.items()},
        unweighted_bias={name: _in_errors(values) for name, values in naive_errors.items()},
        width={name: float(np.median(values)) for name, values in widths.items()},
    )


def _in_errors(values: list[float]) -> float:
    """Mean over its standard error; 0 when there is neither."""
    spread = float(np.nanstd(values))
    if spread < 1e-15:
        return 0.0
    return float(np.nanmean(values)) / (spread / math.sqrt(len(values)))


def _cells(arguments: argparse.Namespace) -> Iterator[tuple[Design, str, Target, float]]:
    grid = itertools.product(
        arguments.scenario, arguments.policy, _TARGETS, arguments.effective, arguments.auc
    )
    for scenario, policy, target, effective, auc in grid:
        design = Design(
            scenario=scenario, n_labeled=int(effective), class_prior=arguments.prior, auc=auc
        )
        yield design, policy, target, effective


def main() -> None:
    """Print the grid."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300, help="simulated windows per cell")
    parser.add_argument("--effective", type=float, nargs="*", default=[20, 50, 200, 1000])
    parser.add_argument("--auc", type=float, nargs="*", default=[0.7, 0.9])
    parser.add_argument("--prior", type=float, default=0.1)
    parser.add_argument("--policy", nargs="*", default=list(POLICIES), choices=list(POLICIES))
    parser.add_argument("--class-prior", choices=["given", "propensity"], default="given")
    parser.add_argument("--scenario", nargs="*", default=["single-training-set", "case-control"])
    arguments = parser.parse_args()
    outside = total = 0
    print(f"{arguments.runs} runs a cell, class prior {arguments.prior} {arguments.class_prior}")
    print(f"{'':52}" + " ".join(f"{name[:9]:>9}" for name in SHOWN))
    for design, policy, target, effective in _cells(arguments):
        found = summary(
            design,
            POLICIES[policy],
            effective=effective,
            target=target,
            runs=arguments.runs,
            prior=arguments.class_prior,
        )
        low, high = bounds(int(effective), arguments.runs)
        cell = f"{design.scenario:20}{policy:8}{target:8}{effective:>6g}{design.auc:>5}"
        wrong = [name for name in SHOWN if not low <= found.coverage[name] <= high]
        outside, total = outside + len(wrong), total + len(SHOWN)
        print(
            f"{cell} held"
            + " ".join(f"{found.coverage[n]:>8.3f}{'*' if n in wrong else ' '}" for n in SHOWN),
            flush=True,
        )
        for title, row in (
            ("   z", found.bias),
            ("no w", found.unweighted_bias),
            ("wide", found.width),
        ):
            digits = 3 if title == "wide" else 1
            print(f"{'':47}{title} " + " ".join(f"{row[n]:>8.{digits}f} " for n in SHOWN))
    print(f"{outside} of {total} cells outside their bounds")


if __name__ == "__main__":
    main()
