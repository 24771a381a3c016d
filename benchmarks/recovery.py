"""Direct against indirect recovery of average precision: `python -m benchmarks.recovery`.

Mean absolute error from the truth of the process, by true AUC and by label purity, over both
scenarios, 20 to 1000 labeled rows and class priors .02 to .4, the class prior being known. This is
what decides where `route="auto"` goes over from one to the other. For AUC see
`python -m benchmarks.auc_routes`.
"""

from __future__ import annotations

import argparse
import itertools
from collections import defaultdict
from typing import Final

import numpy as np

from benchmarks.simulation import Design, process_truth, simulate
from pumonitor import metrics
from pumonitor.metrics.recovery import Route

ROUTES: Final[tuple[Route, ...]] = ("direct", "indirect", "auto")


def errors(design: Design, *, runs: int) -> dict[str, list[float]]:
    """Errors by route; values are held to [0, 1] as they are shown."""
    found: dict[str, list[float]] = defaultdict(list)
    truth = process_truth(design)["average_precision"]
    for run in range(runs):
        seed = [run, design.n_labeled, round(1000 * design.class_prior), round(1000 * design.auc)]
        window = simulate(design, np.random.default_rng(seed))
        for route in ROUTES:
            estimate = metrics.average_precision(
                window.labels,
                window.scores,
                class_prior=design.class_prior,
                scenario=design.scenario,
                label_purity=design.label_purity,
                route=route,
            )
            found[route].append(estimate.displayed[0] - truth)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="samples per design")
    runs = parser.parse_args().runs
    by_key: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for scenario, n_labeled, prior, purity, auc in itertools.product(
        ("single-training-set", "case-control"),
        (20, 100, 1000),
        (0.02, 0.1, 0.4),
        (1.0, 0.9, 0.75),
        (0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995),
    ):
        design = Design(
            scenario=scenario,  # type: ignore[arg-type]
            n_labeled=n_labeled,
            class_prior=prior,
            auc=auc,
            label_purity=purity,
        )
        found = errors(design, runs=runs)
        for key in ((" all", ""), ("auc", f"{auc:g}"), ("purity", f"{purity:g}"),
                    ("labeled", f"{n_labeled}")):  # fmt: skip
            for route, values in found.items():
                by_key[key][route] += values
    print(f"mean absolute error (mean error), {runs} samples per design")
    print(" " * 20 + "".join(f"{route:>20}" for route in ROUTES))
    for key, found in sorted(by_key.items()):
        cells = [np.array(found[route]) for route in ROUTES]
        print(
            f"{key[0]:>12} {key[1]:7}"
            + "".join(f"{np.abs(c).mean():11.4f} ({c.mean():+.4f})" for c in cells)
        )


if __name__ == "__main__":
    main()
