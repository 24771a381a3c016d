"""How soon anybody could tell a class prior that doubles or halves from labels that do.

`python -m benchmarks.prior_over_time.oracle [--seeds 20] [--labels 20]`. The oracle knows what no
method can: where positives and negatives score, to the last row of the pool; the class prior and
the label frequency before; that one of them doubles or halves or that nothing happens, and how
often that is (.01 a window each). What is left to find out is which, and when: the posterior of
these five courses by all scores and labels of the windows. Printed is the share of runs in which
the chance that the class prior has changed is above .8 twice running, as the monitor asks for,
within five windows of the change and at any time; and, within five windows, above what only 2% of
the runs whose class prior stays ever exceed. A method that knows less and sees more has more false
alarms.
"""

from __future__ import annotations

import argparse
from typing import Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from scipy import special

from benchmarks.detection.tables import show
from benchmarks.prior_over_time.pools import Pool, real_pools, synthetic_pools
from benchmarks.prior_over_time.runs import drawn
from benchmarks.prior_over_time.streams import CHANGED_FROM, REFERENCE, Stream
from pumonitor.monitor.rules.alerts.prior_shift import LEAST_ODDS

FloatArray = NDArray[np.float64]

_SCENARIOS: Final = ("prior x2", "prior x1/2", "label frequency halves", "nothing")
_FACTORS: Final = ((1.0, 1.0), (2.0, 1.0), (0.5, 1.0), (1.0, 2.0), (1.0, 0.5))
"""Of the class prior and of the label frequency; nothing first."""
_HAZARD: Final = 0.01
_SURE: Final = LEAST_ODDS / (1 + LEAST_ODDS)
_FALSE_ALARMS: Final = 0.02
_EMPTY: Final = 1e-6


def chances(pool: Pool, stream: Stream, label_frequency: float) -> FloatArray:
    """That the class prior has changed, after each window that follows the reference."""
    scores = pool.scores["as it was"]
    edges = np.unique(
        np.concatenate(
            [
                np.quantile(scores[pool.is_positive], np.linspace(0, 1, 41)[1:-1]),
                np.quantile(scores[~pool.is_positive], np.linspace(0, 1, 61)[1:-1]),
            ]
        )
    )
    cell, size = np.searchsorted(edges, scores, side="right"), len(edges) + 1
    positives, negatives = (
        _density(np.bincount(cell[which], minlength=size))
        for which in (pool.is_positive, ~pool.is_positive)
    )
    class_prior = float(stream.class_prior[0])
    factors = [one for one in _FACTORS if one[1] * label_frequency <= 1]
    begins = np.full((len(factors), len(factors)), 0.0)
    np.fill_diagonal(begins, 1.0)
    begins[0] = _HAZARD
    begins[0, 0] = 1 - _HAZARD * (len(factors) - 1)
    changed = np.array([prior != 1.0 for prior, _ in factors])
    log_weight = np.where(np.arange(len(factors)) == 0, 0.0, -np.inf)
    found = []
    for rows, labeled in zip(stream.rows[REFERENCE:], stream.confirmed[REFERENCE:], strict=True):
        confirmed = np.bincount(cell[rows[labeled]], minlength=size)
        others = np.bincount(cell[rows[~labeled]], minlength=size)
        told = []
        for of_prior, of_frequency in factors:
            prior, frequency = class_prior * of_prior, label_frequency * of_frequency
            unlabeled = prior * (1 - frequency) * positives + (1 - prior) * negatives
            told.append(
                confirmed @ np.log(prior * frequency * positives) + others @ np.log(unlabeled)
            )
        with np.errstate(divide="ignore"):
            log_weight = special.logsumexp(log_weight[:, np.newaxis] + np.log(begins), axis=0)
        log_weight += np.array(told)
        log_weight -= special.logsumexp(log_weight)
        found.append(np.exp(log_weight)[changed].sum())
    return np.array(found)


def _density(counts: NDArray[np.int_]) -> FloatArray:
    kept = counts + _EMPTY
    return np.asarray(kept / kept.sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--labels", type=int, default=20)
    arguments = parser.parse_args()
    pools = [*real_pools(), *synthetic_pools()]
    soon, ever = np.zeros((2, len(_SCENARIOS), len(pools), arguments.seeds))
    for at, scenario in enumerate(track(_SCENARIOS)):
        for place, pool in enumerate(pools):
            for seed in range(arguments.seeds):
                stream, frequency, _ = drawn(
                    pool, scenario, place=place, seed=seed, labels=arguments.labels
                )
                found = chances(pool, stream, frequency)
                twice = np.minimum(found[1:], found[:-1])
                since = CHANGED_FROM - REFERENCE
                soon[at, place, seed] = twice[since - 1 : since + 4].max()
                ever[at, place, seed] = twice.max()
    stays = np.array(["prior" not in one for one in _SCENARIOS])
    rare = np.quantile(ever[stays], 1 - _FALSE_ALARMS)
    show(
        f"What an oracle sees, {arguments.labels} confirmed a window",
        ("scenario", "in five", "ever", "in five at 2%", *(pool.name for pool in pools)),
        [
            [
                scenario,
                f"{(soon[at] > _SURE).mean():.2f}",
                f"{(ever[at] > _SURE).mean():.2f}",
                f"{(soon[at] > rare).mean():.2f}",
                *(f"{one:.2f}" for one in (soon[at] > _SURE).mean(axis=1)),
            ]
            for at, scenario in enumerate(_SCENARIOS)
        ],
    )


if __name__ == "__main__":
    main()
