"""The best values over thresholds, and the best thresholds: `python -m benchmarks.maxima`.

Each line is a design of `benchmarks.shapes` and a metric. `covered` is how often the 95% interval
of the maximum holds the highest value that the process has at any threshold, `threshold` how often
that of the best threshold holds the one that gives it. `width` is the median width over that of the
metric at the true best threshold, had it been fixed beforehand. `bias` is in standard deviations of
the estimate, in brackets that of the plain maximum.

Maxima are held to the truth up to .0001: where positives are rare the best accuracy is that of
flagging nobody, and a threshold that flags one row in a million gains less than that.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.shapes import ShapedDesign, add_designs, chosen_designs
from pumonitor.metrics.curves import rates_by_threshold
from pumonitor.metrics.evaluation_estimates import CURVE_CELLS
from pumonitor.metrics.maxima import MAXIMIZED, maxima
from pumonitor.metrics.problem import make_problem
from pumonitor.metrics.rates import at_threshold
from pumonitor.metrics.resampled import resample
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

__all__ = ["Summary", "summaries"]

_SAME: Final = 1e-4
_PRIORS: Final = (0.01, 0.05, 0.3)
_AUCS: Final = (0.75, 0.9, 0.98)
_LABELED: Final = (8, 20, 50, 200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What came of a metric in a design."""

    truth: float
    covered: float
    threshold_covered: float
    width: float
    ratio: float
    bias: float
    bias_of_plain: float
    error: float


def summaries(design: ShapedDesign, *, runs: int, seed: int = 0) -> dict[str, Summary]:
    """By metric, from the same windows."""
    best = {metric.name: design.best(metric) for metric in MAXIMIZED}
    found = np.zeros((len(MAXIMIZED), runs, 6))
    for run in range(runs):
        rng = np.random.default_rng([seed, run, design.n_labeled, round(1000 * design.class_prior)])
        labels, scores = design.draw(rng)
        table = ScoreTable.from_arrays(
            labels, scores, thresholds=[at for _, at in best.values()], density_edges=0
        )
        problem = make_problem(
            table,
            ClassPriorEstimate.given(design.class_prior),
            scenario=design.scenario,
            rng=run,
        )
        resampled = resample(problem, cells=CURVE_CELLS)
        point, _, _ = rates_by_threshold(problem, resampled)
        with np.errstate(divide="ignore", invalid="ignore"):
            curves = [np.asarray(metric.formula(point)) for metric in MAXIMIZED]
        plain = [float(np.max(curve[np.isfinite(curve)])) for curve in curves]
        by_name = {estimate.name: estimate for estimate in maxima(problem, resampled)}
        for row, metric in enumerate(MAXIMIZED):
            truth, threshold = best[metric.name]
            highest, at = by_name[f"{metric.name}_max"], by_name[f"{metric.name}_max_threshold"]
            fixed = metric.estimate(at_threshold(problem, threshold)).displayed
            # Beyond the scores of the window a threshold flags all of it or nothing.
            reachable = np.clip(threshold, table.lower[0], table.upper[-1])
            found[row, run] = (
                highest.low - _SAME <= truth <= highest.high + _SAME,
                at.low <= reachable <= at.high,
                highest.high - highest.low,
                fixed[2] - fixed[1],
                highest.value - truth,
                plain[row] - truth,
            )
    return {
        metric.name: _summary(found[row], best[metric.name][0])
        for row, metric in enumerate(MAXIMIZED)
    }


def _summary(found: np.ndarray, truth: float) -> Summary:
    mean, spread, middle = found.mean(axis=0), found.std(axis=0), np.median(found, axis=0)
    return Summary(
        truth=truth,
        covered=float(mean[0]),
        threshold_covered=float(mean[1]),
        width=float(middle[2]),
        ratio=float(middle[2] / max(middle[3], 1e-9)),
        bias=float(mean[4] / max(spread[4], 1e-9)),
        bias_of_plain=float(mean[5] / max(spread[5], 1e-9)),
        error=float(np.sqrt(np.mean(found[:, 4] ** 2))),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_designs(parser, labeled=_LABELED, priors=_PRIORS, aucs=_AUCS)
    asked = parser.parse_args()
    print(f"{asked.runs} windows a design, {asked.scenario}; of the plain maximum in brackets")
    print(
        f"{'shape':24} {'n_L':>4} {'pi':>5} {'AUC':>5} {'metric':18} {'truth':>6} {'covered':>8} "
        f"{'width':>6} {'ratio':>6} {'bias/sd':>8} {'':>8} {'error':>6} {'threshold':>10}"
    )
    by_metric: dict[str, list[Summary]] = {}
    for design in chosen_designs(asked):
        for name, one in summaries(design, runs=asked.runs, seed=asked.seed).items():
            by_metric.setdefault(name, []).append(one)
            print(
                f"{design.shown} {name:18} {one.truth:6.3f} "
                f"{one.covered:8.3f} {one.width:6.3f} {one.ratio:6.2f}"
                f" {one.bias:+8.2f} ({one.bias_of_plain:+.2f}) {one.error:6.3f} "
                f"{one.threshold_covered:10.3f}",
                flush=True,
            )
    for name, cells in by_metric.items():
        covered = [one.covered for one in cells]
        ratio = [one.ratio for one in cells]
        bias, plain = [one.bias for one in cells], [one.bias_of_plain for one in cells]
        threshold = [one.threshold_covered for one in cells]
        print(
            f"{name}, {len(cells)} designs: covered {min(covered):.3f} at least (mean "
            f"{np.mean(covered):.3f}), width {max(ratio):.2f} times a fixed threshold's at most "
            f"(median {np.median(ratio):.2f}), bias/sd {min(bias):+.2f} to {max(bias):+.2f} (mean "
            f"{np.mean(bias):+.2f}; plain {np.mean(plain):+.2f}), threshold covered "
            f"{min(threshold):.3f} at least"
        )


if __name__ == "__main__":
    main()
