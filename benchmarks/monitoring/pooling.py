"""Class priors of small windows with those before them: `python -m benchmarks.monitoring.pooling`.

24 windows of 4000 rows, positives N(2, 1) and negatives N(0, 1). Until the last six, nothing
changes; then the prior of .1 stays, drifts (all along: a step of .01 of its arcsine root per
window), jumps from .05 to .15, or stays while positives come to score N(1.4, 1). Mean absolute
error, bias, coverage and width of 95% intervals in these last six windows, of

- own: the window's own estimate (`auto`);
- pooled: `pooled_class_prior` of these, which the monitor uses;
- shared: the window with the labeled rows of all before it (`pool_tables`);
- shared, pooled: both.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

from pumonitor.monitoring.pooling import EarlierPrior, pooled_class_prior
from pumonitor.prior import estimate_from_table, pool_tables
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable

COURSES = ("constant", "drift", "jump", "ranking")
WINDOWS, CHANGED, ROWS = 24, 6, 4000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--labeled", type=int, nargs="+", default=[20, 60, 300])
    arguments = parser.parse_args()
    print("labeled course   route          | error  bias    coverage width")
    for labeled, course in itertools.product(arguments.labeled, COURSES):
        rows: dict[str, list[list[float]]] = {}
        for seed in range(arguments.seeds):
            rng = np.random.default_rng([seed, labeled, COURSES.index(course)])
            priors, tables = _windows(course, labeled, rng)
            for route, estimates in _routes(tables).items():
                for found, prior in zip(estimates[-CHANGED:], priors[-CHANGED:], strict=True):
                    error = found.value - prior
                    held = found.low <= prior <= found.high
                    rows.setdefault(route, []).append(
                        [abs(error), error, held, found.high - found.low]
                    )
        for route, of_route in rows.items():
            error, bias, held, width = np.mean(of_route, axis=0)
            print(
                f"{labeled:7d} {course:8s} {route:14s} | "
                f"{error:.4f} {bias:+.4f} {held:.3f}    {width:.4f}",
                flush=True,
            )


def _windows(
    course: str, labeled: int, rng: np.random.Generator
) -> tuple[list[float], list[ScoreTable]]:
    before = np.arange(WINDOWS) < WINDOWS - CHANGED
    priors = np.full(WINDOWS, 0.1)
    if course == "drift":
        root = np.arcsin(np.sqrt(0.1)) + np.cumsum(rng.normal(0.0, 0.01, WINDOWS))
        priors = np.sin(root) ** 2
    if course == "jump":
        priors = np.where(before, 0.05, 0.15)
    shifts = np.where(before | (course != "ranking"), 2.0, 1.4)
    frequency = min(labeled / (ROWS * priors.mean()), 1.0)
    tables = [
        _window(prior, shift, frequency, rng)
        for prior, shift in zip(priors.tolist(), shifts.tolist(), strict=True)
    ]
    return priors.tolist(), tables


def _window(prior: float, shift: float, frequency: float, rng: np.random.Generator) -> ScoreTable:
    positive = rng.random(ROWS) < prior
    labels = positive & (rng.random(ROWS) < frequency)
    return ScoreTable.from_arrays(labels, rng.normal(shift * positive)).compress(2048)


def _routes(tables: list[ScoreTable]) -> dict[str, list[ClassPriorEstimate]]:
    own = [estimate_from_table(table) for table in tables]
    shared = [estimate_from_table(pool_tables(tables[: at + 1])) for at in range(len(tables))]
    return {
        "own": own,
        "pooled": _pooled(own),
        "shared": shared,
        "shared, pooled": _pooled(shared),
    }


def _pooled(estimates: list[ClassPriorEstimate]) -> list[ClassPriorEstimate]:
    found = []
    for at, own in enumerate(estimates):
        earlier = [
            EarlierPrior(index=index, estimate=one) for index, one in enumerate(estimates[:at])
        ]
        pooled = pooled_class_prior(own, index=at, earlier=earlier)
        assert pooled is not None
        found.append(pooled)
    return found


if __name__ == "__main__":
    main()
