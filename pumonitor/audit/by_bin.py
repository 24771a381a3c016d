"""What an audit leaves of the label frequency in its own score bins, and windows read with it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor._entities import draw_in_groups
from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.estimation import hidden_share
from pumonitor.audit.frequency import DRIFT, FrequencyByScore, line_of_bins
from pumonitor.audit.posterior import AuditPosterior
from pumonitor.errors import InputError
from pumonitor.results import ClassPriorEstimate
from pumonitor.stats.systematic_draws import draw_systematically

__all__ = ["FrequencyByBin", "read_unaudited"]


DRAWS: Final = 2000
_CANDIDATES: Final = 16
"""Draws for each that is kept, where scores tell a class prior besides."""
_BIAS: Final = 0.7
"""Standard deviation in log odds of the error of a label frequency that scores tell, as far as
labels are not fair."""
_LEAST_MISSED: Final = 0.02
"""Share of the positives that is not confirmed, below which -logit of the rest tells nothing."""
_REACH: Final = 1.96
CONFIRMED_EXPONENT: Final = 0.05
"""Of p e in the prior: how much of a confirmation an empty bin is taken to hold."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrequencyByBin:
    """v = -logit e of the bins of an audit, jointly normal.

    Verdicts tell the label frequency of a bin better than its place on a line: where nearly all
    rows are positive a handful of them is enough. So windows in the same bins are read with this,
    and an audit with other bins with the line.

    Attributes
    ----------
    mean : ndarray of shape (bins,)
    covariance : ndarray of shape (bins, bins)
    rank : ndarray of shape (bins,)
    above : ndarray of bool of shape (bins,)
        Whether they lie at or above the threshold: with `rank`, how a drift moves them.
    fair : bool
        Whether all bins are taken to have one label frequency.
    overall : (float, float), optional
        Mean and variance of -logit of the label frequency of all positives, to which the level of
        each draw is moved.
    told : (float, float), optional
        The same as scores tell it of this window, by which draws are chosen.
    """

    mean: FloatArray
    covariance: FloatArray
    rank: FloatArray
    above: NDArray[np.bool_]
    fair: bool = False
    overall: tuple[float, float] | None = None
    told: tuple[float, float] | None = None

    @classmethod
    def of(cls, posterior: AuditPosterior) -> FrequencyByBin:
        """Mean and covariance of the draws of an audit."""
        v = -special.logit(np.clip(posterior.e, 1e-12, 1 - 1e-12))
        return cls(
            mean=v.mean(axis=0),
            covariance=np.atleast_2d(np.cov(v, rowvar=False)),
            rank=posterior.counts.bins.rank,
            above=posterior.counts.bins.above,
            fair=posterior.believed is not None and posterior.believed.fair,
        )

    @classmethod
    def on_line(cls, known: FrequencyByScore, bins: ScoreBins) -> FrequencyByBin:
        """Of other bins, by their ranks and sides: those of another model version."""
        mean, covariance = known.in_bins(bins.rank, bins.above)
        return cls(
            mean=mean,
            covariance=covariance,
            rank=bins.rank,
            above=bins.above,
            fair=known.fair,
            overall=known.overall,
        )

    def draw(self, counts: AuditCounts, size: int, rng: np.random.Generator) -> FloatArray:
        """Draws of v, shape (bins, size), for a window in these bins."""
        levels, axes = np.linalg.eigh(self.covariance)
        # The symmetric root: the only one that does not depend on the signs of the axes.
        root = axes @ np.diag(np.sqrt(np.maximum(levels, 0))) @ axes.T
        count = size if self.told is None else _CANDIDATES * size
        drawn = self.mean[:, np.newaxis] + root @ rng.standard_normal((len(self.mean), count))
        if self.overall is not None:
            mean, variance = self.overall
            drawn += mean - level_of(drawn, counts)
            drawn += np.sqrt(variance) * rng.standard_normal(count)
        if self.told is not None:
            mean, variance = self.told
            log_weight = -0.5 * (level_of(drawn, counts) - mean) ** 2 / variance
            drawn = drawn[:, draw_systematically(log_weight, size, rng)]
        return np.asarray(drawn)

    def with_class_prior(self, prior: ClassPriorEstimate, counts: AuditCounts) -> FrequencyByBin:
        """With what the scores of a window say of its class prior, which takes labels for fair.

        Where they are not it is wrong, by an error of .7 in the log odds of the label frequency.
        An audit that tells little then leaves a window about as sure as it was.

        Parameters
        ----------
        prior : ClassPriorEstimate
            Made without audits.
        counts : AuditCounts
            Of the window.

        Notes
        -----
        With the share r of all rows that is confirmed, -logit c is log(pi / r - 1), with slope
        1 / (1 - r / pi) in log pi.
        """
        confirmed = float(counts.labeled.sum() / counts.rows.sum())
        missed = 1 - confirmed / prior.value
        if confirmed == 0 or missed < _LEAST_MISSED or not 0 < prior.low < prior.high:
            return self
        error = math.log(prior.high / prior.low) / (2 * _REACH) / missed
        level = math.log(prior.value / confirmed - 1)
        return replace(self, told=(level, error**2 + (0.0 if self.fair else _BIAS**2)))

    def still_shared(self, shared: FloatArray | None, counts: AuditCounts) -> FloatArray | None:
        """Of the covariance of v, what other windows have in common once scores have told of c.

        Parameters
        ----------
        shared : ndarray of shape (bins, bins), optional
            What they had before; None where it is unknown.
        counts : AuditCounts
            Of the window.

        Notes
        -----
        The level moves by a gain times what it was off; slopes of the level are those at the mean.
        """
        if shared is None or self.told is None:
            return shared
        part = counts.labeled * np.exp(self.mean - self.mean.max())
        slope = part / part.sum()
        known = self.covariance @ slope
        left = np.eye(len(slope)) - np.outer(known, slope) / (slope @ known + self.told[1])
        return np.asarray(left @ shared @ left.T)

    def later(self, months: float) -> FrequencyByBin:
        """As believed some months on: level, slope and step drift by `DRIFT` times their root."""
        across = line_of_bins(self.rank, self.above)[:, : 1 if self.fair else 3]
        drift = DRIFT**2 * months
        return replace(
            self,
            covariance=self.covariance + drift * across @ across.T,
            overall=self.overall and (self.overall[0], self.overall[1] + drift),
        )

    def so_far(self, share: float, *, log_variance: float = 0.0) -> FrequencyByBin:
        """Of labels of which only a share has arrived: e becomes `share` times e.

        It is wrong where positives of some scores are confirmed sooner than others.

        Parameters
        ----------
        share : float
            Of the confirmations to come, those that are there, in (0, 1].
        log_variance : float
            Variance of the logarithm of that share.

        Notes
        -----
        v becomes log((1 - share e) / (share e)), with slope (1 - e) / (1 - share e) in v and
        -1 / (1 - share e) in log share; covariances follow by the delta method.

        Examples
        --------
        >>> one, above = np.eye(1), np.array([True])
        >>> known = FrequencyByBin(mean=3 * one[0], covariance=one, rank=0 * one[0], above=above)
        >>> e = 1 / (1 + np.exp(known.so_far(0.5).mean[0]))
        >>> round(float(e * (1 + np.exp(3.0))), 12)
        0.5
        """
        mean, slope, by_share = _arrived(self.mean, share)
        overall = self.overall
        if overall is not None:
            level, own, others = (float(one) for one in _arrived(np.array(overall[0]), share))
            overall = (level, own**2 * overall[1] + others**2 * log_variance)
        return replace(
            self,
            mean=mean,
            covariance=self.covariance * np.outer(slope, slope)
            + log_variance * np.outer(by_share, by_share),
            overall=overall,
        )

    def among(self, kept: NDArray[np.bool_]) -> FrequencyByBin:
        """Of some of the bins: a window may have no row in the others."""
        return replace(
            self,
            mean=self.mean[kept],
            covariance=self.covariance[np.ix_(kept, kept)],
            rank=self.rank[kept],
            above=self.above[kept],
        )


def _arrived(v: FloatArray, share: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """-logit e of the share that has arrived, its slope in v and that in the log of the share."""
    e = special.expit(-v)
    seen = share * e
    return np.log((1 - seen) / seen), (1 - e) / (1 - seen), 1 / (1 - seen)


def read_unaudited(
    counts: AuditCounts, believed: FrequencyByBin, *, draws: int = DRAWS, seed: int = 0
) -> AuditPosterior:
    """Draw positives by bin of a window without verdicts.

    Confirmed shares r = p e tell p, given e. They tell nothing of e: where nearly all rows of a
    bin are positive they would rule out each e below r and none above it, and take p for lower
    than it is.

    Parameters
    ----------
    counts : AuditCounts
        Without verdicts, in the bins of `believed`.
    believed : FrequencyByBin
    draws : int
    seed : int
        The same seed gives the same draws.

    Raises
    ------
    InputError
        If nothing is confirmed.

    Notes
    -----
    Draws of v as believed; of r = p e given v, which is at most e, by a beta distribution with .05
    of a confirmation more; and of hidden positives. The likelihood of v is left out on purpose
    ("cutting feedback"). Where positives share entities rows count as so many independent ones, and
    hidden positives come several at a time.

    References
    ----------
    Plummer (2015), Cuts in Bayesian graphical models.
    """
    if counts.labeled.sum() == 0:
        msg = "an audit needs confirmed positives, and there is none in any score bin"
        raise InputError(msg)
    rng = np.random.default_rng(seed)
    v = believed.draw(counts, draws, rng).T
    e = special.expit(-v)
    effect = counts.bins.design_effect
    a, b = counts.labeled / effect + CONFIRMED_EXPONENT, counts.bins.unlabeled / effect + 1.0
    confirmed = special.betaincinv(a, b, rng.random(e.shape) * special.betainc(a, b, e))
    p = np.minimum(confirmed / e, 1 - 1e-12)
    bins = counts.bins
    inside = bins.concordance + bins.concordance_error * rng.standard_normal(e.shape)
    hidden = draw_in_groups(counts.undrawn, hidden_share(special.logit(p), v), effect, rng)
    return AuditPosterior(
        counts=counts,
        believed=None,
        line=np.linalg.pinv(line_of_bins(believed.rank, believed.above)) @ v.T,
        p=p,
        e=e,
        positives=(counts.labeled + hidden).astype(float),
        concordance=np.clip(inside, 0, 1),
    )


def level_of(v: FloatArray, counts: AuditCounts) -> FloatArray:
    """-logit c of all positives, of v by bin, shape (bins, draws).

    Confirmed rows weighted by 1 / e are the positives: so exp(-logit c) is their mean of exp(v).
    """
    share = (counts.labeled / counts.labeled.sum())[:, np.newaxis]
    return np.asarray(special.logsumexp(v, axis=0, b=share))
