"""Whether intervals of AUL and AUC are as tight as they are right: `python -m benchmarks.widths`.

Each cell is a shape of scores, an AUC, a class prior, a number of labeled positives, a target and
a scenario. Of its simulated windows it says

- the coverage of the 95% intervals, and how many lie above and below the truth;
- the median width over the spread (2.5 to 97.5%) of the estimate itself around the truth;
- the median lower end over what an unseen share alone gives: the value, were the share
  u = 1 - .025^(1/n_L) of positives, which n_L labeled rows miss in one of 40 windows, at random.

The last lines name cells outside the goals: coverage .93, less what chance explains (the upper 99%
limit below .93 is told apart from that below .90), a width of at most 1.5 spreads from 10 labels
on, a lower end of at least .9 of what the unseen share gives (or of the estimate's own 2.5%
quantile, which no right interval ends above), and a width that does not rise with AUC.

The shapes are those of the score's ROC curve: two normals, positives more spread than negatives,
exponential and gamma scores (positives on another scale), Student's t with 3 degrees of freedom,
normal scores in bins of .5, and "hidden": a share 2 (1 - AUC) of positives scores at random, all
others above every negative. What no labeled row shows there, no interval can know.
"""

from __future__ import annotations

import argparse
import itertools
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from pumonitor.metrics.auc import auc_estimate
from pumonitor.metrics.aul import aul_estimate
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.ranking import observed_lift
from pumonitor.results import ClassPriorEstimate, Scenario, Target
from pumonitor.tables import ScoreTable

__all__ = ["SHAPES", "Cell", "Widths", "measure"]

FloatArray = NDArray[np.float64]
Draw = Callable[[float, np.random.Generator, int, int], tuple[FloatArray, FloatArray]]

_COVERAGE, _LEAST_COVERAGE, _WIDEST, _LOWEST = 0.93, 0.90, 1.5, 0.9
_BIN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one cell simulates; `label_frequency` of the positives are labeled, `labeled` in all."""

    shape: str
    auc: float
    class_prior: float
    labeled: int
    target: Target = "process"
    scenario: Scenario = "single-training-set"
    label_frequency: float = 0.3

    @property
    def rows(self) -> int:
        """Rows of the population."""
        return math.ceil(self.labeled / (self.class_prior * self.label_frequency))


@dataclass(frozen=True, slots=True, kw_only=True)
class Widths:
    """What came out for one estimate of a cell, as shares and ratios."""

    coverage: float
    too_high: float
    too_low: float
    width: float
    over_spread: float
    over_unseen: float
    over_possible: float


def _normals(spread: float) -> Draw:
    def draw(
        auc: float, rng: np.random.Generator, positives: int, negatives: int
    ) -> tuple[FloatArray, FloatArray]:
        distance = stats.norm.ppf(auc) * math.hypot(1, spread)
        return rng.normal(distance, spread, positives), rng.normal(size=negatives)

    return draw


def _gammas(shape: float) -> Draw:
    @lru_cache
    def scale(auc: float) -> float:
        of_positives = stats.gamma.ppf((np.arange(20_000) + 0.5) / 20_000, shape)
        return math.exp(
            optimize.brentq(
                lambda log: np.mean(stats.gamma.cdf(of_positives * np.exp(log), shape)) - auc,
                0,
                15,
            )
        )

    def draw(
        auc: float, rng: np.random.Generator, positives: int, negatives: int
    ) -> tuple[FloatArray, FloatArray]:
        return rng.gamma(shape, scale(auc), positives), rng.gamma(shape, size=negatives)

    return draw


@lru_cache
def _distance_of_t(auc: float) -> float:
    of_negatives = stats.t.ppf((np.arange(200_000) + 0.5) / 200_000, 3)
    return float(
        optimize.brentq(lambda d: np.mean(stats.t.cdf(of_negatives + d, 3)) - auc, 0, 2000)
    )


def _heavy_tails(
    auc: float, rng: np.random.Generator, positives: int, negatives: int
) -> tuple[FloatArray, FloatArray]:
    return _distance_of_t(auc) + rng.standard_t(3, positives), rng.standard_t(3, negatives)


def _binned(
    auc: float, rng: np.random.Generator, positives: int, negatives: int
) -> tuple[FloatArray, FloatArray]:
    above, others = _normals(1.0)(auc, rng, positives, negatives)
    return np.floor(above / _BIN), np.floor(others / _BIN)


def _hidden(
    auc: float, rng: np.random.Generator, positives: int, negatives: int
) -> tuple[FloatArray, FloatArray]:
    above = 1 + rng.random(positives)
    return np.where(rng.random(positives) < 2 * (1 - auc), above - 1, above), rng.random(negatives)


SHAPES: dict[str, Draw] = {
    "normal": _normals(1.0),
    "wide": _normals(1.6),
    "exponential": _gammas(1.0),
    "gamma": _gammas(3.0),
    "t3": _heavy_tails,
    "binned": _binned,
    "hidden": _hidden,
}


@lru_cache
def _true_auc(shape: str, auc: float) -> float:
    """The AUC itself, but of binned scores, which have a little less."""
    if shape != "binned":
        return auc
    distance = stats.norm.ppf(auc) * math.sqrt(2)
    edges = _BIN * np.arange(-40, 60)
    of_negatives = stats.norm.cdf(edges)
    of_positives = np.diff(stats.norm.cdf(edges - distance))
    return float(np.sum(of_positives * 0.5 * (of_negatives[1:] + of_negatives[:-1])))


def _window_auc(positive: FloatArray, negative: FloatArray) -> float:
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, "left") + np.searchsorted(ordered, positive, "right")
    return float(np.mean(below)) / 2 / len(negative)


def _run(cell: Cell, rng: np.random.Generator) -> dict[str, tuple[float, float, float, float]]:
    """Value, ends and truth by estimate, of one simulated window."""
    positives = max(int(rng.binomial(cell.rows, cell.class_prior)), 1)
    in_population = cell.scenario == "single-training-set"
    positives = max(positives, cell.labeled) if in_population else positives
    negatives = cell.rows - positives
    extra = 0 if in_population else cell.labeled
    of_positives, of_negatives = SHAPES[cell.shape](cell.auc, rng, positives + extra, negatives)
    scores = np.concatenate([of_positives, of_negatives])
    labels = np.zeros(len(scores), dtype=np.int8)
    labels[: cell.labeled] = 1
    prior, auc = cell.class_prior, _true_auc(cell.shape, cell.auc)
    if cell.target == "window":
        prior = positives / cell.rows
        auc = _window_auc(of_positives[extra:], of_negatives)
    problem = make_problem(
        ScoreTable.from_arrays(labels, scores, density_edges=0),
        ClassPriorEstimate.given(prior),
        scenario=cell.scenario,
        target=cell.target,
        rng=int(rng.integers(2**31)),
    )
    lift = observed_lift(problem)
    truths = (prior / 2 + (1 - prior) * auc, auc)
    return {
        one.name: (one.value, one.low, one.high, truth)
        for one, truth in zip(
            (aul_estimate(problem, lift), auc_estimate(problem, lift)), truths, strict=True
        )
    }


def measure(cell: Cell, *, runs: int, seed: int = 0) -> dict[str, Widths]:
    """Coverage and width of the intervals in one cell, by estimate."""
    key = zlib.crc32(repr((cell.shape, cell.auc, cell.class_prior, cell.labeled)).encode())
    results = [_run(cell, np.random.default_rng([seed, key, run])) for run in range(runs)]
    return {name: _widths(cell, np.array([run[name] for run in results])) for name in results[0]}


def _widths(cell: Cell, found: FloatArray) -> Widths:
    value, low, high, truth = found.T
    unseen = 1 - 0.025 ** (1 / cell.labeled)
    at_random = (1 - unseen) * np.median(value) + unseen / 2
    lowest, highest = np.median(truth) + np.quantile(value - truth, [0.025, 0.975])
    width, end = float(np.median(high - low)), float(np.median(low))
    too_high, too_low = float(np.mean(low > truth + 1e-12)), float(np.mean(high < truth - 1e-12))
    return Widths(
        coverage=1 - too_high - too_low,
        too_high=too_high,
        too_low=too_low,
        width=width,
        over_spread=width / max(float(highest - lowest), 1e-12),
        over_unseen=end / float(at_random),
        over_possible=end / float(min(at_random, lowest)),
    )


def _outside(cell: Cell, found: Widths, before: Widths | None, runs: int) -> list[str]:
    """Which goals a cell misses; `before` is the cell of the next lower AUC."""
    upper = stats.beta.ppf(0.99, found.coverage * runs + 1, runs * (1 - found.coverage) + 1e-9)
    reasons = []
    if upper < _LEAST_COVERAGE:
        reasons.append(f"coverage {found.coverage:.3f}, below {_LEAST_COVERAGE} beyond chance")
    elif upper < _COVERAGE:
        reasons.append(f"coverage {found.coverage:.3f}, below {_COVERAGE} beyond chance")
    if cell.labeled >= 10 and found.over_spread > _WIDEST:
        reasons.append(f"{found.over_spread:.2f} spreads wide")
    if found.over_possible < _LOWEST:
        reasons.append(f"lower end {found.over_possible:.2f} of what it can be")
    if before is not None and found.width > 1.05 * before.width:
        reasons.append(f"{found.width / before.width:.2f} times as wide as at the AUC before")
    return reasons


def main() -> None:
    """Print the cells, and those outside the goals."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=400, help="simulated windows per cell")
    parser.add_argument("--shape", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--auc", type=float, nargs="*", default=[0.75, 0.9, 0.97, 0.99, 0.999])
    parser.add_argument("--labeled", type=int, nargs="*", default=[5, 8, 10, 20, 50])
    parser.add_argument("--prior", type=float, nargs="*", default=[0.01, 0.1, 0.3])
    parser.add_argument("--target", nargs="*", default=list(get_args(Target)))
    parser.add_argument("--scenario", nargs="*", default=list(get_args(Scenario)))
    parser.add_argument("--frequency", type=float, default=0.3, help="of labels, c")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(f"{arguments.runs} runs a cell; AUL, then AUC: coverage (above/below), width, /spread")
    print("shape        pi    n_L  AUC   target   scenario             /unseen")
    outside: list[str] = []
    coverages: list[float] = []
    groups = itertools.product(
        arguments.scenario, arguments.target, arguments.shape, arguments.prior, arguments.labeled
    )
    for scenario, target, shape, class_prior, labeled in groups:
        before: dict[str, Widths] = {}
        for auc in sorted(arguments.auc):
            cell = Cell(
                shape=shape,
                auc=auc,
                class_prior=class_prior,
                labeled=labeled,
                target=target,
                scenario=scenario,
                label_frequency=arguments.frequency,
            )
            found = measure(cell, runs=arguments.runs, seed=arguments.seed)
            told = "  ".join(
                f"{name} {one.coverage:.3f} ({one.too_high:.3f}/{one.too_low:.3f}) {one.width:.4f} "
                f"{one.over_spread:5.2f} {one.over_unseen:.2f}"
                for name, one in found.items()
            )
            title = f"{shape:11} {class_prior:5} {labeled:4} {auc:6} {target:8} {scenario:20}"
            print(f"{title} {told}", flush=True)
            coverages += [one.coverage for one in found.values()]
            outside += [
                f"{title} {name}: {reason}"
                for name, one in found.items()
                for reason in _outside(cell, one, before.get(name), arguments.runs)
            ]
            before = found
    print(f"coverage: mean {np.mean(coverages):.3f}, lowest {min(coverages):.3f}")
    print(f"{len(outside)} goals missed")
    print(*outside, sep="\n")


if __name__ == "__main__":
    main()
