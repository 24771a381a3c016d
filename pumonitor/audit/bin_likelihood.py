"""One score bin: likelihood and draws of p and e, by integrals over one number each.

See ``docs/decisions/audits.md`` for the derivation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.reading import Reading, share_of_decided

__all__ = ["BinTables", "Bins", "make_tables"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

CONFIRMED_EXPONENT: Final = 0.05
"""Of p e in the prior: how much of a confirmation an empty bin is taken to hold."""

NEGATIVE_EXPONENT: Final = 0.2
"""Of 1 - p in the prior: bins without a negative among their verdicts may have next to none."""

UNSEEN_EXPONENT: Final = 1.0
"""The same of a bin without a verdict: 1 makes its likelihood of e flat, so that it tells none."""

_REACH: Final = 5.0
_NODES: Final = 72


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """The likelihood of every bin, for arrays whose first axis is the bin."""

    counts: AuditCounts
    reading: Reading
    unseen_exponent: float = UNSEEN_EXPONENT

    @property
    def negative_exponent(self) -> FloatArray:
        """Of 1 - p in the prior, by bin."""
        return np.where(self.counts.decided > 0, NEGATIVE_EXPONENT, self.unseen_exponent)

    def log_density(self, p_logit: FloatArray, v: FloatArray) -> FloatArray:
        """Log of likelihood and prior of p, by logit p and v = -logit e, without a constant.

        Parameters
        ----------
        p_logit, v : ndarray of shape (bins, ...)
        """
        across = (slice(None), *(None,) * (p_logit.ndim - 1))
        counts = self.counts
        positive, negative = -np.logaddexp(0, -p_logit), -np.logaddexp(0, p_logit)
        confirmed, missed = -np.logaddexp(0, v), -np.logaddexp(0, -v)
        unlabeled = np.logaddexp(negative, positive + missed)
        drawn = counts.undrawn + counts.undecided
        found = counts.positive
        total = (counts.labeled + CONFIRMED_EXPONENT)[across] * (positive + confirmed)
        total += self.negative_exponent[across] * negative
        if self.reading.exact:
            total += found[across] * (positive + missed)
            total += (counts.decided - found)[across] * negative
            return np.asarray(total + drawn[across] * unlabeled)
        total += (counts.rows - counts.labeled)[across] * unlabeled
        return np.asarray(total + self._verdicts(np.exp(positive + missed - unlabeled)))

    def _verdicts(self, share: FloatArray) -> FloatArray:
        """Log likelihood of the verdicts, `share` of the unlabeled rows being positive."""
        counts = self.counts
        across = (slice(None), *(None,) * (share.ndim - 1))
        undecided = counts.undecided / np.maximum(counts.decided + counts.undecided, 1)
        odds = self.reading.odds(counts.bins.above)
        said = self.reading.said(share_of_decided(share, undecided[across], odds[across]))
        said = np.clip(said, 1e-300, 1 - 1e-16)
        found, cleared = counts.positive, counts.decided - counts.positive
        return np.asarray(found[across] * np.log(said) + cleared[across] * np.log1p(-said))

    def summit(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where the density over logit p is highest given v, and its width there.

        The derivative of the log density has one root in (0, 1), that of a quadratic equation.
        Where verdicts are not the truth it is that of expected true verdicts: near enough, since
        the grid around it reaches far.
        """
        counts = self.counts
        across = (slice(None), *(None,) * (v.ndim - 1))
        found, cleared = self._true_verdicts()
        a = (counts.labeled + found + CONFIRMED_EXPONENT)[across]
        b = (cleared + self.negative_exponent)[across]
        k = (counts.undrawn + counts.undecided)[across]
        e, missed = 1 / (1 + np.exp(v)), 1 / (1 + np.exp(-v))
        square = (a + b + k) * e
        linear = a * e + a + b + k * e
        p = 2 * a / (linear + np.sqrt(np.maximum(linear**2 - 4 * square * a, 0)))
        # The same root counted from 1: p rounds to 1 where nearly all rows are positive.
        other = linear - 2 * square
        root = np.sqrt(other**2 + 4 * square * b * missed)
        rest = np.where(
            other > 0, 2 * b * missed / (np.abs(other) + root), (root - other) / (2 * square)
        )
        bend = (1 - 2 * p + e * p**2) / (rest + p * missed) ** 2
        information = p * rest * (a + b + k * e * bend)
        return np.log(p) - np.log(rest), 1 / np.sqrt(np.maximum(information, 1e-4))

    def _true_verdicts(self) -> tuple[FloatArray, FloatArray]:
        counts, reading = self.counts, self.reading
        found, decided = counts.positive.astype(float), counts.decided.astype(float)
        if reading.exact:
            return found, decided - found
        said = found / np.maximum(decided, 1)
        gain = max(reading.sensitivity + reading.specificity - 1, 0.05)
        share = np.clip((said - 1 + reading.specificity) / gain, 0.1 * said, 1)
        return decided * share, decided * (1 - share)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinTables:
    """Integrals over p at a grid of v, and what draws of p given v need.

    Attributes
    ----------
    v : ndarray of shape (points,)
        Equal steps.
    log_likelihood : ndarray of shape (bins, points)
        Of v, with p integrated out; its maximum is 0 in each bin.
    log_scale : float
        What was taken off for that, summed over bins.
    levels : ndarray of shape (bins * points * nodes,)
        Distribution function of p given v at the nodes, with the number of its row added.
    """

    bins: Bins
    v: FloatArray
    log_likelihood: FloatArray
    log_scale: float
    levels: FloatArray

    @property
    def step(self) -> float:
        """Between two points of the grid."""
        return float(self.v[1] - self.v[0])

    def draw_logits(self, at: IntArray, v: FloatArray, uniform: FloatArray) -> FloatArray:
        """Draws of logit p given v, near the points `at` of the grid.

        Parameters
        ----------
        at, v, uniform : ndarray of shape (bins, draws)
        """
        rows = np.arange(len(at))[:, np.newaxis] * len(self.v) + at
        place = np.searchsorted(self.levels, (rows + uniform).ravel()).reshape(at.shape)
        node = np.clip(place - rows * _NODES, 0, _NODES - 1)
        before = np.where(node > 0, self.levels[rows * _NODES + node - 1] - rows, 0)
        after = self.levels[rows * _NODES + node] - rows
        within = np.clip((uniform - before) / np.maximum(after - before, 1e-300), 0, 1)
        step = 2 * _REACH / (_NODES - 1)
        middle, width = self.bins.summit(v)
        return np.asarray(middle + width * np.sinh(-_REACH + (node + within - 0.5) * step))


def make_tables(
    counts: AuditCounts,
    reading: Reading,
    v: FloatArray,
    *,
    unseen_exponent: float = UNSEEN_EXPONENT,
) -> BinTables:
    """Integrate p out of the likelihood of each bin, for every v.

    Logit p runs over 72 nodes, sinh-spaced around the highest point: dense where the density is,
    and 74 widths to each side, since the tails of a bin without a positive are exponential.
    """
    bins = Bins(counts=counts, reading=reading, unseen_exponent=unseen_exponent)
    node = np.linspace(-_REACH, _REACH, _NODES)
    grid = np.broadcast_to(v, (len(counts.rows), len(v)))
    middle, width = bins.summit(grid)
    p_logit = middle[..., np.newaxis] + width[..., np.newaxis] * np.sinh(node)
    density = bins.log_density(p_logit, grid[..., np.newaxis])
    highest = density.max(axis=2)
    mass = np.exp(density - highest[..., np.newaxis]) * np.cosh(node)
    levels = np.cumsum(mass, axis=2)
    total = levels[..., -1].copy()
    levels /= total[..., np.newaxis]
    log_likelihood = highest + np.log(total * width)
    scale = log_likelihood.max(axis=1, keepdims=True)
    rows = np.arange(total.size, dtype=float)[:, np.newaxis]
    return BinTables(
        bins=bins,
        v=v,
        log_likelihood=log_likelihood - scale,
        log_scale=float(scale.sum()),
        levels=(levels.reshape(total.size, _NODES) + rows).ravel(),
    )
