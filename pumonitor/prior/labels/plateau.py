"""The ratio of labeled to unlabeled score densities, with a floor that mistaken labels leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray

Parts = Sequence[FloatArray]

_STEPS = 100
# Steps that gain less than this are near a maximum, and a sample has settled below that.
_NEAR, _SETTLED = 1.0, 1e-7
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
        begin = np.repeat(near.parameters, len(labeled) // len(near.parameters), axis=0)
        fit = _maximised(begin, centres, labeled, unlabeled, floor=floor)
        return _from_neighbours(fit, len(near.parameters), centres, labeled, unlabeled)
    starts = [
        np.column_stack([_start(prior, len(labeled)), np.full(len(labeled), special.logit(lowest))])
        for prior in _PRIOR_STARTS
        for lowest in _FLOOR_STARTS
    ]
    return _best(starts, centres, labeled, unlabeled, floor=None)


def _from_neighbours(
    fit: PlateauFit, samples: int, centres: FloatArray, labeled: FloatArray, unlabeled: FloatArray
) -> PlateauFit:
    """Search again where the maximum of the next floor, above or below, is a better start.

    A search that ended at a lower maximum than its neighbours would end the interval too early.
    """
    parameters, likelihood = fit.parameters.copy(), fit.likelihood.copy()
    places = np.arange(len(likelihood)).reshape(samples, -1)
    upwards, downwards = (places[:, :-1], places[:, 1:]), (places[:, 1:], places[:, :-1])
    for _ in range(places.shape[1]):
        any_better = False
        for from_, to in (upwards, downwards):
            starts, here = parameters[from_.ravel()], to.ravel()
            rows = _Rows.of(labeled[here], unlabeled[here])
            ratio = _parts(starts, centres, fit.floor[here])[0]
            reached = _log_likelihood(ratio, rows, 0.5 * starts**2 @ _PRECISION)
            is_better = reached > likelihood[here] + _SETTLED
            if is_better.any():
                any_better, again = True, here[is_better]
                found = _maximised(
                    starts[is_better],
                    centres,
                    labeled[again],
                    unlabeled[again],
                    floor=fit.floor[again],
                )
                parameters[again], likelihood[again] = found.parameters, found.likelihood
        if not any_better:
            break
    return PlateauFit(parameters=parameters, floor=fit.floor, likelihood=likelihood)


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
) -> PlateauFit:
    """Levenberg-damped Fisher scoring far from a maximum, and Newton's steps near one.

    Each sample has its own damping, and settles by itself: what is found does not depend on what
    else is searched for at once.
    """
    precision = _PRECISION if floor is not None else np.append(_PRECISION, _FLOOR_PRECISION)
    found, kappa = parameters.copy(), floor
    moving, rows = np.arange(len(found)), _Rows.of(labeled, unlabeled)
    parts = _parts(found, centres, kappa)
    value = _log_likelihood(parts[0], rows, 0.5 * found**2 @ precision)
    is_near = np.zeros(len(found), dtype=bool)
    score, information = _score_and_information(found, centres, parts, rows, precision, is_near)
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
                found[up], centres, of_better, rows[better], precision, gain[better] < _NEAR
            )
        # A step refused at the greatest damping would be proposed again for ever.
        moves = np.where(better, gain >= _SETTLED, (now <= 1e3) & (now != before))
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
    parts: Parts,
    rows: _Rows,
    precision: FloatArray,
    is_near: NDArray[np.bool_],
) -> tuple[FloatArray, FloatArray]:
    """Slope of the penalised log-likelihood, and the information in the rows without the penalty.

    It is Fisher's, or near a maximum what was observed: where the ratio bends, Fisher's differs
    from it, and steps that follow it take hundreds to arrive.
    """
    slopes = _slopes(parameters, centres, *parts)
    odds = rows.labels / rows.others * parts[0]
    chance = odds / (1 + odds)
    excess = rows.labeled - rows.both * chance
    weighed = slopes * (rows.both * chance * (1 - chance))[..., np.newaxis]
    score = (excess[:, np.newaxis] @ slopes)[:, 0] - parameters * precision
    information = weighed.swapaxes(1, 2) @ slopes
    if is_near.any():
        near = np.flatnonzero(is_near)
        observed = information[near] - _bending(
            parameters[near],
            centres,
            [part[near] if len(part) == len(parameters) else part for part in parts],
            slopes[near],
            excess[near],
        )
        least = np.linalg.eigvalsh(observed + np.diag(precision))[:, 0]
        near, observed = near[least > 0], observed[least > 0]
        information[near] = observed
    return score, information


def _bending(
    parameters: FloatArray,
    centres: FloatArray,
    parts: Parts,
    slopes: FloatArray,
    excess: FloatArray,
) -> FloatArray:
    """Second derivatives of the logarithm of the ratio, summed with the excess of labeled rows.

    Those of the ratio r = kappa + (1 - kappa) p, p = 1 / (a + e^-s), are taken by a, s and kappa
    and, as s = b0 + b1 z + b2 z^2, multiplied with powers of z; (log r)'' = r'' / r - (log r)'^2.
    """
    ratio, kappa, pure, falling = parts
    prior = special.expit(parameters[:, :1])
    by_prior = prior * (1 - prior)
    of_ratio = excess / ratio
    weighed = of_ratio * (1 - kappa) * pure**2
    powers = np.vander(centres, 5, increasing=True)
    number = parameters.shape[1]
    summed = np.zeros((len(parameters), number, number))
    of_prior = weighed * (2 * pure * by_prior - (1 - 2 * prior)) * by_prior
    summed[:, 0, 0] = of_prior.sum(axis=1)
    summed[:, 0, 1:4] = (weighed * -2 * pure * falling * by_prior) @ powers[:, :3]
    summed[:, 1:4, 0] = summed[:, 0, 1:4]
    of_line = (weighed * falling * (2 * pure * falling - 1)) @ powers
    summed[:, 1:4, 1:4] = of_line[:, np.add.outer(np.arange(3), np.arange(3))]
    if number == 5:
        by_floor = kappa * (1 - kappa)
        crossed = of_ratio * pure**2 * by_floor
        summed[:, 4, 4] = (of_ratio * (1 - pure) * by_floor * (1 - 2 * kappa)).sum(axis=1)
        summed[:, 4, 0] = (crossed * by_prior).sum(axis=1)
        summed[:, 4, 1:4] = -(crossed * falling) @ powers[:, :3]
        summed[:, :4, 4] = summed[:, 4, :4]
    return summed - (slopes * excess[..., np.newaxis]).swapaxes(1, 2) @ slopes


def _step(
    score: FloatArray, information: FloatArray, damping: FloatArray, precision: FloatArray
) -> FloatArray:
    """Towards the maximum, as far as Levenberg's damping lets it go; changes `information`."""
    diagonal = np.einsum("spp->sp", information)
    diagonal += damping[:, np.newaxis] * diagonal + precision + 1e-9
    return np.asarray(np.linalg.solve(information, score[..., np.newaxis])[..., 0])
