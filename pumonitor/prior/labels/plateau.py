"""The ratio of labeled to unlabeled score densities, with a floor that mistaken labels leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["PlateauFit", "fit_clean", "fit_noisy"]

FloatArray = NDArray[np.float64]

_STEPS = 100
_PRIOR_STARTS = (0.02, 0.3)
_FLOOR_STARTS = (0.02, 0.2)

# Penalties on (logit a, b0, b1, b2) as precisions, and on the logit of the floor: the curvature b2
# has standard deviation 1 on the scale of normal scores, the others are just kept finite.
_PRECISION = np.array([2e-3, 0.0, 2e-3, 1.0])
_FLOOR_PRECISION = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlateauFit:
    """Maximum of the penalised likelihood, one per sample.

    Attributes
    ----------
    parameters : ndarray of shape (samples, 4)
        logit a, b0, b1, b2.
    floor : ndarray of shape (samples,)
        kappa, 0 in the clean model.
    likelihood : ndarray of shape (samples,)
    """

    parameters: FloatArray
    floor: FloatArray
    likelihood: FloatArray

    @property
    def unlabeled_prior(self) -> FloatArray:
        """The parameter a of each sample."""
        return np.asarray(special.expit(self.parameters[:, 0]))


def fit_clean(centres: FloatArray, labeled: FloatArray, unlabeled: FloatArray) -> PlateauFit:
    """The model in which the ratio falls to 0 at low scores: g / u = 1 / (a + e^-s).

    s = b0 + b1 z + b2 z^2 is the log ratio of positive to negative density at normal score z, up
    to a constant.

    Parameters
    ----------
    centres : ndarray of shape (bins,)
    labeled, unlabeled : ndarray of shape (samples, bins)
        (Effective) rows per bin.
    """
    starts = [_start(prior, len(labeled)) for prior in _PRIOR_STARTS]
    floor = np.zeros(len(starts) * len(labeled))
    return _best(starts, centres, labeled, unlabeled, floor=floor)


def fit_noisy(
    centres: FloatArray,
    labeled: FloatArray,
    unlabeled: FloatArray,
    *,
    near: PlateauFit | None = None,
    floor: FloatArray | None = None,
) -> PlateauFit:
    """The model with a floor: g / u = kappa + (1 - kappa) / (a + e^-s), the rest as `fit_clean`.

    Of labeled rows a share b is positive, of unlabeled ones a. The labeled density is then
    kappa times the unlabeled one plus 1 - kappa times that of positives, with
    kappa = (1 - b) / (1 - a). `floor` holds kappa fixed, one value per sample, the search then
    begins at the first fit of `near`.
    """
    if floor is not None and near is not None:
        start = np.repeat(near.parameters[:1], len(labeled), axis=0)
        return _maximised(start, centres, labeled, unlabeled, floor=floor)
    starts = [
        np.column_stack([_start(prior, len(labeled)), np.full(len(labeled), special.logit(lowest))])
        for prior in _PRIOR_STARTS
        for lowest in _FLOOR_STARTS
    ]
    return _best(starts, centres, labeled, unlabeled, floor=None)


def _start(prior: float, samples: int) -> FloatArray:
    return np.tile(np.array([special.logit(prior), 0.0, 1.5, 0.0]), (samples, 1))


def _best(
    starts: list[FloatArray],
    centres: FloatArray,
    labeled: FloatArray,
    unlabeled: FloatArray,
    *,
    floor: FloatArray | None,
) -> PlateauFit:
    """Of each sample the start that comes highest; all are searched from at once."""
    samples, number = len(labeled), len(starts)
    fit = _maximised(
        np.concatenate(starts),
        centres,
        np.tile(labeled, (number, 1)),
        np.tile(unlabeled, (number, 1)),
        floor=floor,
    )
    chosen = np.argmax(fit.likelihood.reshape(number, samples), axis=0) * samples
    chosen = chosen + np.arange(samples)
    return PlateauFit(
        parameters=fit.parameters[chosen],
        floor=fit.floor[chosen],
        likelihood=fit.likelihood[chosen],
    )


def _ratio_and_slopes(
    parameters: FloatArray, centres: FloatArray, floor: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Ratio g / u, shape (samples, bins), and the slopes of its logarithm in the parameters."""
    prior = special.expit(parameters[:, :1])
    exponent = parameters[:, 1:2] + parameters[:, 2:3] * centres + parameters[:, 3:4] * centres**2
    falling = np.exp(-np.clip(exponent, -30.0, 30.0))
    kappa = special.expit(parameters[:, 4:5]) if floor is None else floor[:, np.newaxis]
    pure = 1 / (prior + falling)
    ratio = kappa + (1 - kappa) * pure
    steep = (1 - kappa) * pure**2
    slopes = [
        -steep * prior * (1 - prior),
        steep * falling,
        steep * falling * centres,
        steep * falling * centres**2,
    ]
    if floor is None:
        slopes.append((1 - pure) * kappa * (1 - kappa))
    return ratio, np.stack(slopes, axis=2) / ratio[..., np.newaxis]


def _log_likelihood(
    ratio: FloatArray, labeled: FloatArray, unlabeled: FloatArray, penalty: FloatArray
) -> FloatArray:
    """Of the labels given the bins: labeled with odds n_L ratio / n_U."""
    odds = ratio * labeled.sum(axis=1, keepdims=True) / unlabeled.sum(axis=1, keepdims=True)
    return np.asarray(
        np.sum(labeled * np.log(odds) - (labeled + unlabeled) * np.log1p(odds), axis=1) - penalty
    )


def _maximised(
    parameters: FloatArray,
    centres: FloatArray,
    labeled: FloatArray,
    unlabeled: FloatArray,
    *,
    floor: FloatArray | None,
) -> PlateauFit:
    """Levenberg-damped Fisher scoring, each sample with its own damping."""
    precision = _PRECISION if floor is not None else np.append(_PRECISION, _FLOOR_PRECISION)
    rows = labeled + unlabeled
    size = labeled.sum(axis=1, keepdims=True) / unlabeled.sum(axis=1, keepdims=True)

    def evaluated(at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        ratio, slopes = _ratio_and_slopes(at, centres, floor)
        penalty = 0.5 * at**2 @ precision
        return _log_likelihood(ratio, labeled, unlabeled, penalty), ratio, slopes

    damping = np.full(len(parameters), 1e-2)
    value, ratio, slopes = evaluated(parameters)
    for _ in range(_STEPS):
        chance = size * ratio / (1 + size * ratio)
        excess = (labeled - rows * chance)[:, np.newaxis]
        score = (excess @ slopes)[:, 0] - parameters * precision
        weighed = slopes * (rows * chance * (1 - chance))[..., np.newaxis]
        damped = weighed.swapaxes(1, 2) @ slopes
        diagonal = np.einsum("spp->sp", damped).copy()
        np.einsum("spp->sp", damped)[:] += damping[:, np.newaxis] * diagonal + precision + 1e-9
        step = np.linalg.solve(damped, score[..., np.newaxis])[..., 0]
        proposed = parameters + np.clip(step, -2.0, 2.0)
        proposed_value, proposed_ratio, proposed_slopes = evaluated(proposed)
        better = proposed_value > value
        gain = np.where(better, proposed_value - value, 0.0)
        parameters = np.where(better[:, np.newaxis], proposed, parameters)
        ratio = np.where(better[:, np.newaxis], proposed_ratio, ratio)
        slopes = np.where(better[:, np.newaxis, np.newaxis], proposed_slopes, slopes)
        value = np.maximum(proposed_value, value)
        damping = np.where(better, damping / 5, np.minimum(damping * 5, 1e6))
        if gain.max() < 1e-7 and (better | (damping > 1e3)).all():
            break
    kappa = np.asarray(special.expit(parameters[:, 4])) if floor is None else floor
    return PlateauFit(parameters=parameters[:, :4], floor=kappa, likelihood=value)
