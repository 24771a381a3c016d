"""Average precision over many shapes of scores: `python -m benchmarks.average_precision`.

Each line is a design of `benchmarks.shapes`: nine shapes, class priors .01 to .3, 8 to 200 labeled
rows. Its bias is that of the value over its standard deviation, both as estimated; the error is the
root mean square of what is shown (held to [0, 1]). Beside them those of the average over a
recovered curve (`benchmarks.recovered_curves`), which was used for good rankings before. `covered`
is how often the 95% interval holds the truth of the process, `width` the median one, `high` the
highest end where the value itself is possible.

With `--summary` only the worst design of each shape is printed.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.recovered_curves import indirect_average_precision
from benchmarks.shapes import ShapedDesign, add_designs, chosen_designs
from pumonitor.metrics.average_precision import average_precision_estimate
from pumonitor.metrics.problem import make_problem
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

__all__ = ["Summary", "summary"]

_PRIORS: Final = (0.01, 0.05, 0.3)
_AUCS: Final = (0.75, 0.9, 0.98)
_LABELED: Final = (8, 20, 50, 200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What came of a design; `by_curve` is the average over the recovered curve."""

    truth: float
    bias: float
    error: float
    bias_by_curve: float
    error_by_curve: float
    covered: float
    width: float
    high: float


def summary(design: ShapedDesign, *, runs: int, seed: int = 0) -> Summary:
    """Estimates of so many windows beside the truth."""
    truth = design.average_precision()
    values, curves = np.zeros(runs), np.zeros(runs)
    ends = np.zeros((runs, 2))
    for run in range(runs):
        rng = np.random.default_rng([seed, run, design.n_labeled, round(1000 * design.class_prior)])
        labels, scores = design.draw(rng)
        problem = make_problem(
            ScoreTable.from_arrays(labels, scores, density_edges=0),
            ClassPriorEstimate.given(design.class_prior),
            scenario=design.scenario,
            rng=run,
        )
        estimate = average_precision_estimate(problem)
        values[run], curves[run] = estimate.value, indirect_average_precision(problem)
        ends[run] = estimate.low, estimate.high
    possible = values <= 1
    shown = np.clip(ends, 0.0, 1.0)
    return Summary(
        truth=truth,
        bias=float((values.mean() - truth) / values.std()),
        error=_root_mean_square(np.clip(values, 0.0, 1.0) - truth),
        bias_by_curve=float((curves.mean() - truth) / curves.std()),
        error_by_curve=_root_mean_square(curves - truth),
        covered=float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))),
        width=float(np.median(shown[:, 1] - shown[:, 0])),
        high=float(ends[possible, 1].max(initial=0.0)),
    )


def _root_mean_square(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_designs(parser, labeled=_LABELED, priors=_PRIORS, aucs=_AUCS)
    parser.add_argument("--summary", action="store_true")
    asked = parser.parse_args()
    print(f"{asked.runs} windows a design, {asked.scenario}; over the recovered curve in brackets")
    print(
        f"{'shape':24} {'n_L':>4} {'pi':>5} {'AUC':>5} {'truth':>6} {'bias/sd':>8} {'':>8}"
        f" {'error':>7} {'':>7} {'covered':>8} {'width':>6} {'high':>5}"
    )
    for shape, designs in itertools.groupby(chosen_designs(asked), lambda design: design.shape):
        found = []
        for design in designs:
            found.append(summary(design, runs=asked.runs, seed=asked.seed))
            if not asked.summary:
                _print(design.shown, found[-1])
        _print_worst(shape, found)


def _print(design: str, found: Summary) -> None:
    print(
        f"{design} {found.truth:6.3f} {found.bias:+8.2f} ({found.bias_by_curve:+.2f}) "
        f"{found.error:7.3f} ({found.error_by_curve:.3f}) {found.covered:8.3f} {found.width:6.3f} "
        f"{found.high:5.2f}",
        flush=True,
    )


def _print_worst(shape: str, found: Sequence[Summary]) -> None:
    bias = max(abs(one.bias) for one in found)
    by_curve = max(abs(one.bias_by_curve) for one in found)
    covered = [one.covered for one in found]
    ratio = [one.error / min(one.error, one.error_by_curve) for one in found]
    print(
        f"{shape}, worst of {len(found)}: bias/sd {bias:.2f} ({by_curve:.2f}), covered "
        f"{min(covered):.3f} (mean {np.mean(covered):.3f}), error over the better of both "
        f"{max(ratio):.2f} (mean {np.mean(ratio):.2f}), high {max(one.high for one in found):.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
