"""Samples drawn from smooth models in which the unlabeled prior is known.

A bootstrap of the data themselves tells the spread of an estimator but not its bias, which for
estimators of a minimum or a maximum is the larger part. Drawing from mixtures whose unlabeled
prior is known tells both. The mixtures are those that the data leave possible, not one fit alone:
how the density ratio bends where it matters is mostly unknown, and is drawn too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.prior.tilt import fit_tilt
from pumonitor.prior.two_samples import TwoSamples

__all__ = ["model_resamples"]

FloatArray = NDArray[np.float64]


def model_resamples(
    sample: TwoSamples, *, size: int, rng: np.random.Generator
) -> tuple[FloatArray, TwoSamples]:
    """Unlabeled priors of tilt mixtures that fit the data, and a sample drawn from each.

    The pooled rows of each cell are split by the modelled probability of being labeled: positives
    and mixture then follow the model, while their pooled distribution is the data's own.
    """
    fit = fit_tilt(sample)
    binned = np.stack([fit.labeled[0] * sample.n_labeled, fit.unlabeled[0] * sample.n_unlabeled])
    parameters = fit.parameter_draws(binned, size=size, rng=rng)
    pooled = 0.5 * (sample.labeled[0] + sample.unlabeled[0])
    rank = np.cumsum(pooled) - 0.5 * pooled
    pooled_bins = 0.5 * (fit.labeled[0] + fit.unlabeled[0])
    rank_of_bin = np.cumsum(pooled_bins) - 0.5 * pooled_bins
    ratio = np.stack([np.interp(rank, rank_of_bin, row) for row in fit.ratio(parameters)])
    rows = sample.labeled[0] * sample.n_labeled + sample.unlabeled[0] * sample.n_unlabeled
    chance = 1 / (1 + sample.n_unlabeled / sample.n_labeled * ratio)
    labeled, unlabeled = rows * chance, rows * (1 - chance)
    drawn = sample.drawn_from(
        labeled / labeled.sum(axis=1, keepdims=True),
        unlabeled / unlabeled.sum(axis=1, keepdims=True),
        size=size,
        rng=rng,
    )
    return np.asarray(special.expit(parameters[:, 0])), drawn
