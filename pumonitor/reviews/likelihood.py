"""Chance of what is known of the rows of a bin, given p, e and s, and its derivatives.

See ``docs/decisions/reviews.md`` for the derivation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.reviews.counts import ReviewCounts

__all__ = ["Likelihood", "Slopes"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_LEAST: Final = 1e-300


class _Outcome(NamedTuple):
    """Rows that came out in one way, the chance of it, and its slopes by logit p, v and logit s."""

    rows: IntArray
    chance: FloatArray
    slopes: tuple[FloatArray, FloatArray, FloatArray]


class Slopes(NamedTuple):
    """Of the log likelihood of each bin, by logit p, v = -logit e and logit s.

    Attributes
    ----------
    gradient : ndarray of shape (3, ..., bins)
    information : ndarray of shape (3, 3, ..., bins)
        Expected, given how many rows were reviewed: never negative.
    """

    gradient: FloatArray
    information: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Likelihood:
    """Of all bins; the last axis of every array is the bin.

    A row is positive with chance p; a positive that nothing stops complains with chance e; a
    reviewer calls a positive one positive with chance s.

    Attributes
    ----------
    counts : ReviewCounts
    errs : bool
        Whether s may be below 1.
    """

    counts: ReviewCounts
    errs: bool

    def value(self, p_logit: FloatArray, v: FloatArray, s_logit: FloatArray) -> FloatArray:
        """Log likelihood, summed over bins."""
        total = np.zeros(np.broadcast_shapes(p_logit.shape, v.shape))
        for group in self._groups(p_logit, v, s_logit):
            for outcome in group:
                total += special.xlogy(outcome.rows, np.maximum(outcome.chance, _LEAST))
        return np.asarray(total.sum(axis=-1))

    def slopes(self, p_logit: FloatArray, v: FloatArray, s_logit: FloatArray) -> Slopes:
        """Gradient and expected information."""
        shape = np.broadcast_shapes(p_logit.shape, v.shape)
        gradient, information = np.zeros((3, *shape)), np.zeros((3, 3, *shape))
        for group in self._groups(p_logit, v, s_logit):
            rows = np.sum([outcome.rows for outcome in group], axis=0)
            for outcome in group:
                chance = np.maximum(outcome.chance, _LEAST)
                for row, slope in enumerate(outcome.slopes[: 3 if self.errs else 2]):
                    gradient[row] += outcome.rows * slope / chance
                    for column in range(row + 1):
                        information[row, column] += rows * slope * outcome.slopes[column] / chance
        for row, column in ((0, 1), (0, 2), (1, 2)):
            information[row, column] = information[column, row]
        return Slopes(gradient, information)

    def hidden(
        self, p_logit: FloatArray, v: FloatArray, s_logit: FloatArray
    ) -> list[tuple[IntArray, FloatArray]]:
        """Rows of which it is not known whether they are positive, and the chance that they are."""
        counts = self.counts
        p, p_not = special.expit(p_logit), special.expit(-p_logit)
        silent = special.expit(v)
        found = [
            (counts.open_silent + counts.undecided_silent, p * silent / (p * silent + p_not)),
            (counts.stopped, p),
        ]
        if self.errs:
            missed = p * special.expit(-s_logit)[..., np.newaxis] * silent
            found.append((counts.cleared_silent, missed / (missed + p_not)))
        return found

    def _groups(
        self, p_logit: FloatArray, v: FloatArray, s_logit: FloatArray
    ) -> list[list[_Outcome]]:
        """Outcomes of rows that came to be known in the same way."""
        counts = self.counts
        p, p_not = special.expit(p_logit), special.expit(-p_logit)
        e, silent = special.expit(-v), special.expit(v)
        p_slope, e_slope, none = p * p_not, -e * silent, np.zeros(1)
        quiet, quiet_p, quiet_v = p_not + p * silent, -p_slope * e, -p * e_slope
        left_alone = [
            _Outcome(
                counts.open_complained + counts.undecided_complained,
                p * e,
                (p_slope * e, p * e_slope, none),
            ),
            _Outcome(counts.silent, quiet, (quiet_p, quiet_v, none)),
        ]
        drawn = []
        if counts.drawn_positive.any() or counts.drawn_negative.any():
            # Given that the row was silent, which is counted above.
            share, rest = p * silent / quiet, p_not / quiet
            drawn = [
                _Outcome(
                    counts.drawn_positive,
                    share,
                    ((p_slope * silent - share * quiet_p) / quiet, rest * quiet_v / quiet, none),
                ),
                _Outcome(
                    counts.drawn_negative,
                    rest,
                    ((-p_slope - rest * quiet_p) / quiet, -rest * quiet_v / quiet, none),
                ),
            ]
        return [left_alone, drawn, self._reviewed(p, p_not, e, silent, s_logit)]

    def _reviewed(
        self,
        p: FloatArray,
        p_not: FloatArray,
        e: FloatArray,
        silent: FloatArray,
        s_logit: FloatArray,
    ) -> list[_Outcome]:
        counts, none = self.counts, np.zeros(1)
        s = special.expit(s_logit)[..., np.newaxis] if self.errs else np.ones(1)
        missed = special.expit(-s_logit)[..., np.newaxis] if self.errs else np.zeros(1)
        p_slope, e_slope, s_slope = p * p_not, -e * silent, s * missed
        if counts.blocks:
            positive = [
                _Outcome(
                    counts.positive_silent + counts.positive_complained,
                    p * s,
                    (p_slope * s, none, p * s_slope),
                )
            ]
        else:
            positive = [
                _Outcome(
                    counts.positive_complained,
                    p * s * e,
                    (p_slope * s * e, p * s * e_slope, p * s_slope * e),
                ),
                _Outcome(
                    counts.positive_silent,
                    p * s * silent,
                    (p_slope * s * silent, -p * s * e_slope, p * s_slope * silent),
                ),
            ]
        if not self.errs:
            # Whoever is cleared is negative: a complaint of such a row contradicts that.
            cleared = counts.cleared_silent + counts.cleared_complained
            return [*positive, _Outcome(cleared, p_not, (-p_slope, none, none))]
        return [
            *positive,
            _Outcome(
                counts.cleared_complained,
                p * missed * e,
                (p_slope * missed * e, p * missed * e_slope, -p * s_slope * e),
            ),
            _Outcome(
                counts.cleared_silent,
                p_not + p * missed * silent,
                (p_slope * (missed * silent - 1), -p * missed * e_slope, -p * s_slope * silent),
            ),
        ]
