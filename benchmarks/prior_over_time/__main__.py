"""The class prior over windows while the world, the labels or the model change.

`python -m benchmarks.prior_over_time [--seeds N] [--labels 20 100] [--peers] [--only SCENARIO]`.

Six feature sets and three synthetic ones, with a model trained on half of each; class priors of .02
to .16 and label frequencies of .1 to .4 are drawn for each run. Twelve windows are the reference,
and from the twenty-sixth on something changes. Before: the thirteen windows between. After: from
five windows after the change on. A shift alarm: the chance that the prior has moved by a quarter is
above .9 twice running.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from benchmarks.detection.tables import show
from benchmarks.prior_over_time.methods import FILTERS, PEERS, Followed
from benchmarks.prior_over_time.pools import Pool, real_pools, synthetic_pools
from benchmarks.prior_over_time.streams import (
    CHANGED_FROM,
    REFERENCE,
    SCENARIOS,
    Stream,
    draw,
)

CHANGE = CHANGED_FROM - REFERENCE
BEFORE, AFTER = slice(0, CHANGE), slice(CHANGE + 5, None)
COLUMNS = (
    "scenario, method",
    "runs",
    "before/truth",
    "after/truth",
    "after/before",
    "covered before",
    "covered after",
    "width/truth after",
    "alarms",
    "seen in 5",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--labels", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--peers", action="store_true", help="today's estimators beside (slow)")
    parser.add_argument("--only", nargs="+", default=list(SCENARIOS), choices=SCENARIOS)
    parser.add_argument("--sets", nargs="+", help="names of feature sets; all by default")
    arguments = parser.parse_args()
    pools = [
        one
        for one in [*real_pools(), *synthetic_pools()]
        if not arguments.sets or one.name in arguments.sets
    ]
    methods = {**FILTERS, **(PEERS if arguments.peers else {})}
    for labels in arguments.labels:
        began = time.process_time()
        rows = []
        for scenario in track(arguments.only, description=f"{labels} confirmed a window"):
            found = _runs(pools, scenario, methods, labels=labels, seeds=arguments.seeds)
            rows += [_row(f"{scenario}: {name}", runs) for name, runs in found.items()]
        show(f"{labels} confirmed a window", COLUMNS, rows)
        print(f"{time.process_time() - began:.0f} s of CPU")


def _runs(
    pools: Sequence[Pool],
    scenario: str,
    methods: Mapping[str, Callable[[Stream, np.random.Generator], Followed]],
    *,
    labels: int,
    seeds: int,
) -> dict[str, list[tuple[Followed, NDArray[np.float64]]]]:
    found: dict[str, list[tuple[Followed, NDArray[np.float64]]]] = {name: [] for name in methods}
    for place, pool in enumerate(pools):
        for seed in range(seeds):
            rng = np.random.default_rng([seed, place, SCENARIOS.index(scenario), labels])
            stream = draw(
                pool,
                scenario,
                labels=labels,
                class_prior=float(rng.choice([0.02, 0.05, 0.1, 0.16])),
                label_frequency=float(rng.choice([0.1, 0.2, 0.4])),
                rng=rng,
            )
            truth = stream.class_prior[REFERENCE:]
            for name, method in methods.items():
                found[name].append((method(stream, rng), truth))
    return found


def _row(name: str, runs: Sequence[tuple[Followed, NDArray[np.float64]]]) -> list[str]:
    value = np.array([one.numbers[:, 1] for one, _ in runs])
    low = np.array([one.numbers[:, 0] for one, _ in runs])
    high = np.array([one.numbers[:, 2] for one, _ in runs])
    truth = np.array([of for _, of in runs])
    held = (low <= truth) & (truth <= high)
    relative = np.median(value[:, AFTER], axis=1) / np.median(value[:, BEFORE], axis=1)
    twice = np.array([(one.moved[1:] > 0.9) & (one.moved[:-1] > 0.9) for one, _ in runs])
    soon = twice[:, CHANGE - 1 : CHANGE + 5].any(axis=1)
    return [
        name,
        f"{len(runs)}",
        f"{np.median(value[:, BEFORE] / truth[:, BEFORE]):.2f}",
        f"{np.median(value[:, AFTER] / truth[:, AFTER]):.2f}",
        f"{np.median(relative):.2f}",
        f"{held[:, BEFORE].mean():.3f}",
        f"{held[:, AFTER].mean():.3f}",
        f"{np.median((high - low)[:, AFTER] / truth[:, AFTER]):.2f}",
        f"{twice.any(axis=1).mean():.3f}",
        f"{soon.mean():.3f}",
    ]


if __name__ == "__main__":
    main()
