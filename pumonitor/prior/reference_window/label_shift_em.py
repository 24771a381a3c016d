"""Label shift by likelihood: scores that were calibrated in a reference window, re-weighted."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError
from pumonitor.prior.intervals.interval import PriorWithInterval
from pumonitor.prior.reference_window.label_shift import (
    reference_of,
    share_covariance,
    starts_of_bins,
    with_carried_error,
)
from pumonitor.prior.samples.two_samples import TwoSamples

_SURE = 1 - 1e-9
_BISECTIONS = 50


def label_shift_em(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows when scores are P(y = 1 given x) of a reference.

    Calibrated scores say how much likelier each is from a positive than from a negative; the prior
    is the one under which this window's scores are likeliest. Where the reference's prior is known
    exactly the error is down to a third of that of mean matching, at few labeled rows; an error of
    that prior is handed on in proportion. Wrong where scores are not calibrated in the reference
    window (a boosted model's or a network's seldom are; scores that predict the *label* never) by
    more than a factor of the odds, or where scores within a class have changed since. With scores
    that only rank, use "label_shift".

    Parameters
    ----------
    sample : TwoSamples
        With a `reference`.

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 1].

    Raises
    ------
    ValueError
        If there is no reference.
    InputError
        If scores are not in [0, 1].

    Notes
    -----
    By Bayes' rule f1 / f0 = c s / (1 - s), where c = (1 - pi0) / pi0 for scores calibrated at a
    class prior pi0. The log-likelihood of the unlabeled prior, mean of log(a f1 / f0 + 1 - a) over
    unlabeled rows, is concave in a; the zero of its slope, which EM reaches step by step, is found
    by bisection. c is taken such that the reference's own rows give the reference's known
    unlabeled prior: equal to the above where scores are calibrated, and the step that keeps an
    error of pi0, or of the scores' level, from growing many times over in a. Scores are read at
    the middle of their cell, which a table of rows keeps narrow; ten bins would not do.

    References
    ----------
    Saerens, Latinne, Decaestecker (2002), Adjusting the outputs of a classifier to new a priori
    probabilities: a simple procedure, equations 2.7 to 2.9.

    Examples
    --------
    Scores 0.8 and 0.2 where the prior was 0.5 mean shares 0.8 and 0.2 of positives that score
    high. Of a window's rows 0.32 score high: 0.2 x 0.8 + 0.8 x 0.2.

    >>> from pumonitor.prior.samples.reference import Reference
    >>> from pumonitor.results import ClassPriorEstimate
    >>> known = ClassPriorEstimate(value=0.5, low=0.5, high=0.5, unlabeled_prior=0.5)
    >>> sample = TwoSamples(
    ...     scores=np.array([0.2, 0.8]), labeled=np.array([[0.2, 0.8]]), n_labeled=100,
    ...     unlabeled=np.array([[0.68, 0.32]]), n_unlabeled=1000,
    ...     reference=Reference(unlabeled=np.array([[0.5, 0.5]]), n_unlabeled=1000, prior=known))
    >>> [round(float(a), 4) for a in label_shift_em(sample)]
    [0.2]
    """
    odds = _odds(sample)
    earlier = reference_of(sample)
    factor = _factor(earlier.unlabeled, odds, known=_within(earlier.prior.unlabeled_prior))
    return _likeliest(sample.unlabeled, factor[:, np.newaxis] * odds)


def label_shift_em_with_interval(
    sample: TwoSamples, *, confidence_level: float
) -> PriorWithInterval:
    """The estimate, its interval, and whether the window is the reference re-weighted.

    The interval holds the priors whose likelihood is within a chi-square quantile of the greatest;
    the sampling of the reference's rows, by way of c, and the interval of its prior are added in
    squares. That the scores' odds are right up to a factor is taken at their word. Details:
    `fit_p_value`, small when this window is not the reference with its classes re-weighted,
    whatever prior in its interval the reference has; `odds_factor`, by which odds had to be
    multiplied, 1 where scores are calibrated; `reference_unlabeled_prior`.

    In the simulation of `label_shift_with_interval`, with calibrated scores, 95% intervals cover
    92.7% to 97.3%, 95.5% on average.

    Raises
    ------
    InputError
        If scores are not in [0, 1], or all rows of the reference have the same one.
    """
    odds, share = _odds(sample), sample.unlabeled[:1]
    earlier = reference_of(sample)
    known, low, high = map(
        _within, (earlier.prior.unlabeled_prior, *earlier.prior.unlabeled_prior_interval)
    )
    factor = float(_factor(earlier.unlabeled[:1], odds, known=known)[0])
    ratio = factor * odds
    _refuse_alike(ratio[earlier.unlabeled[0] > 0])
    value = float(_likeliest(share, ratio)[0])
    quantile = 2.0 * float(special.gammaincinv(0.5, confidence_level))
    ends = _likelihood_interval(share[0] * sample.n_unlabeled, ratio, value, fall=0.5 * quantile)
    reach = math.sqrt(quantile) * _log_factor_error(earlier.unlabeled[0], ratio, known=known)
    reach /= math.sqrt(earlier.n_unlabeled)

    def estimate(times: float) -> float:
        return float(_likeliest(share, times * odds)[0])

    shifted = [estimate(factor * math.exp(step)) for step in (-reach, reach)]
    return with_carried_error(
        value,
        sampled=(
            value - math.hypot(value - ends[0], value - min(*shifted, value)),
            value + math.hypot(ends[1] - value, max(*shifted, value) - value),
        ),
        carried=[
            estimate(float(_factor(earlier.unlabeled[:1], odds, known=end)[0]))
            for end in (low, high)
        ],
        details={
            "odds_factor": factor * earlier.prior.value / (1 - earlier.prior.value),
            "reference_unlabeled_prior": known,
            "fit_p_value": max(_fit_p_value(sample, odds, known=at) for at in {known, low, high}),
        },
    )


def _within(prior: float) -> float:
    """A prior held to [0, 1), as sampling may put one of unlabeled rows below 0."""
    return min(max(prior, 0.0), _SURE)


def _odds(sample: TwoSamples) -> FloatArray:
    low, high = float(sample.scores.min()), float(sample.scores.max())
    if low < 0 or high > 1:
        msg = (
            "label_shift_em needs scores that are probabilities of being positive, in [0, 1]: got "
            f"scores from {low:g} to {high:g}; use method='label_shift', which reads ranks only"
        )
        raise InputError(msg)
    score = np.clip(sample.scores, 1 - _SURE, _SURE)
    return np.asarray(score / (1 - score))


def _refuse_alike(ratio: FloatArray) -> None:
    if float(np.ptp(ratio)) <= 1e-9 * float(ratio.max()):
        msg = (
            "all unlabeled rows of the reference window have the same score, so that no change of "
            "the prior would show: pass the scores, not a decision or a constant"
        )
        raise InputError(msg)


def _factor(share: FloatArray, odds: FloatArray, *, known: float) -> FloatArray:
    """The c with which rows of known prior give that prior: mean of its likelihood's slope is 0."""
    low = np.full(len(share), -np.log(odds.max()))
    high = np.full(len(share), -np.log(odds.min()))
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        ratio = np.exp(middle)[:, np.newaxis] * odds
        slope = (share * (ratio - 1) / (1 + known * (ratio - 1))).sum(axis=1)
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    return np.asarray(np.exp(0.5 * (low + high)))


def _log_factor_error(share: FloatArray, ratio: FloatArray, *, known: float) -> float:
    """Standard error of log c, of one row: spread of its equation's terms over their slope."""
    mixture = 1 + known * (ratio - 1)
    term = (ratio - 1) / mixture
    return math.sqrt(float(share @ term**2)) / float(share @ (ratio / mixture**2))


def _likeliest(share: FloatArray, ratio: FloatArray) -> FloatArray:
    """Where the slope of the log-likelihood, which falls, is zero; 0 or 1 where it is not."""
    low, high = np.zeros(len(share)), np.ones(len(share))
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        slope = (share * (ratio - 1) / (1 + middle[:, np.newaxis] * (ratio - 1))).sum(axis=1)
        low, high = np.where(slope > 0, middle, low), np.where(slope > 0, high, middle)
    return 0.5 * (low + high)


def _likelihood_interval(
    rows: FloatArray, ratio: FloatArray, value: float, *, fall: float
) -> tuple[float, float]:
    """Ends of the priors whose log-likelihood is at most `fall` below that of the value."""

    def log_likelihood(prior: float) -> float:
        return float(rows @ np.log1p(prior * (ratio - 1)))

    least = log_likelihood(value) - fall

    def last_within(inside: float, outside: float) -> float:
        if log_likelihood(outside) >= least:
            return outside
        for _ in range(_BISECTIONS):
            middle = 0.5 * (inside + outside)
            if log_likelihood(middle) >= least:
                inside = middle
            else:
                outside = middle
        return inside

    return last_within(value, 0.0), last_within(value, 1.0)


def _fit_p_value(sample: TwoSamples, odds: FloatArray, *, known: float) -> float:
    """Chi-square of this window's bins against the reference's rows re-weighted to its prior."""
    starts = starts_of_bins(sample)
    if len(starts) < 3:
        return 1.0
    earlier, rows = reference_of(sample).unlabeled[0], reference_of(sample).n_unlabeled
    ratio = _factor(earlier[np.newaxis], odds, known=known)[0] * odds
    value = _likeliest(sample.unlabeled[:1], ratio)[0]
    weight = (1 + value * (ratio - 1)) / (1 + known * (ratio - 1))
    weight = weight / float(earlier @ weight)
    here, expected, squares = (
        np.add.reduceat(share, starts)
        for share in (sample.unlabeled[0], earlier * weight, earlier * weight**2)
    )
    cross = np.outer(squares, expected)
    of_expected = np.diag(squares) - cross - cross.T
    of_expected += squares.sum() * np.outer(expected, expected)
    spread = share_covariance(here[np.newaxis], sample.n_unlabeled)[0]
    spread += of_expected[:-1, :-1] / rows
    gap = (here - expected)[:-1]
    distance = float(gap @ np.linalg.solve(spread, gap))
    return float(special.chdtrc(len(starts) - 2, distance))
