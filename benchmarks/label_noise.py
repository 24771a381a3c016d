"""Label purity and its evidence, and AlphaMax-N: `python -m benchmarks.label_noise`.

Clean labels on several shapes of score distributions, then a share of labels drawn from negatives.
AlphaMax-N has no test of its own: it is taken to see noise when its purity is below the 2% quantile
of its purities on clean labels of the same size, over all AUCs and shapes whose density ratio
falls to 0.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from pumonitor import ScoreTable
from pumonitor.prior import TwoSamples
from pumonitor.prior.estimators.alphamax import alphamax_n
from pumonitor.prior.labels.label_noise import estimate_label_purity

__all__ = ["SHAPES", "draw_scores"]

FloatArray = NDArray[np.float64]

SHAPES = ("normal", "narrow", "skewed", "mixed", "wide", "logistic")
_FALLING = ("normal", "narrow", "skewed", "mixed")
_AUCS = (0.65, 0.8, 0.92, 0.98)


def draw_scores(
    positive: NDArray[np.bool_], *, shape: str, auc: float, rng: np.random.Generator
) -> FloatArray:
    """Scores of positives and negatives.

    ``normal``, ``narrow`` (positives' standard deviation 0.7), ``skewed`` (gamma against
    exponential), ``mixed`` (half of the positives hard): the ratio of positive to negative
    density falls to 0 at low scores, for ``mixed`` slowly. ``logistic``: it levels off. ``wide``
    (standard deviation 1.3): it rises again.
    """
    noise = rng.normal(size=len(positive))
    distance = float(stats.norm.ppf(auc)) * np.sqrt(2)
    if shape in ("narrow", "wide"):
        spread = 0.7 if shape == "narrow" else 1.3
        moved = spread * noise + distance * np.sqrt((1 + spread**2) / 2)
        return np.where(positive, moved, noise)
    if shape == "skewed":
        gamma = rng.gamma(-np.log2(1 - auc), size=len(positive))
        return np.where(positive, gamma, rng.exponential(size=len(positive)))
    if shape == "mixed":
        easy = rng.random(len(positive)) < 0.5
        return noise + distance * positive * np.where(easy, 1.4, 0.7)
    if shape == "logistic":
        return rng.logistic(size=len(positive)) + 1.7 * distance * positive
    return noise + distance * positive


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    labeled: int
    shape: str
    auc: float
    label_purity: float
    unlabeled_prior: float

    def run(self, seeds: int) -> FloatArray:
        """Per seed: evident or not, purity of the plateau fit, whether covered, AlphaMax-N's."""
        return np.array([self._once(seed) for seed in range(seeds)])

    def _once(self, seed: int) -> tuple[float, float, float, float]:
        rng = np.random.default_rng([seed, self.labeled, round(100 * self.auc)])
        rows = 10 * self.labeled
        positive = np.concatenate(
            [rng.random(self.labeled) < self.label_purity, rng.random(rows) < self.unlabeled_prior]
        )
        scores = draw_scores(positive, shape=self.shape, auc=self.auc, rng=rng)
        table = ScoreTable.from_arrays(np.repeat([1, 0], [self.labeled, rows]), scores)
        found = estimate_label_purity(table, scenario="case-control")
        held = found.low <= self.label_purity <= found.high
        other = alphamax_n(TwoSamples.from_table(table.compress(512))).label_purity[0]
        return float(found.is_evident), found.best_fit, float(held), float(other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--labeled", type=int, nargs="*", default=[100, 300, 1000])
    arguments = parser.parse_args()
    print("labeled shape     AUC  purity  evident median covers   error | AlphaMax-N sees  error")
    for labeled in arguments.labeled:
        clean = {
            (shape, auc): _both_priors(labeled, shape, auc, 1.0, arguments.seeds)
            for shape, auc in itertools.product(SHAPES, _AUCS)
        }
        falling = np.concatenate([runs[:, 3] for key, runs in clean.items() if key[0] in _FALLING])
        limit = float(np.quantile(falling, 0.02))
        for (shape, auc), runs in clean.items():
            _print(labeled, shape, auc, 1.0, runs, limit)
        rate = np.mean(
            np.concatenate([runs[:, 0] for key, runs in clean.items() if key[0] in _FALLING])
        )
        print(f"{labeled:7d} clean labels, ratio falling to 0: evident in {100 * rate:.1f}%")
        for shape, auc, purity in itertools.product(
            ("normal", "skewed"), _AUCS[1:], (0.95, 0.9, 0.75)
        ):
            runs = _both_priors(labeled, shape, auc, purity, arguments.seeds)
            _print(labeled, shape, auc, purity, runs, limit)


def _both_priors(labeled: int, shape: str, auc: float, purity: float, seeds: int) -> FloatArray:
    return np.concatenate(
        [
            _Case(
                labeled=labeled, shape=shape, auc=auc, label_purity=purity, unlabeled_prior=prior
            ).run(seeds)
            for prior in (0.02, 0.2)
        ]
    )


def _print(
    labeled: int, shape: str, auc: float, purity: float, runs: FloatArray, limit: float
) -> None:
    error = np.abs(runs[:, [1, 3]] - purity).mean(axis=0)
    print(
        f"{labeled:7d} {shape:8s} {auc:5.2f} {purity:6.2f}  {runs[:, 0].mean():7.2f} "
        f"{np.median(runs[:, 1]):6.3f} {runs[:, 2].mean():6.2f} {error[0]:7.3f} | "
        f"{np.mean(runs[:, 3] < limit):15.2f} {error[1]:6.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
