"""Weekly windows of models that hardly rank: what pooling narrowed around the wrong place.

`python -m benchmarks.prior_over_time.weak_models [--seeds N]`. Scores of casp and of simulated
normals with noise until the AUC is .7, class prior .16, a fifth of the positives confirmed, some 20
a week; nothing changes. Twelve weeks are the reference.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.detection.tables import show
from benchmarks.prior_over_time.methods import FILTERS, PEERS, Followed, Prepared
from benchmarks.prior_over_time.pools import Pool, real_pools, synthetic_pools
from benchmarks.prior_over_time.streams import REFERENCE, counted, draw
from pumonitor.prior.over_time import auc_against_all

FloatArray = NDArray[np.float64]

_AUC = 0.7
_METHODS = ("scores only", "prior given once", "auto of each window", "auto, pooled")
_CLASS_PRIOR = 0.16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    pools = [one for one in [*real_pools(), *synthetic_pools()] if one.name in ("casp", "normals")]
    rows = []
    for place, pool in enumerate(map(_weakened, pools)):
        runs = [_prepared(pool, place, seed) for seed in range(seeds)]
        rows += [
            [pool.name, name, *_figures([_METHOD[name](run) for run in runs])] for name in _METHODS
        ]
    columns = ("scores", "method", "runs", "covered", "mean error", "mean size of error", "width")
    show(f"AUC {_AUC:g}, class prior {_CLASS_PRIOR:g}, 20 confirmed a week", columns, rows)


_METHOD: dict[str, Callable[[Prepared], Followed]] = {**FILTERS, **PEERS}


def _prepared(pool: Pool, place: int, seed: int) -> Prepared:
    rng = np.random.default_rng([seed, place])
    stream = draw(
        pool, "nothing", labels=20, class_prior=_CLASS_PRIOR, label_frequency=0.2, rng=rng
    )
    return Prepared(stream=stream, features_break=False, seed=seed)


def _weakened(pool: Pool) -> Pool:
    """With as much noise in the normal scores of the ranks as it takes."""
    rng = np.random.default_rng(1)
    scores = pool.scores["as it was"]
    ranks = (np.argsort(np.argsort(scores + 1e-9 * rng.normal(size=len(scores)))) + 0.5) / len(
        scores
    )
    noise, signal = rng.normal(size=len(scores)), special.ndtri(ranks)
    low, high = 0.0, 10.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        if _auc(pool, signal + middle * noise) > _AUC:
            low = middle
        else:
            high = middle
    weak = special.expit(signal + low * noise)
    return replace(pool, name=f"{pool.name}, noise", scores=dict.fromkeys(pool.scores, weak))


def _auc(pool: Pool, scores: FloatArray) -> float:
    rows = np.arange(len(scores))
    _, ones, both = counted(*np.unique(scores, return_inverse=True), rows, pool.is_positive)
    share = float(pool.is_positive.mean())
    return (auc_against_all(ones, both) - 0.5 * share) / (1 - share)


def _figures(found: list[Followed]) -> list[str]:
    low, value, high = np.concatenate([one.numbers for one in found]).T
    held = ((low <= _CLASS_PRIOR) & (high >= _CLASS_PRIOR)).mean()
    off = value - _CLASS_PRIOR
    weeks = len(found[0].numbers)
    return [
        f"{len(found)} of {weeks} weeks after {REFERENCE}",
        f"{held:.3f}",
        f"{np.nanmean(off):+.3f}",
        f"{np.nanmean(np.abs(off)):.3f}",
        f"{np.nanmedian(high - low):.3f}",
    ]


if __name__ == "__main__":
    main()
