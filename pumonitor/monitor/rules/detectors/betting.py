"""Betting detector: evidence against an unchanged mean that is valid for every distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.detectors.seen import Seen
from pumonitor.monitor.rules.detectors.shifts import Direction, signs_of

STAKES: Final = (0.15, 0.3, 0.6, 0.95)
"""Stakes as shares of the largest stake with which a bet cannot lose more than everything."""

# The mean is only estimated, from the reference and later windows. It is moved by this many of its
# standard errors in the tested direction. The true mean is still beyond it in 4 of 10 series at
# first; in some of these bets win though nothing changes, and the other series make up for it. With
# references of 10, 20 and 60 windows and a chosen rate of 1, recall has .53 to .56 false alarms and
# AUC with the true prior .81. With 0 instead they are .67 and .90, with .5 they are .42 and .74.
_SAFETY: Final = 0.25


def auc_bounds(class_prior: float) -> tuple[float, float]:
    """Bounds of one positive's placement, rescaled so that its mean is AUC.

    The placement T is the share of the population that the positive scores above. AUC is the mean
    of (T - pi / 2) / (1 - pi), and T is within [0, 1].

    Examples
    --------
    >>> auc_bounds(0.2)
    (-0.125, 1.125)
    """
    return -0.5 * class_prior / (1 - class_prior), (1 - 0.5 * class_prior) / (1 - class_prior)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bets:
    """Bets with several stakes, each that the mean has fallen or that it has risen.

    Guarantee: combined by Shiryaev-Roberts, the mean number of windows to a false alarm is at least
    the chosen one, for every distribution within the bounds. It requires that the mean of a window,
    given those before, is never beyond the mean that is bet against. AUL and recall meet this when
    ranking and class prior are unchanged; AUC meets it with the right class prior, but not with one
    that drifts or is off for long.

    The guarantee is approximate in two ways. The mean that is bet against is estimated: the
    guarantee holds after a long reference, and with a short one on average over references (see
    `_SAFETY`), not for each. And a revised window is bet on again: both versions together may alarm
    more often than either alone.

    Stakes are fixed before the first window and the mean comes from earlier windows, so a bet never
    depends on the window it is on.

    Attributes
    ----------
    signs : ndarray of shape (bets,)
        -1 for a bet on a fall, 1 for a bet on a rise.
    stakes : ndarray of shape (bets,)
        Of `STAKES`.
    """

    signs: FloatArray
    stakes: FloatArray

    @classmethod
    def of(cls, direction: Direction) -> Bets:
        """Bets on a change in this direction."""
        signs = np.repeat(signs_of(direction), len(STAKES))
        return cls(signs=signs, stakes=np.resize(STAKES, len(signs)))

    def log_ratios(self, seen: Seen) -> FloatArray:
        """Log of the factor by which each bet's capital grows: 1 + stake (value - mean).

        The factor is never negative. Its mean given the past is at most 1 if the value's mean given
        the past is not beyond `mean` in the tested direction. No other assumption is made on the
        distribution within the bounds or on the dependence between windows.
        """
        mean = self.mean(seen)
        ends = np.where(self.signs < 0, seen.bounds[:, 1:], seen.bounds[:, :1])
        room = np.abs(ends - mean)
        # If the mean is at its bound there is nothing to win, and the stake is 0.
        most = np.divide(self.signs, room, out=np.zeros_like(room), where=room > 1e-12)
        gain = self.stakes * most * (seen.value[:, np.newaxis] - mean)
        with np.errstate(divide="ignore"):
            return np.log1p(np.maximum(gain, -1.0))

    def mean(self, seen: Seen) -> FloatArray:
        """The mean that each bet is against: the level moved by `_SAFETY` standard errors."""
        mean = seen.level[:, np.newaxis] + self.signs * _SAFETY * seen.level_spread[:, np.newaxis]
        return np.clip(mean, seen.bounds[:, :1], seen.bounds[:, 1:])
