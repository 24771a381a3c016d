"""Exponential-tilt mixture: the unlabeled prior as a parameter of a smooth density ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.prior.samples.normal_scores import binned_normal_scores
from pumonitor.prior.samples.two_samples import TwoSamples

_BINS = 80
_STEPS = 80
_STARTS = (0.02, 0.2, 0.6)

# Penalties on (logit a, b0, b1, b2) as precisions: b2 near 0; the others just kept finite where
# a sample has no information.
_PRECISION = np.array([2e-3, 0.0, 2e-3, 1 / 0.25**2])


@dataclass(frozen=True, slots=True, kw_only=True)
class TiltFit:
    """Fitted mixtures, one per sample.

    Attributes
    ----------
    parameters : ndarray of shape (samples, 4)
        logit a, b0, b1, b2.
    centres : ndarray of shape (bins,)
        On the normal-score scale of `pumonitor.prior.samples.normal_scores`.
    labeled, unlabeled : ndarray of shape (samples, bins)
        The binned data.
    """

    parameters: FloatArray
    centres: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray

    @property
    def unlabeled_prior(self) -> FloatArray:
        """The parameter a of each sample."""
        return np.asarray(special.expit(self.parameters[:, 0]))

    def ratio(self, parameters: FloatArray) -> FloatArray:
        """f_u / f_p at the bin centres for rows of parameters."""
        prior, falling = _parts(parameters, self.centres)
        return prior + falling

    def parameter_draws(
        self, rows: FloatArray, *, size: int, rng: np.random.Generator
    ) -> FloatArray:
        """Parameters drawn from the normal approximation of what the first sample says of them.

        `rows` are the labeled and the unlabeled rows per bin, shape (2, bins). The penalty on b2
        counts as its prior: where the data do not tell how the ratio bends, it varies by that.
        """
        fitted = self.parameters[:1]
        parts = _parts(fitted, self.centres)
        _, information = _score_and_information(parts, self.centres, rows[:1], rows[1:])
        precision = information[0] + np.diag(_PRECISION + 1e-6)
        root = np.linalg.cholesky(np.linalg.inv(precision))
        return np.asarray(fitted + rng.standard_normal((size, len(precision))) @ root.T)


def tilt(sample: TwoSamples) -> FloatArray:
    """Share of positives among unlabeled rows, by penalised likelihood under a smooth tilt.

    The logarithm of the ratio of negative to positive score density is taken to be nearly linear
    in the normal scores z of the pooled ranks: f_u / f_p = a + exp(-(b0 + b1 z + b2 z^2)), b2 near
    0. Then a is a parameter of a smooth curve and not the height of its noisy end, which is what
    makes the minimum-type estimators biased. Too high when the ratio levels off (reducible
    negatives), off in either direction when it bends more than b2 allows.

    Parameters
    ----------
    sample : TwoSamples

    Returns
    -------
    ndarray of shape (samples,)
        In (0, 1).

    Notes
    -----
    Given the bin, a row is labeled with probability n_p / (n_p + n_u f_u / f_p): a binomial
    likelihood in (a, b0, b1, b2), with a normal penalty of standard deviation 0.25 on b2, which
    data that bend outweigh and data that do not leave alone. Maximised by damped Fisher scoring
    from three starts, all samples at once. For two normal densities of equal variance the tilt is
    exactly log-linear in the score, and nearly so in normal scores.

    References
    ----------
    Qin (1999), Empirical likelihood ratio based confidence intervals for mixture proportions;
    Anderson (1979), Multivariate logistic compounds.

    Examples
    --------
    >>> from pumonitor.tables import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([1, 0], [1000, 10_000])
    >>> positive = np.concatenate([np.ones(1000), np.arange(10_000) < 3000])
    >>> table = ScoreTable.from_arrays(labels, rng.normal(2 * positive))
    >>> bool(abs(tilt(TwoSamples.from_table(table))[0] - 0.3) < 0.05)
    True
    """
    return fit_tilt(sample).unlabeled_prior


def tilts(samples: Sequence[TwoSamples]) -> FloatArray:
    """`tilt` of several samples, each the only one of its rows, in one search."""
    binned = [binned_normal_scores(one, bins=_BINS) for one in samples]
    rows = zip(samples, binned, strict=True)
    labeled, unlabeled = zip(
        *((own * one.n_labeled, other * one.n_unlabeled) for one, (_, own, other) in rows),
        strict=True,
    )
    found = _best(
        binned[0][0],
        np.concatenate(labeled),
        np.concatenate(unlabeled),
        of=np.arange(len(samples)),
    )
    return np.asarray(special.expit(found[:, 0]))


def fit_tilt(sample: TwoSamples) -> TiltFit:
    """The fitted mixture, from which samples can be drawn."""
    centres, labeled, unlabeled = binned_normal_scores(sample, bins=_BINS)
    best = _best(
        centres,
        labeled * sample.n_labeled,
        unlabeled * sample.n_unlabeled,
        of=np.zeros(len(labeled), dtype=np.intp),
    )
    return TiltFit(parameters=best, centres=centres, labeled=labeled, unlabeled=unlabeled)


def _best(
    centres: FloatArray, labeled: FloatArray, unlabeled: FloatArray, *, of: NDArray[np.intp]
) -> FloatArray:
    """Parameters of each row of data, from the start that comes highest."""
    number, samples = len(_STARTS), len(labeled)
    starts = np.repeat(
        [[special.logit(start), 0.0, 1.5, 0.0] for start in _STARTS], samples, axis=0
    )
    found, likelihood = _maximised(
        starts,
        centres,
        np.tile(labeled, (number, 1)),
        np.tile(unlabeled, (number, 1)),
        # Each start is a search of its own.
        of=(np.arange(number)[:, np.newaxis] * (of[-1] + 1) + of).ravel(),
    )
    chosen = np.argmax(likelihood.reshape(number, samples), axis=0) * samples + np.arange(samples)
    return np.asarray(found[chosen])


def _parts(parameters: FloatArray, centres: FloatArray) -> tuple[FloatArray, FloatArray]:
    prior = special.expit(parameters[:, :1])
    exponent = parameters[:, 1:2] + parameters[:, 2:3] * centres + parameters[:, 3:4] * centres**2
    return prior, np.exp(-np.minimum(np.maximum(exponent, -30.0), 30.0))


def _log_likelihood(
    parameters: FloatArray,
    parts: tuple[FloatArray, FloatArray],
    labeled: FloatArray,
    unlabeled: FloatArray,
) -> FloatArray:
    prior, falling = parts
    size = unlabeled.sum(axis=1, keepdims=True) / labeled.sum(axis=1, keepdims=True)
    odds = size * (prior + falling)
    pull = 0.5 * parameters**2 @ _PRECISION
    return np.asarray(
        np.sum(unlabeled * np.log(odds) - (labeled + unlabeled) * np.log1p(odds), axis=1) - pull
    )


def _score_and_information(
    parts: tuple[FloatArray, FloatArray],
    centres: FloatArray,
    labeled: FloatArray,
    unlabeled: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Gradient and Fisher information of the likelihood, without the penalties."""
    size = unlabeled.sum(axis=1, keepdims=True) / labeled.sum(axis=1, keepdims=True)
    rows = labeled + unlabeled
    prior, falling = parts
    ratio = prior + falling
    chance = 1 / (1 + size * ratio)
    # d log(ratio) / d (logit a, b0, b1, b2)
    slopes = np.empty((*ratio.shape, 4))
    slopes[..., 0] = prior * (1 - prior) / ratio
    slopes[..., 1] = -falling / ratio
    slopes[..., 2] = -falling * centres / ratio
    slopes[..., 3] = -falling * centres**2 / ratio
    score = ((rows * chance - labeled)[:, np.newaxis] @ slopes)[:, 0]
    weighed = slopes * (rows * chance * (1 - chance))[..., np.newaxis]
    return score, weighed.swapaxes(1, 2) @ slopes


def _maximised(
    parameters: FloatArray,
    centres: FloatArray,
    labeled: FloatArray,
    unlabeled: FloatArray,
    *,
    of: NDArray[np.intp],
) -> tuple[FloatArray, FloatArray]:
    """Levenberg-damped Fisher scoring, each sample with its own damping.

    Those with the same number in `of` are searched for until all of them have settled; what is
    found does not depend on what else is searched for at once.
    """
    found, moving = parameters.copy(), np.arange(len(parameters))
    parts = _parts(found, centres)
    value = _log_likelihood(found, parts, labeled, unlabeled)
    score, information = _score_and_information(parts, centres, labeled, unlabeled)
    damping = np.full(len(found), 1e-2)
    for _ in range(_STEPS):
        proposed = found[moving] + _step(
            score[moving] - found[moving] * _PRECISION, information[moving], damping[moving]
        )
        rows = labeled[moving], unlabeled[moving]
        parts = _parts(proposed, centres)
        proposed_value = _log_likelihood(proposed, parts, *rows)
        better = proposed_value > value[moving]
        gain = np.where(better, proposed_value - value[moving], 0.0)
        now = np.where(better, damping[moving] / 5, np.minimum(damping[moving] * 5, 1e6))
        damping[moving] = now
        if better.any():
            up, of_better = moving[better], [part[better] for part in (*parts, *rows)]
            found[up], value[up] = proposed[better], proposed_value[better]
            score[up], information[up] = _score_and_information(
                (of_better[0], of_better[1]), centres, *of_better[2:]
            )
        goes_on = np.zeros(of.max() + 1, dtype=bool)
        goes_on[of[moving[(gain >= 1e-7) | ~(better | (now > 1e3))]]] = True
        moving = moving[goes_on[of[moving]]]
        if not len(moving):
            break
    return found, value


def _step(score: FloatArray, information: FloatArray, damping: FloatArray) -> FloatArray:
    """Towards the maximum, as far as Levenberg's damping lets it go."""
    diagonal = np.einsum("spp->sp", information)
    diagonal += damping[:, np.newaxis] * diagonal + _PRECISION + 1e-9
    step = np.linalg.solve(information, score[..., np.newaxis])[..., 0]
    return np.asarray(np.clip(step, -2.0, 2.0))
