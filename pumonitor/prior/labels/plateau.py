"""The ratio of labeled to unlabeled score densities, with a floor that mistaken labels leave."""

from __future__ import annotations

from collections.abc import Sequence
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

    def part(self, samples: slice) -> PlateauFit:
        """The fits of some of the samples."""
        return PlateauFit(
            parameters=self.parameters[samples],
            floor=self.floor[samples],
            likelihood=self.likelihood[samples],
        )

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
    kappa = (1 - b) / (1 - a). `floor` holds kappa fixed, one value per sample, as many for each fit
    of `near`, where their search begins.
    """
    if floor is not None and near is not None:
        each = len(labeled) // len(near.parameters)
        of = np.repeat(np.arange(len(near.parameters)), each)
        return _maximised(near.parameters[of], centres, labeled, unlabeled, floor=floor, of=of)
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
        of=np.tile(np.arange(samples), number),
    )
    chosen = np.argmax(fit.likelihood.reshape(number, samples), axis=0) * samples
    chosen = chosen + np.arange(samples)
    return PlateauFit(
        parameters=fit.parameters[chosen],
        floor=fit.floor[chosen],
        likelihood=fit.likelihood[chosen],
    )


def _parts(
    parameters: FloatArray, centres: FloatArray, floor: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Ratio g / u, and what it is made of: kappa, 1 / (a + e^-s) and e^-s."""
    prior = special.expit(parameters[:, :1])
    kappa = special.expit(parameters[:, 4:5]) if floor is None else floor[:, np.newaxis]
    # In place from here on: the arrays are large, and most of the time goes into their memory.
    falling = parameters[:, 2:3] * centres
    falling += parameters[:, 1:2]
    falling += parameters[:, 3:4] * centres**2
    np.minimum(np.maximum(falling, -30.0, out=falling), 30.0, out=falling)
    np.exp(np.negative(falling, out=falling), out=falling)
    pure = prior + falling
    np.divide(1.0, pure, out=pure)
    ratio = (1 - kappa) * pure
    ratio += kappa
    return ratio, kappa, pure, falling


def _slopes(
    parameters: FloatArray,
    centres: FloatArray,
    ratio: FloatArray,
    kappa: FloatArray,
    pure: FloatArray,
    falling: FloatArray,
) -> FloatArray:
    """Of the logarithm of the ratio, shape (samples, bins, parameters)."""
    prior = special.expit(parameters[:, :1])
    steep = (1 - kappa) * pure**2
    rising = steep * falling
    each = [-steep * prior * (1 - prior), rising, rising * centres, rising * centres**2]
    if parameters.shape[1] == 5:
        each.append((1 - pure) * kappa * (1 - kappa))
    slopes = np.empty((*ratio.shape, len(each)))
    for number, slope in enumerate(each):
        np.divide(slope, ratio, out=slopes[..., number])
    return slopes


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows per bin of some samples, with what each step needs of them.

    Attributes
    ----------
    labeled, both : ndarray of shape (samples, bins)
        Labeled rows, and all.
    labels, others : ndarray of shape (samples, 1)
        Labeled rows, and unlabeled ones, of all bins.
    """

    labeled: FloatArray
    both: FloatArray
    labels: FloatArray
    others: FloatArray

    @classmethod
    def of(cls, labeled: FloatArray, unlabeled: FloatArray) -> _Rows:
        return cls(
            labeled,
            labeled + unlabeled,
            labeled.sum(axis=1, keepdims=True),
            unlabeled.sum(axis=1, keepdims=True),
        )

    def __getitem__(self, chosen: NDArray[np.bool_]) -> _Rows:
        return _Rows(
            self.labeled[chosen], self.both[chosen], self.labels[chosen], self.others[chosen]
        )


def _log_likelihood(ratio: FloatArray, rows: _Rows, penalty: FloatArray) -> FloatArray:
    """Of the labels given the bins: labeled with odds n_L ratio / n_U."""
    odds = ratio * rows.labels
    odds /= rows.others
    likely = np.log(odds)
    likely *= rows.labeled
    np.log1p(odds, out=odds)
    odds *= rows.both
    likely -= odds
    return np.asarray(np.add.reduce(likely, axis=1) - penalty)


def _maximised(
    parameters: FloatArray,
    centres: FloatArray,
    labeled: FloatArray,
    unlabeled: FloatArray,
    *,
    floor: FloatArray | None,
    of: NDArray[np.intp],
) -> PlateauFit:
    """Levenberg-damped Fisher scoring, each sample with its own damping.

    Those with the same number in `of` are searched for until all of them have settled; what is
    found does not depend on what else is searched for at once.
    """
    precision = _PRECISION if floor is not None else np.append(_PRECISION, _FLOOR_PRECISION)
    found, kappa = parameters.copy(), floor
    moving, rows = np.arange(len(found)), _Rows.of(labeled, unlabeled)
    parts = _parts(found, centres, kappa)
    value = _log_likelihood(parts[0], rows, 0.5 * found**2 @ precision)
    score, information = _score_and_information(found, centres, parts, rows, precision)
    damping = np.full(len(found), 1e-2)
    for _ in range(_STEPS):
        step = _step(score[moving], information[moving], damping[moving], precision)
        proposed = found[moving] + np.minimum(np.maximum(step, -2.0), 2.0)
        parts = _parts(proposed, centres, kappa)
        proposed_value = _log_likelihood(parts[0], rows, 0.5 * proposed**2 @ precision)
        better = proposed_value > value[moving]
        gain = np.where(better, proposed_value - value[moving], 0.0)
        before = damping[moving]
        damping[moving] = now = np.where(better, before / 5, np.minimum(before * 5, 1e6))
        if better.any():
            up, of_better = moving[better], [part[better] for part in parts]
            found[up], value[up] = proposed[better], proposed_value[better]
            score[up], information[up] = _score_and_information(
                found[up], centres, of_better, rows[better], precision
            )
        goes_on = np.zeros(of[-1] + 1, dtype=bool)
        goes_on[of[moving[(gain >= 1e-7) | ~(better | (now > 1e3))]]] = True
        # A step refused at the greatest damping would be proposed again for ever.
        moves = (better | (now != before)) & goes_on[of[moving]]
        if not moves.any():
            break
        if not moves.all():
            moving, rows = moving[moves], rows[moves]
            kappa = None if kappa is None else kappa[moves]
    kappa = np.asarray(special.expit(found[:, 4])) if floor is None else floor
    return PlateauFit(parameters=found[:, :4], floor=kappa, likelihood=value)


def _score_and_information(
    parameters: FloatArray,
    centres: FloatArray,
    parts: Sequence[FloatArray],
    rows: _Rows,
    precision: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Slope of the penalised log-likelihood, and Fisher's information without the penalty."""
    slopes = _slopes(parameters, centres, *parts)
    odds = rows.labels / rows.others * parts[0]
    chance = odds / (1 + odds)
    excess = (rows.labeled - rows.both * chance)[:, np.newaxis]
    weighed = slopes * (rows.both * chance * (1 - chance))[..., np.newaxis]
    score = (excess @ slopes)[:, 0] - parameters * precision
    return score, weighed.swapaxes(1, 2) @ slopes


def _step(
    score: FloatArray, information: FloatArray, damping: FloatArray, precision: FloatArray
) -> FloatArray:
    """Towards the maximum, as far as Levenberg's damping lets it go; changes `information`."""
    diagonal = np.einsum("spp->sp", information)
    diagonal += damping[:, np.newaxis] * diagonal + precision + 1e-9
    return np.asarray(np.linalg.solve(information, score[..., np.newaxis])[..., 0])
