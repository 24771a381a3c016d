"""Label shift by mean matching: the unlabeled prior of a window from a trusted reference window."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError
from pumonitor.prior.intervals.interval import PriorWithInterval
from pumonitor.prior.samples.reference import Reference
from pumonitor.prior.samples.two_samples import TwoSamples

_BINS = 8
_LOWEST, _HIGHEST = -0.5, 1.2
_STEPS = 86
_ZOOMS = 4
_SMOOTHING = 0.5
_INDISTINGUISHABLE = 0.1


def label_shift(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows, by matching means with a reference window.

    Label shift says that positives and negatives score as they did in the reference window and
    only their shares have changed. The distribution of the unlabeled rows then lies on the line
    through the positives' and the reference's, and its place on that line is the prior. No group
    of negatives need be unlike the positives, as other estimators want: the reference's prior
    stands in for that. Wrong when scores within a class have changed (another model, drifting
    features, positives labeled by other rules), which `fit_p_value` tells only where it shows in
    the scores; and as wrong as the reference's prior.

    Parameters
    ----------
    sample : TwoSamples
        With a `reference`. Its labeled rows may be those of both windows.

    Returns
    -------
    ndarray of shape (samples,)
        In [0, 1].

    Raises
    ------
    ValueError
        If there is no reference.
    InputError
        If the reference's unlabeled rows are all positives.

    Notes
    -----
    With mu the shares of rows in bins, of this window's unlabeled rows, of the reference's (whose
    unlabeled prior is a0) and of the positives P::

        mu_window - mu_P = g (mu_reference - mu_P),    g = (1 - a) / (1 - a0)

    so that g = <mu_window - mu_P, mu_reference - mu_P> / ||mu_reference - mu_P||^2 and
    a = 1 - g (1 - a0) in any inner product <x, y> = x' M y. Which one? The residual
    r(g) = mu_window - g mu_reference - (1 - g) mu_P has mean zero at the true g, and covariance::

        S(g) = C_window / n_window + g^2 C_reference / n_reference + (1 - g)^2 C_P / n_P
        C = diag(mu) - mu mu'

    Weights w give the error w' r / w' d with d = mu_reference - mu_P, of variance
    w' S w / (w' d)^2, least at w = S^-1 d: Fisher's discriminant, hence M = S^-1. Estimated shares
    put there would count their noise as distance. Minimising r(g)' S(g)^-1 r(g) in g, with S
    following g, has the same weights without that bias, and its minimum is a chi-square of the fit.

    Eight bins of equal mass, half of it positives and a quarter each window's unlabeled rows: only
    the order of the scores matters. Shares are smoothed by half a row where they enter S.

    References
    ----------
    Teisseyre, Rejchel, Mielniczuk (2025), the prior under label shift by kernel means, here with
    a binned embedding and the metric above; Hansen, Heaton, Yaron (1996), Finite-sample properties
    of some alternative GMM estimators (S following g).

    Examples
    --------
    Three quarters of the way from the positives to the reference, whose prior is 0.2.

    >>> from pumonitor.results import ClassPriorEstimate
    >>> known = ClassPriorEstimate(value=0.2, low=0.2, high=0.2, unlabeled_prior=0.2)
    >>> sample = TwoSamples(
    ...     scores=np.arange(2.0), labeled=np.array([[0.1, 0.9]]), n_labeled=100,
    ...     unlabeled=np.array([[0.55, 0.45]]), n_unlabeled=1000,
    ...     reference=Reference(unlabeled=np.array([[0.7, 0.3]]), n_unlabeled=1000, prior=known))
    >>> [round(float(a), 4) for a in label_shift(sample)]
    [0.4]
    """
    return np.clip(_Moments.of(sample).best_prior(), 0.0, 1.0)


def label_shift_with_interval(sample: TwoSamples, *, confidence_level: float) -> PriorWithInterval:
    """The estimate, its interval, and whether the window is a mixture of the reference's classes.

    The interval holds the priors whose r' S^-1 r exceeds the least by no more than a chi-square
    quantile: what the rows of both windows allow, however lopsided. The interval of the reference's
    own prior is added in squares. Details: `fit_p_value`, small when no prior explains the window;
    `unconstrained`, the estimate before it was held to [0, 1]; `reference_unlabeled_prior`.

    Two normals 1 and 2 apart, reference prior .1, priors .02 to .3, 30 to 1000 labeled and 2000 and
    20 000 unlabeled rows in each window (`benchmarks/prior/label_shift.py`, 300 windows): 95%
    intervals cover 92.7% to 97.0%, 95.0% on average.

    Raises
    ------
    InputError
        If the reference's unlabeled rows cannot be told from positives by their scores.
    """
    moments = _Moments.of(sample)
    _refuse_indistinguishable(moments)
    prior = reference_of(sample).prior
    unconstrained = float(moments.best_prior()[0])
    value = min(max(unconstrained, 0.0), 1.0)
    # Relative to the best prior there can be: sampling that puts it outside leaves an interval.
    allowed = moments.misfit_at(value) + 2.0 * float(special.gammaincinv(0.5, confidence_level))
    ratio = (1 - value) / (1 - prior.unlabeled_prior)
    details = {
        "unconstrained": unconstrained,
        "reference_unlabeled_prior": prior.unlabeled_prior,
    }
    if moments.bins > 2:
        least = moments.misfit_at(unconstrained)
        details["fit_p_value"] = float(special.chdtrc(moments.bins - 2, least))
    return with_carried_error(
        value,
        sampled=(
            _last_within(moments, allowed, inside=value, towards=_LOWEST),
            _last_within(moments, allowed, inside=value, towards=_HIGHEST),
        ),
        carried=[1 - ratio * (1 - end) for end in prior.unlabeled_prior_interval],
        details=details,
    )


def with_carried_error(
    value: float,
    *,
    sampled: tuple[float, float],
    carried: list[float],
    details: dict[str, float],
) -> PriorWithInterval:
    """Interval from the ends that sampling allows and those that the reference's prior allows."""
    low = value - math.hypot(value - sampled[0], value - min(*carried, value))
    high = value + math.hypot(sampled[1] - value, max(*carried, value) - value)
    return PriorWithInterval(value=value, low=max(low, 0.0), high=min(high, 1.0), details=details)


def reference_of(sample: TwoSamples) -> Reference:
    """The reference window of a sample, refused where there is none."""
    if sample.reference is None:
        msg = (
            "label shift needs a reference window: pass reference=ReferenceWindow.from_arrays("
            "labels, scores, class_prior=...) of a time at which the class prior was known"
        )
        raise ValueError(msg)
    return sample.reference


def starts_of_bins(sample: TwoSamples) -> NDArray[np.intp]:
    """First cell of each bin of equal mass that holds any; a cell is never split.

    The mass is that of the first sample, half of it positives and a quarter each window's
    unlabeled rows.
    """
    pooled = 0.5 * sample.labeled[0]
    pooled += 0.25 * (sample.unlabeled[0] + reference_of(sample).unlabeled[0])
    rank = np.cumsum(pooled) - 0.5 * pooled
    of_cell = np.minimum((rank * _BINS).astype(np.intp), _BINS - 1)
    return np.flatnonzero(np.concatenate([[True], of_cell[1:] != of_cell[:-1]]))


def share_covariance(share: FloatArray, rows: float) -> FloatArray:
    """Covariances of shares of rows per bin, (samples, bins - 1, bins - 1).

    The last bin is left out, since its share follows. An empty bin counts half a row, so that
    none is singular.
    """
    bins = share.shape[1]
    smooth = ((share * rows + _SMOOTHING) / (rows + _SMOOTHING * bins))[:, :-1]
    product = smooth[:, :, np.newaxis] * smooth[:, np.newaxis, :]
    return np.asarray((smooth[:, :, np.newaxis] * np.eye(bins - 1) - product) / rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Moments:
    """Shares per bin of positives, of the window and of the reference, and their covariances.

    `known` is the unlabeled prior of the reference.
    """

    positives: FloatArray
    window: FloatArray
    reference: FloatArray
    covariances: tuple[FloatArray, FloatArray, FloatArray]
    known: float

    @classmethod
    def of(cls, sample: TwoSamples) -> _Moments:
        reference = reference_of(sample)
        known = reference.prior.unlabeled_prior
        if known >= 1:
            msg = (
                f"the reference window's unlabeled rows are all positives by class_prior="
                f"{reference.prior.value:g}: give a smaller one, or a window with negatives in it"
            )
            raise InputError(msg)
        starts = starts_of_bins(sample)
        positives, window, earlier = (
            np.add.reduceat(share, starts, axis=1)
            for share in (sample.labeled, sample.unlabeled, reference.unlabeled)
        )
        return cls(
            positives=positives,
            window=window,
            reference=earlier,
            covariances=(
                share_covariance(positives, sample.n_labeled),
                share_covariance(window, sample.n_unlabeled),
                share_covariance(earlier, reference.n_unlabeled),
            ),
            known=known,
        )

    @property
    def bins(self) -> int:
        return len(self.positives[0])

    def misfit(self, prior: FloatArray) -> FloatArray:
        """The misfit r' S^-1 r at priors of shape (samples, priors)."""
        g = ((1 - prior) / (1 - self.known))[:, :, np.newaxis]
        positives, window, reference = (
            share[:, np.newaxis, :-1] for share in (self.positives, self.window, self.reference)
        )
        residual = window - g * reference - (1 - g) * positives
        g = g[..., np.newaxis]
        of_positives, of_window, of_reference = (part[:, np.newaxis] for part in self.covariances)
        spread = of_window + g**2 * of_reference + (1 - g) ** 2 * of_positives
        solved = np.linalg.solve(spread, residual[..., np.newaxis])[..., 0]
        return np.asarray((residual * solved).sum(axis=2))

    def misfit_at(self, prior: float) -> float:
        return float(self.misfit(np.array([[prior]]))[0, 0])

    def best_prior(self) -> FloatArray:
        """The prior of least misfit per sample, searched on ever finer grids."""
        steps = np.linspace(-1.0, 1.0, _STEPS)
        reach = 0.5 * (_HIGHEST - _LOWEST)
        best = np.full(len(self.window), 0.5 * (_HIGHEST + _LOWEST))
        for _ in range(_ZOOMS):
            priors = best[:, np.newaxis] + reach * steps
            best = np.take_along_axis(
                priors, self.misfit(priors).argmin(axis=1)[:, np.newaxis], axis=1
            )[:, 0]
            reach *= 4 / _STEPS
        return best


def _refuse_indistinguishable(moments: _Moments) -> None:
    if moments.bins > 1:
        apart = (moments.reference - moments.positives)[0, :-1]
        of_positives, _, of_reference = moments.covariances
        distance = float(apart @ np.linalg.solve((of_positives + of_reference)[0], apart))
        if special.chdtrc(moments.bins - 1, distance) < _INDISTINGUISHABLE:
            return
    msg = (
        "the reference window's unlabeled rows cannot be distinguished from confirmed "
        "positives by their scores, so that no change of the class prior would show: take a "
        "larger reference window, or a score that ranks"
    )
    raise InputError(msg)


def _last_within(moments: _Moments, allowed: float, *, inside: float, towards: float) -> float:
    """The prior towards a bound at which the misfit reaches what is allowed, by bisection."""
    if moments.misfit_at(towards) <= allowed:
        return towards
    outside = towards
    for _ in range(50):
        middle = 0.5 * (inside + outside)
        if moments.misfit_at(middle) <= allowed:
            inside = middle
        else:
            outside = middle
    return inside
