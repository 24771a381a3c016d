"""CPU of what a window's page and the decide page compute: `python -m benchmarks.pages.windows`.

Windows are counted in 65,536 cells of the score, as a monitor counts them. Printed are milliseconds
of this process' CPU, the median of a few repeats; pages keep what they have computed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from pumonitor.decisions import decision_of
from pumonitor.metrics.problem import make_problem
from pumonitor.monitor.reports.window_curves import window_curves
from pumonitor.monitor.reports.window_problem import WindowProblem
from pumonitor.prior import resolve_class_prior
from pumonitor.tables import ScoreTable

_CELLS = 65_536
_REPEATS = 7


def counted(rows: int) -> ScoreTable:
    """A window of so many rows, a twentieth positive, of which three tenths are confirmed."""
    rng = np.random.default_rng(rows)
    positive = rng.random(rows) < 0.05
    scores = 1 / (1 + np.exp(-rng.normal(2 * positive - 1.5)))
    labeled = positive & (rng.random(rows) < 0.3)
    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    cell = np.minimum((scores * _CELLS).astype(int), _CELLS - 1)
    some, others = (np.bincount(cell, one, minlength=_CELLS) for one in (labeled, ~labeled))
    filled = some + others > 0
    return ScoreTable.from_counts(
        some[filled],
        others[filled],
        lower=edges[:-1][filled],
        upper=np.nextafter(edges[1:], 0.0)[filled],
    )


def milliseconds(compute: Callable[[], object]) -> float:
    """CPU of one call."""
    used = []
    for _ in range(_REPEATS):
        before = time.process_time()
        compute()
        used.append(1000 * (time.process_time() - before))
    return statistics.median(used)


def main() -> None:
    """Print a line for each number of rows."""
    print(f"{'rows':>10} {'cells':>7} {'window':>8} {'decide':>8} {'reviews':>8}")
    for rows in (2000, 20_000, 200_000, 2_000_000):
        table = counted(rows)
        threshold = float(np.linspace(0.0, 1.0, _CELLS + 1)[round(0.6 * _CELLS)])
        prior = resolve_class_prior(
            (0.05, 0.03, 0.08),
            table,
            scenario="single-training-set",
            label_purity=1.0,
            confidence_level=0.95,
            rng=0,
        )
        problem = make_problem(table, prior)
        window = WindowProblem(
            problem=problem, class_prior=prior, threshold=threshold, top_k=0.1, f_beta=2.0
        )
        found = decision_of(problem, threshold, other_threshold=threshold, value=50, cost=4)
        used = (
            milliseconds(lambda window=window: window_curves(window)),  # type: ignore[misc]
            milliseconds(
                lambda problem=problem, at=threshold: decision_of(  # type: ignore[misc]
                    problem, at, other_threshold=at, value=50, cost=4
                )
            ),
            milliseconds(lambda found=found: found.reviews(300)),  # type: ignore[misc]
        )
        numbers = " ".join(f"{one:8.0f}" for one in used)
        print(f"{rows:10,} {len(table):7,} {numbers}", flush=True)


if __name__ == "__main__":
    main()
