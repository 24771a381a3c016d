"""How verdicts relate to the truth: reviewers who err, and cases they leave undecided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._arrays import FloatArray
from pumonitor.errors import InputError

__all__ = ["EXACT", "Reading", "Reviewers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One assumption of how verdicts come about.

    Attributes
    ----------
    sensitivity, specificity : float
        P(verdict positive | positive) and P(verdict negative | negative).
    odds_above, odds_below : float
        Odds that an undecided case is positive over those of a decided one of the same bin, at or
        above the threshold and below it. 1: missing at random within a bin.
    """

    sensitivity: float = 1.0
    specificity: float = 1.0
    odds_above: float = 1.0
    odds_below: float = 1.0

    @property
    def exact(self) -> bool:
        """Whether verdicts are the truth, and undecided cases are like the others of their bin."""
        return self.sensitivity == self.specificity == self.odds_above == self.odds_below == 1

    def odds(self, above: NDArray[np.bool_]) -> FloatArray:
        """The odds of undecided cases by bin."""
        return np.where(above, self.odds_above, self.odds_below)

    def said(self, share: FloatArray) -> FloatArray:
        """P(verdict positive) where `share` of the decided cases are positive."""
        return share * self.sensitivity + (1 - share) * (1 - self.specificity)


EXACT: Final = Reading()
"""Reviewers do not err."""


def share_of_decided(share: FloatArray, undecided: FloatArray, odds: FloatArray) -> FloatArray:
    """Share of positives among decided cases, from that among all drawn ones.

    Parameters
    ----------
    share : ndarray
        u, of all cases that are drawn.
    undecided : ndarray
        Which share of the drawn cases is undecided, below 1.
    odds : ndarray
        Odds of being positive of an undecided case over those of a decided one.

    Notes
    -----
    With d the share undecided and f what is sought, u = (1 - d) f + d w f / (1 - f + w f): the
    root of a quadratic equation, written so that small shares lose no digits.

    Examples
    --------
    >>> found = share_of_decided(np.array([0.3]), np.array([0.4]), np.array([4.0]))
    >>> rest = 4 * found / (1 - found + 4 * found)
    >>> bool(abs(0.6 * found + 0.4 * rest - 0.3)[0] < 1e-12)
    True
    """
    square = (1 - undecided) * (odds - 1)
    linear = (1 - undecided) + undecided * odds - share * (odds - 1)
    found = 2 * share / (linear + np.sqrt(np.maximum(linear**2 + 4 * square * share, 0)))
    return np.asarray(np.clip(found, 0, 1))  # rounding may leave it just above 1


_CERTAIN: Final = 2**31
"""As many known negatives, all of them called negative, as stand for a specificity of 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewers:
    """What blind seeds and cases given twice tell of the reviewers.

    Attributes
    ----------
    found, positives : int
        How many cases known to be positive were called positive, of how many.
    cleared, negatives : int
        How many cases known to be negative were called negative, of how many.

    Raises
    ------
    InputError
        Unless 0 <= found <= positives and 0 <= cleared <= negatives.
    """

    found: int
    positives: int
    cleared: int
    negatives: int

    def __post_init__(self) -> None:
        if not (0 <= self.found <= self.positives and 0 <= self.cleared <= self.negatives):
            msg = (
                "seeds must satisfy 0 <= found <= positives and 0 <= cleared <= negatives, got "
                f"{self.found} of {self.positives} and {self.cleared} of {self.negatives}"
            )
            raise InputError(msg)

    @classmethod
    def of_positives(cls, found: int, positives: int) -> Reviewers:
        """What known positives alone tell: no negative is taken to be called positive."""
        return cls(found=found, positives=positives, cleared=_CERTAIN, negatives=_CERTAIN)

    def readings(self, *, sensitivities: int = 2, specificities: int = 5) -> list[Reading]:
        """Equally likely values of both: quantile midpoints of Beta(right + 1, wrong + 1/2).

        The exponent of 1/2 on errors says that errors are rare, not that half of all verdicts are
        wrong, where there are few seeds.
        """
        known = self.cleared == self.negatives == _CERTAIN
        specific = np.ones(1) if known else _midpoints(self.cleared, self.negatives, specificities)
        return [
            Reading(sensitivity=float(one), specificity=float(other))
            for one in _midpoints(self.found, self.positives, sensitivities)
            for other in specific
        ]


def _midpoints(right: int, seeds: int, count: int) -> FloatArray:
    middles = (np.arange(count) + 0.5) / count
    return np.asarray(special.betaincinv(right + 1, seeds - right + 0.5, middles))
