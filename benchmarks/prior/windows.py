"""Class priors of small windows, alone and pooled: `python -m benchmarks.prior.windows`.

Windows of 2000 unlabeled rows and few labeled ones, positives N(2,1) and negatives N(0,1), in the
case-control scenario. The class prior stays at .1, drifts (a step of standard deviation .01 of its
arcsine root per window), or jumps from .05 to .15 halfway. By window: mean absolute error, bias,
coverage and width of 95% intervals of

- own: the window's own estimate;
- pooled: `pool_class_priors` of these, each resting on the windows up to then;
- smoothed: the same, resting on all windows;
- shared: the window with the labeled rows of all windows up to then (`pool_tables`);
- shared, pooled and shared, smoothed: `pool_class_priors` of those;
- shared, referred: pooled with the prior of the window before the first as reference;
- discounted: `pool_tables` with unlabeled rows discounted too, by how far the pooled value of
  "shared" does not rest on the window itself.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pumonitor.prior import estimate_from_table, pool_class_priors, pool_tables
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

UNLABELED = 2000
COURSES = ("constant", "drift", "jump")
Figures = dict[str, Iterable[ClassPriorEstimate | None]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", default="dedpul")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--windows", type=int, default=25)
    parser.add_argument("--labeled", type=int, nargs="+", default=[20, 50, 200])
    arguments = parser.parse_args()
    print("labeled course   route             | error  bias    coverage width")
    for labeled, course in itertools.product(arguments.labeled, COURSES):
        errors: dict[str, list[list[float]]] = {}
        for seed in range(arguments.seeds):
            rng = np.random.default_rng([seed, labeled, COURSES.index(course)])
            priors = _priors(course, arguments.windows, rng)
            tables = [_window(prior, labeled, rng) for prior in priors]
            for route, estimates in _routes(tables, arguments.method, priors[0]).items():
                for found, prior in zip(estimates, priors, strict=True):
                    assert found is not None
                    error = found.value - prior
                    held = found.low <= prior <= found.high
                    width = found.high - found.low
                    errors.setdefault(route, []).append([abs(error), error, held, width])
        for route, rows in errors.items():
            error, bias, held, width = np.mean(rows, axis=0)
            print(
                f"{labeled:7d} {course:8s} {route:17s} | "
                f"{error:.4f} {bias:+.4f} {held:.3f}    {width:.4f}",
                flush=True,
            )


def _priors(course: str, windows: int, rng: np.random.Generator) -> NDArray[np.float64]:
    if course == "constant":
        return np.full(windows, 0.1)
    if course == "drift":
        root = np.arcsin(np.sqrt(0.1)) + np.cumsum(rng.normal(0.0, 0.01, windows))
        return np.asarray(np.sin(root) ** 2)
    return np.where(np.arange(windows) < windows // 2, 0.05, 0.15)


def _window(prior: float, labeled: int, rng: np.random.Generator) -> ScoreTable:
    labels = np.repeat([1, 0], [labeled, UNLABELED])
    positive = (labels == 1) | (rng.random(len(labels)) < prior)
    return ScoreTable.from_arrays(labels, rng.normal(2.0 * positive))


def _routes(tables: list[ScoreTable], method: str, first: float) -> Figures:
    def estimated(table: ScoreTable) -> ClassPriorEstimate:
        return estimate_from_table(table, method=method, scenario="case-control")

    so_far = [tables[: at + 1] for at in range(len(tables))]
    own = [estimated(table) for table in tables]
    shared = [estimated(pool_tables(some)) for some in so_far]
    pooled = pool_class_priors(shared)
    return {
        "own": own,
        "pooled": pool_class_priors(own).estimates,
        "smoothed": pool_class_priors(own, smooth=True).estimates,
        "shared": shared,
        "shared, pooled": pooled.estimates,
        "shared, smoothed": pool_class_priors(shared, smooth=True).estimates,
        "shared, referred": pool_class_priors(shared, reference=first).estimates,
        "discounted": [
            estimated(pool_tables(some, unlabeled_discount=1 - own_share))
            for some, own_share in zip(so_far, pooled.own_share, strict=True)
        ],
    }


if __name__ == "__main__":
    main()
