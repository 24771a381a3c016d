"""Whether confirmed positives are a fair sample: the likelihood ratio of beta = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.audit.bin_likelihood import CONFIRMED_EXPONENT, NEGATIVE_EXPONENT
from pumonitor.audit.counts import AuditCounts

__all__ = ["Fairness", "check_fairness"]

FloatArray = NDArray[np.float64]

SIMULATIONS: Final = 399
_GRID: Final = 11
_REFINEMENTS: Final = 3
_ROUNDING: Final = 0.05
"""By how much a ratio may be off, since the highest point is sought on grids."""

_WIDTH: Final = np.array([2.5, 4.0])  # of the first grid, in alpha and beta


@dataclass(frozen=True, slots=True, kw_only=True)
class Fairness:
    """A test of whether the label frequency follows the score.

    Attributes
    ----------
    p_value : float
        Share of simulated audits with fair labels whose likelihood ratio is as large.
    favoured : float
        How many times as often the highest scores are confirmed as the lowest, as estimated.
    """

    p_value: float
    favoured: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Audits:
    """Counts of many audits of the same window, shape (audits, bins)."""

    labeled: FloatArray
    found: FloatArray
    cleared: FloatArray
    rest: FloatArray

    def share(self, e: FloatArray) -> FloatArray:
        """P where the likelihood of each bin is highest, given e; shape (..., audits, bins)."""
        a = self.labeled + self.found + CONFIRMED_EXPONENT
        b = self.cleared + NEGATIVE_EXPONENT
        square = (a + b + self.rest) * e
        linear = a * e + a + b + self.rest * e
        root = np.sqrt(np.maximum(linear**2 - 4 * square * a, 0))
        return np.asarray(2 * a / (linear + root))

    def log_likelihood(self, alpha: FloatArray, beta: FloatArray, rank: FloatArray) -> FloatArray:
        """The highest over p, summed over bins; alpha and beta have shape (..., audits)."""
        v = alpha[..., np.newaxis] + beta[..., np.newaxis] * rank
        e = 1 / (1 + np.exp(v))
        p = np.minimum(self.share(e), 1 - 1e-12)
        value = (self.labeled + self.found + CONFIRMED_EXPONENT) * np.log(p)
        value += (self.labeled + CONFIRMED_EXPONENT) * np.log(e)
        value += self.found * np.log1p(-e) + (self.cleared + NEGATIVE_EXPONENT) * np.log1p(-p)
        value += self.rest * np.log1p(-p * e)
        return np.asarray(value.sum(axis=-1))


def check_fairness(counts: AuditCounts, *, seed: int = 0) -> Fairness:
    """Test beta = 0 by its likelihood ratio, at a level found by simulation.

    It sees what is monotone in the score, and no favour inside a bin or by anything but the score.

    Parameters
    ----------
    counts : AuditCounts
    seed : int

    Notes
    -----
    Under the hypothesis all bins share one label frequency; it and the p of each bin are estimated,
    399 audits of the same design are simulated with them, confirmations included, and the ratio of
    each is computed as that of the audit. Verdicts are taken for the truth.
    """
    rank = counts.bins.rank
    told = 1 / (1 / (counts.positive + 0.5) + 1 / (counts.labeled + 0.5))
    rank = rank - float(rank @ told / told.sum())  # so that alpha and beta are nearly independent
    observed = _Audits(
        labeled=counts.labeled[np.newaxis].astype(float),
        found=counts.positive[np.newaxis].astype(float),
        cleared=(counts.decided - counts.positive)[np.newaxis].astype(float),
        rest=(counts.undrawn + counts.undecided)[np.newaxis].astype(float),
    )
    start = _crude_level(counts)
    ratio, alpha, beta = _ratio(observed, np.array([start]), rank)
    simulated = _simulated(counts, observed, alpha, np.random.default_rng(seed))
    others, _, _ = _ratio(simulated, np.full(SIMULATIONS, alpha[0]), rank)
    ends = alpha[0] + beta[0] * rank[[0, -1]]
    low, high = 1 / (1 + np.exp(ends))
    as_large = int((others >= ratio[0] - _ROUNDING).sum())
    return Fairness(p_value=(1 + as_large) / (1 + SIMULATIONS), favoured=float(high / low))


def _crude_level(counts: AuditCounts) -> float:
    """-logit e as if every bin had the same: found positives, weighted up, over confirmed ones."""
    weight = counts.bins.unlabeled / np.maximum(counts.decided, 1)
    hidden = float((weight * counts.positive).sum())
    return float(np.log(hidden + 0.5) - np.log(counts.labeled.sum() + 0.5))


def _ratio(
    audits: _Audits, start: FloatArray, rank: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Twice the log likelihood ratio of each audit, alpha under beta = 0, and the slope beta."""
    fair, alpha, _ = _highest(audits, start, rank, sloped=False)
    free, _, beta = _highest(audits, alpha, rank, sloped=True)
    return 2 * np.maximum(free - fair, 0), alpha, beta


def _highest(
    audits: _Audits, start: FloatArray, rank: FloatArray, *, sloped: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The highest likelihood, on grids that narrow down on it."""
    alpha, beta, width = start, np.zeros_like(start), _WIDTH
    steps = np.linspace(-1, 1, _GRID)
    value = np.full_like(start, -np.inf)
    for _ in range(_REFINEMENTS):
        slopes = steps if sloped else np.zeros(1)
        grid = np.stack(np.meshgrid(steps, slopes, indexing="ij")).reshape(2, -1, 1)
        alphas, betas = alpha + width[0] * grid[0], beta + width[1] * grid[1]
        values = audits.log_likelihood(alphas, betas, rank)
        best = values.argmax(axis=0)
        audit = np.arange(len(start))
        alpha, beta, value = alphas[best, audit], betas[best, audit], values[best, audit]
        width = width * 2 / (_GRID - 1)
    return value, alpha, beta


def _simulated(
    counts: AuditCounts, observed: _Audits, alpha: FloatArray, rng: np.random.Generator
) -> _Audits:
    """Audits of the same design with fair labels, one a row."""
    e = 1 / (1 + np.exp(alpha[0]))
    p = observed.share(np.array(e))[0]
    shape = (SIMULATIONS, len(p))
    labeled = rng.binomial(counts.rows, p * e, size=shape)
    labeled = np.minimum(labeled, counts.rows - counts.decided)
    found = rng.binomial(counts.decided, p * (1 - e) / (1 - p * e), size=shape)
    return _Audits(
        labeled=labeled.astype(float),
        found=found.astype(float),
        cleared=(counts.decided - found).astype(float),
        rest=(counts.rows - labeled - counts.decided).astype(float),
    )
