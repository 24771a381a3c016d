"""Samples drawn from a smooth model in which the unlabeled prior is known.

A bootstrap of the data themselves tells the spread of an estimator but not its bias, which for
estimators of a minimum or a maximum is the larger part. Drawing from a fitted mixture whose
unlabeled prior is known tells both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pumonitor.prior.tilt import fit_tilt
from pumonitor.prior.two_samples import TwoSamples

__all__ = ["model_resamples"]

FloatArray = NDArray[np.float64]


def model_resamples(
    sample: TwoSamples, *, size: int, rng: np.random.Generator
) -> tuple[float, TwoSamples]:
    """The unlabeled prior of the fitted tilt mixture, and samples drawn from that mixture.

    The pooled rows of each cell are split by the fitted probability of being labeled: positives
    and mixture then follow the model, while their pooled distribution is the data's own.
    """
    fit = fit_tilt(sample)
    pooled = 0.5 * (sample.labeled[0] + sample.unlabeled[0])
    rank = np.cumsum(pooled) - 0.5 * pooled
    rank_of_bin = np.cumsum(0.5 * (fit.labeled[0] + fit.unlabeled[0]))
    ratio = np.interp(rank, rank_of_bin - 0.5 * np.diff(rank_of_bin, prepend=0.0), fit.ratio[0])
    rows = sample.labeled[0] * sample.n_labeled + sample.unlabeled[0] * sample.n_unlabeled
    chance = 1 / (1 + sample.n_unlabeled / sample.n_labeled * ratio)
    labeled, unlabeled = rows * chance, rows * (1 - chance)
    drawn = sample.drawn_from(
        labeled / labeled.sum(), unlabeled / unlabeled.sum(), size=size, rng=rng
    )
    return float(fit.unlabeled_prior[0]), drawn
