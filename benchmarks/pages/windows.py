"""CPU of what a window's page and the decide page compute: `python -m benchmarks.pages.windows`.

Windows are counted as a monitor counts and stores them. Printed are milliseconds
of this process' CPU, the median of a few repeats; pages keep what they have computed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from benchmarks.pages.made_up_details import THRESHOLD, counted
from pumonitor.decisions import decision_of
from pumonitor.metrics.problem import make_problem
from pumonitor.monitor.reports.window_curves import window_curves
from pumonitor.monitor.reports.window_problem import WindowProblem
from pumonitor.positive_evidence import FairLabels
from pumonitor.prior import resolve_class_prior

_REPEATS = 7


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
        prior = resolve_class_prior(
            (0.05, 0.03, 0.08),
            table,
            scenario="single-training-set",
            label_purity=1.0,
            confidence_level=0.95,
            rng=0,
        )
        labels = FairLabels(problem=make_problem(table, prior), prior=prior)
        window = WindowProblem(evidence=labels, threshold=THRESHOLD, top_k=0.1, f_beta=2.0)
        found = decision_of(labels, THRESHOLD, other_threshold=THRESHOLD, value=50, cost=4)
        used = (
            milliseconds(lambda window=window: window_curves(window)),  # type: ignore[misc]
            milliseconds(
                lambda labels=labels: decision_of(  # type: ignore[misc]
                    labels, THRESHOLD, other_threshold=THRESHOLD, value=50, cost=4
                )
            ),
            milliseconds(lambda found=found: found.reviews(300)),  # type: ignore[misc]
        )
        numbers = " ".join(f"{one:8.0f}" for one in used)
        print(f"{rows:10,} {len(table):7,} {numbers}", flush=True)


if __name__ == "__main__":
    main()
