"""How often paired 95% intervals hold the true difference: `python -m benchmarks.comparison`.

Two models score the same rows: bivariate normal with the same correlation among positives and
negatives, each model with its own AUC. The class prior is given (the window's own for the window
target). Printed per cell of the grid and metric: coverage, and the mean width over that of the
interval which takes the two estimates to be independent. The last lines name the cells outside
the bounds of `benchmarks.coverage`: 92.5% to 98%, 90% to 99% at 20 labeled positives, allowing
two Monte-Carlo standard errors.
"""

from __future__ import annotations

import argparse
import itertools
import math
import zlib
from dataclasses import dataclass

import numpy as np
from scipy import stats

from benchmarks.coverage import bounds
from benchmarks.simulation import Design, Window, process_truth, window_truth
from pumonitor.comparison import compare
from pumonitor.comparison_result import Comparison
from pumonitor.results import Scenario, Target

METRICS = ("aul", "auc", "f1", "ll_score", "precision", "recall")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDesign:
    """Two models with scores of one correlation given the class."""

    scenario: Scenario
    n_labeled: int
    class_prior: float
    aucs: tuple[float, float]
    correlation: float
    label_frequency: float = 0.3
    label_purity: float = 1.0

    @property
    def each(self) -> tuple[Design, Design]:
        """The design of each model by itself."""
        first, second = (
            Design(
                scenario=self.scenario,
                n_labeled=self.n_labeled,
                class_prior=self.class_prior,
                auc=auc,
                label_frequency=self.label_frequency,
                label_purity=self.label_purity,
            )
            for auc in self.aucs
        )
        return first, second


def simulate_pair(design: PairDesign, rng: np.random.Generator) -> tuple[Window, Window]:
    """One window, as each of the two models scores it."""
    first, second = design.each
    rows, purity = first.rows, design.label_purity
    is_positive = rng.random(rows) < design.class_prior
    population = np.ones(rows, dtype=bool)
    if design.scenario == "single-training-set":
        odds = design.class_prior / (1 - design.class_prior)
        mistaken = design.label_frequency * odds * (1 - purity) / purity
        chance = np.where(is_positive, design.label_frequency, mistaken)
        labels = (rng.random(rows) < chance).astype(np.int8)
    else:
        extra = design.n_labeled
        is_positive = np.concatenate([is_positive, rng.random(extra) < purity])
        labels = np.repeat(np.array([0, 1], dtype=np.int8), [rows, extra])
        population = np.concatenate([population, np.zeros(extra, dtype=bool)])
    noise = rng.standard_normal((2, len(labels)))
    noise[1] = design.correlation * noise[0] + math.sqrt(1 - design.correlation**2) * noise[1]
    windows = [
        Window(
            labels=labels,
            scores=noise[index] + each.separation * is_positive,
            is_positive=is_positive,
            population=population,
        )
        for index, each in enumerate((first, second))
    ]
    return windows[0], windows[1]


def true_values(design: Design, window: Window | None, prior: float) -> dict[str, float]:
    """The metrics of the process, or of the window."""
    truth = process_truth(design) if window is None else window_truth(design, window)
    return truth | {"ll_score": truth["recall"] * truth["precision"] / prior}


def compared(
    design: PairDesign, target: Target, rng: np.random.Generator
) -> tuple[Comparison, dict[str, float]]:
    """One simulated comparison, and the true differences."""
    windows = simulate_pair(design, rng)
    while np.count_nonzero(windows[0].labels == 1) < 2:
        windows = simulate_pair(design, rng)
    one = windows[0]
    prior = design.class_prior
    if target == "window":
        prior = float(one.is_positive[one.population].mean())
    truths = [
        true_values(each, window if target == "window" else None, prior)
        for each, window in zip(design.each, windows, strict=True)
    ]
    found = compare(
        one.labels,
        {"first": windows[0].scores, "second": windows[1].scores},
        threshold={"first": design.each[0].threshold, "second": design.each[1].threshold},
        class_prior=prior,
        scenario=design.scenario,
        label_purity=design.label_purity,
        target=target,
        rng=int(rng.integers(2**31)),
    )
    return found, {name: truths[0][name] - truths[1][name] for name in METRICS}


def paired_coverage(
    design: PairDesign, target: Target, *, runs: int, seed: int = 0
) -> tuple[dict[str, float], dict[str, float]]:
    """Coverage of the paired interval, and its width over that of the unpaired one, by metric."""
    key = zlib.crc32(repr((design, target)).encode())
    held, widths = {name: [0, 0] for name in METRICS}, {name: np.zeros(2) for name in METRICS}
    for run in range(runs):
        found, truth = compared(design, target, np.random.default_rng([seed, key, run]))
        differences = found.differences("first", "second", metrics=METRICS)
        for name, estimate in differences.items():
            if estimate.undefined_reason is not None:
                continue
            held[name][0] += estimate.low - 1e-12 <= truth[name] <= estimate.high + 1e-12
            held[name][1] += 1
            unpaired = math.hypot(*(found[model][name].se for model in found.models))
            widths[name] += estimate.high - estimate.low, 2 * stats.norm.ppf(0.975) * unpaired
    return (
        {name: count / defined for name, (count, defined) in held.items()},
        {name: float(paired / unpaired) for name, (paired, unpaired) in widths.items()},
    )


def main() -> None:
    """Print the grid."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300, help="simulated windows per cell")
    scenarios = ["single-training-set", "case-control"]
    parser.add_argument("--scenario", nargs="*", choices=scenarios, default=scenarios)
    targets = ["process", "window"]
    parser.add_argument("--target", nargs="*", choices=targets, default=targets)
    parser.add_argument("--labeled", type=int, nargs="*", default=[20, 50, 200, 1000])
    parser.add_argument("--prior", type=float, nargs="*", default=[0.02, 0.1, 0.3])
    parser.add_argument("--correlation", type=float, nargs="*", default=[0.0, 0.5, 0.9])
    parser.add_argument("--frequency", type=float, default=0.3, help="label frequency c")
    parser.add_argument("--purity", type=float, default=1.0, help="label purity b")
    arguments = parser.parse_args()
    print(f"{arguments.runs} runs a cell; coverage, and width over that of the unpaired interval")
    heading = " ".join(f"{name:>14}" for name in METRICS)
    print(f"scenario             target   n_L    pi        aucs corr {heading}")
    grid = itertools.product(
        arguments.scenario,
        arguments.target,
        arguments.labeled,
        arguments.prior,
        ((0.8, 0.8), (0.9, 0.75)),
        arguments.correlation,
    )
    cells, outside = 0, []
    for scenario, target, n_labeled, class_prior, aucs, correlation in grid:
        design = PairDesign(
            scenario=scenario,
            n_labeled=n_labeled,
            class_prior=class_prior,
            aucs=aucs,
            correlation=correlation,
            label_frequency=arguments.frequency,
            label_purity=arguments.purity,
        )
        held, widths = paired_coverage(design, target, runs=arguments.runs)
        low, high = bounds(n_labeled, arguments.runs)
        row = " ".join(
            f"{held[name]:>8.3f}{' ' if low <= held[name] <= high else '*'}{widths[name]:>5.2f}"
            for name in METRICS
        )
        place = f"{scenario:20} {target:8} {n_labeled:>4} {class_prior:>5} {aucs} {correlation:>4}"
        print(f"{place} {row}", flush=True)
        cells += len(METRICS)
        outside += [(place, name, held[name]) for name in METRICS if not low <= held[name] <= high]
    print(f"{len(outside)} of {cells} outside their bounds")
    for cell in outside:
        print("  ", *cell)


if __name__ == "__main__":
    main()
