"""Bets against a mean that has not changed: evidence that holds whatever the distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.monitor.rules.detectors.seen import Seen
from pumonitor.monitor.rules.detectors.shifts import Direction, signs_of

__all__ = ["STAKES", "Bets", "auc_bounds"]

FloatArray = NDArray[np.float64]

STAKES: Final = (0.15, 0.3, 0.6, 0.95)
"""Of what can be staked at most without owing anything."""

# The mean is known from the reference and later windows alone, and so many of its standard
# deviations are taken off (in the direction looked for). The true one is still beyond it in 4 of 10
# series at first, in some of which bets win though nothing changes; the others make up for them:
# with references of 10, 20 and 60 windows there are .53 to .56 false alarms of recall where one is
# asked for, and .81 of AUC with the true prior; with 0 in its place .67 and .90, with .5 .42 and
# .74.
_SAFETY: Final = 0.25


def auc_bounds(class_prior: float) -> tuple[float, float]:
    """What the placement of one positive can be, made to have AUC as its mean.

    T is the share of the population that the positive scores above, AUC the mean of
    (T - pi / 2) / (1 - pi).

    Examples
    --------
    >>> auc_bounds(0.2)
    (-0.125, 1.125)
    """
    return -0.5 * class_prior / (1 - class_prior), (1 - 0.5 * class_prior) / (1 - class_prior)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bets:
    """Bets of several stakes, each on a mean that has fallen or risen.

    Guarantee: added up by Shiryaev-Roberts, the mean number of windows until an alarm is at least
    the one asked for, whatever the distribution within the bounds, at whatever moment one looks,
    provided that the mean of a window given those before is never beyond the one bet against. A
    mean that stays has AUL and recall of a model that ranks as before and a class prior that stays,
    and AUC with the right prior; not with a prior that wanders or has lasting errors. What is bet
    against is an estimate of this mean, so the guarantee holds as far as that is right: after a
    long reference, and with a short one in the average over references, as measured above
    `_SAFETY`, not in each. It is of one series of windows: one that is revised is bet on again, and
    what either version alone would not have told often enough, both may.

    Stakes are fixed before any window, and the mean is known from those before: bets do not see
    what they are on.

    Attributes
    ----------
    signs : ndarray of shape (bets,)
    stakes : ndarray of shape (bets,)
    """

    signs: FloatArray
    stakes: FloatArray

    @classmethod
    def of(cls, direction: Direction) -> Bets:
        """On a change in this direction."""
        signs = np.repeat(signs_of(direction), len(STAKES))
        return cls(signs=signs, stakes=np.resize(STAKES, len(signs)))

    def log_ratios(self, seen: Seen) -> FloatArray:
        """Logarithm of 1 + stake (value - mean) for each bet.

        The ratio is never negative, and its mean given the past is at most 1 if the value's mean
        given the past is not beyond `mean` in the direction looked for. Nothing else is asked of
        the distribution within the bounds, nor of how windows depend on each other.
        """
        mean = self.mean(seen)
        ends = np.where(self.signs < 0, seen.bounds[:, 1:], seen.bounds[:, :1])
        room = np.abs(ends - mean)
        # Against a mean at its end nothing can be staked.
        most = np.divide(self.signs, room, out=np.zeros_like(room), where=room > 1e-12)
        gain = self.stakes * most * (seen.value[:, np.newaxis] - mean)
        with np.errstate(divide="ignore"):
            return np.log1p(np.maximum(gain, -1.0))

    def mean(self, seen: Seen) -> FloatArray:
        """What each bet is against: the level, less what its error may make of it."""
        mean = seen.level[:, np.newaxis] + self.signs * _SAFETY * seen.level_spread[:, np.newaxis]
        return np.clip(mean, seen.bounds[:, :1], seen.bounds[:, 1:])
