"""What is known of the class prior of the reference, before windows are followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pumonitor._arrays import FloatArray

_FEWEST_POINTS: Final = 11
_MOST_POINTS: Final = 20
_SPACING: Final = 0.12
_REACH: Final = float(special.ndtri(0.9975))
_LEAST_DEVIATION: Final = 0.02
_WIDER: Final = 1.15
_POWER: Final = 3.21
_PER_AUC: Final = 3.0
_POWERS: Final = (0.3, 1.4)
_FURTHEST: Final = 2.0
_NOT_RULED_OUT: Final = 0.002
_LOWER_SPACING: Final = 0.2
_MOST_LOWER: Final = 8
_ABOVE_CONFIRMED: Final = 1.02
MOST: Final = 0.999
"""The highest class prior that a level holds for possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A density of the reference's class prior on a grid.

    Attributes
    ----------
    class_prior : ndarray of shape (points,)
        Rising.
    weight : ndarray of shape (points,)
        Adding up to 1.
    """

    class_prior: FloatArray
    weight: FloatArray

    @classmethod
    def given(cls, value: float, low: float, high: float) -> Level:
        """Known from elsewhere: an audit, another source.

        Parameters
        ----------
        value, low, high : float
            With its 95% interval, 0 < low <= value <= high < 1.

        Examples
        --------
        >>> level = Level.given(0.03, 0.02, 0.04)
        >>> round(float(level.class_prior @ level.weight), 3)
        0.03
        """
        return cls._split_normal(value, low, high, wider=1.0, power=0.0, least=0.0)

    @classmethod
    def estimated(
        cls,
        value: float,
        low: float,
        high: float,
        *,
        confirmed_share: float,
        auc: float = 0.75,
    ) -> Level:
        """From scores and confirmed positives of the reference.

        Scores tell an upper bound only: whatever separates the classes less well than it could
        puts the estimate above the truth, never below, and the more so the worse the model ranks.
        So both halves of the interval are widened, and each prior is weighed by 1 / prior to a
        power that falls from 1.4 for models that hardly rank to .3 for those with an AUC of .97.

        Parameters
        ----------
        value, low, high : float
            The estimate with its 95% interval, 0 <= low <= value <= high <= 1. Where few are
            confirmed an end may be 0 or 1, which no class prior is: it is taken for a fiftieth of
            the value, or for `MOST`.
        confirmed_share : float
            The class prior cannot be below it.
        auc : float
            Of confirmed rows against all rows, see `auc_against_all`; .75 where it is not known.

        Raises
        ------
        ValueError
            If they are not in this order.

        Notes
        -----
        Widening and power were chosen on 2,172 draws of 49 real and simulated tasks that no table
        reports (`benchmarks.prior.tasks.CHOSEN_ON`): priors of .02 to .3, 20 to 600 confirmed,
        models with AUCs of .5 to 1. On 367 draws of ten others 95% intervals of `auto` held the
        truth in 95.6%, those of this level in 98.9% (below an AUC of .7: 74% and 92%); the mean
        error went from .053 to .029, the width from .88 to 1.00 of the truth.
        """
        if not 0 <= low <= value <= high <= 1 or value == 0:
            msg = (
                "an estimated level must satisfy 0 <= low <= value <= high <= 1 and value > 0, "
                f"got {low}, {value}, {high}"
            )
            raise ValueError(msg)
        value = min(value, MOST)
        low, high = max(low, 0.02 * value), min(max(high, value), MOST)
        return cls._split_normal(
            value,
            min(low, value),
            high,
            wider=_WIDER,
            power=float(np.clip(_POWER - _PER_AUC * auc, *_POWERS)),
            least=confirmed_share,
        )

    def quantiles(self, shares: ArrayLike) -> FloatArray:
        """Class priors below which these shares of the density lie."""
        reached = np.cumsum(self.weight) - 0.5 * self.weight
        wanted = np.asarray(shares, dtype=float)
        return np.asarray(np.exp(np.interp(wanted, reached, np.log(self.class_prior))))

    @classmethod
    def _split_normal(
        cls, value: float, low: float, high: float, *, wider: float, power: float, least: float
    ) -> Level:
        # Where nearly all rows are confirmed it stays below 1.
        at_least = min(_ABOVE_CONFIRMED * least, 1 - (1 - least) / _ABOVE_CONFIRMED)
        low, value, high = (max(one, at_least) for one in (low, value, high))
        middle, below, above = _normals(low, value, high)
        below, above = wider * below, wider * above
        # A power of the prior moves a normal's mean by itself times the variance, at most.
        first = middle - _REACH * below - min(power * below**2, _FURTHEST)
        if least > 0:
            first = max(first, float(special.logit(at_least)))
        first, last = min(first, middle - 1e-3), middle + _REACH * above
        points = min(max(round((last - first) / _SPACING), _FEWEST_POINTS), _MOST_POINTS)
        # Where next to nothing is known of the prior, a power of it is no evidence for the least.
        power = min(power, 1 / below)
        logit = np.linspace(first, last, points)
        class_prior = special.expit(logit)
        log_weight = _log_halves(logit - middle, below, above) - power * np.log(class_prior)
        weight = np.exp(log_weight - log_weight.max())
        weight = weight / weight.sum()
        if least > 0:
            # Scores tell an upper bound, so nothing above the share confirmed is ruled out: where a
            # prior turns out to be far lower, it has not fallen.
            lower = _lower_logits(float(special.logit(at_least)), first)
            class_prior = np.concatenate([special.expit(lower), class_prior])
            share = _NOT_RULED_OUT if len(lower) else 0.0
            flat = np.full(len(lower), share / max(len(lower), 1))
            weight = np.concatenate([flat, (1 - share) * weight])
        return cls(class_prior=class_prior, weight=weight)


def _lower_logits(least: float, first: float) -> FloatArray:
    """Below a grid, down to the least that is possible."""
    points = min(int((first - least) / _LOWER_SPACING), _MOST_LOWER)
    return np.linspace(least, first, points, endpoint=False)


def log_density(class_prior: FloatArray, value: float, low: float, high: float) -> FloatArray:
    """Of two half normals on the logit scale with this median and 95% interval, up to a constant.

    Raises
    ------
    ValueError
        Unless 0 < low <= value <= high < 1.
    """
    middle, below, above = _normals(low, value, high)
    return _log_halves(special.logit(class_prior) - middle, below, above)


def auc_against_all(confirmed: FloatArray, rows: FloatArray) -> float:
    """Chance that a confirmed row scores above any row, ties counting one half.

    Parameters
    ----------
    confirmed, rows : ndarray of shape (cells,)
        Counts by cells of rising score; all rows hold the confirmed ones.

    Examples
    --------
    >>> auc_against_all(np.array([0.0, 1.0, 3.0]), np.array([6.0, 3.0, 3.0]))
    0.8125
    """
    below = np.cumsum(rows) - 0.5 * rows
    return float(confirmed @ below / (confirmed.sum() * rows.sum()))


def _log_halves(off: FloatArray, below: float, above: float) -> FloatArray:
    """Log density of two halves of a normal, each of which has half the weight."""
    deviation = np.where(off < 0, below, above)
    return np.asarray(-0.5 * (off / deviation) ** 2 - np.log(deviation))


def _normals(low: float, value: float, high: float) -> tuple[float, float, float]:
    """Middle, and standard deviation below and above."""
    if not 0 < low <= value <= high < 1:
        msg = f"a level must satisfy 0 < low <= value <= high < 1, got {low}, {value}, {high}"
        raise ValueError(msg)
    start, middle, end = special.logit([low, value, high]).tolist()
    below, above = (
        max(side / float(special.ndtri(0.975)), _LEAST_DEVIATION)
        for side in (middle - start, end - middle)
    )
    return middle, below, above
