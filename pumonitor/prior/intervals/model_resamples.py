"""Samples drawn from smooth models in which the unlabeled prior is known.

A bootstrap of the data themselves tells the spread of an estimator but not its bias, which for
estimators of a minimum or a maximum is the larger part. Drawing from mixtures whose unlabeled
prior is known tells both. The mixtures are those that the data leave possible, not one fit alone:
how the density ratio bends where it matters is mostly unknown, and is drawn too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.prior.estimators.tilt import fit_tilt
from pumonitor.prior.samples.feature_samples import FeatureSamples
from pumonitor.prior.samples.two_samples import TwoSamples

FloatArray = NDArray[np.float64]


def model_resamples(
    sample: TwoSamples, *, size: int, rng: np.random.Generator
) -> tuple[FloatArray, TwoSamples]:
    """Unlabeled priors of tilt mixtures that fit the data, and a sample drawn from each.

    The pooled rows of each cell are split by the modelled probability of being labeled: positives
    and mixture then follow the model, while their pooled distribution is the data's own.
    """
    truth, ratio = _ratio_draws(sample, sample.scores, size=size, rng=rng)
    labeled, unlabeled, scale = _split(
        sample.labeled[0] * sample.n_labeled, sample.unlabeled[0] * sample.n_unlabeled, ratio
    )
    drawn = sample.drawn_from(
        labeled / labeled.sum(axis=1, keepdims=True),
        unlabeled / unlabeled.sum(axis=1, keepdims=True),
        size=size,
        rng=rng,
    )
    return np.minimum(scale * truth, 1.0), drawn


def feature_resamples(
    sample: TwoSamples, features: FeatureSamples, *, size: int, rng: np.random.Generator
) -> tuple[FloatArray, TwoSamples]:
    """As `model_resamples`, the rows drawn with their features.

    Rows of equal score are taken to be alike in their features, labeled or not: true of scores
    that hold all the features tell of the class, and else too little told apart, which makes
    estimators err more in the resamples than in the data.
    """
    truth, ratio = _ratio_draws(sample, features.scores, size=size, rng=rng)
    labeled, unlabeled, scale = _split(
        features.labeled[0] * features.n_labeled,
        features.unlabeled[0] * features.n_unlabeled,
        ratio,
    )
    drawn = features.drawn_from(labeled, unlabeled, rng=rng)
    return np.minimum(scale * truth, 1.0), replace(sample, features=drawn)


def _ratio_draws(
    sample: TwoSamples, scores: FloatArray, *, size: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Unlabeled priors, and the density ratio f_u / f_p at the scores, of mixtures that fit."""
    fit = fit_tilt(sample)
    binned = np.stack([fit.labeled[0] * sample.n_labeled, fit.unlabeled[0] * sample.n_unlabeled])
    parameters = fit.parameter_draws(binned, size=size, rng=rng)
    pooled = 0.5 * (sample.labeled[0] + sample.unlabeled[0])
    rank = np.interp(scores, sample.scores, np.cumsum(pooled) - 0.5 * pooled)
    pooled_bins = 0.5 * (fit.labeled[0] + fit.unlabeled[0])
    rank_of_bin = np.cumsum(pooled_bins) - 0.5 * pooled_bins
    ratio = np.stack([np.interp(rank, rank_of_bin, row) for row in fit.ratio(parameters)])
    return np.asarray(special.expit(parameters[:, 0])), ratio


def _split(
    labeled: FloatArray, unlabeled: FloatArray, ratio: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Pooled rows split by the modelled probability of being labeled, given numbers of rows.

    A drawn ratio need not split them into just as many labeled and unlabeled rows as there were.
    The ratio of the two distributions is then the drawn one times a number, which comes third, per
    sample, and the unlabeled prior, what the ratio falls to, is so too.
    """
    odds = unlabeled.sum() / labeled.sum()
    rows = labeled + unlabeled
    own = rows / (1 + odds * ratio)
    others = rows - own
    return own, others, odds * own.sum(axis=1) / others.sum(axis=1)
