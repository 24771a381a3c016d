"""Chance of what is known of the rows of a bin, given p, e and s, and its derivatives.

See ``docs/decisions/reviews.md`` for the derivation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.audit.reading import share_of_decided
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


class _Share(NamedTuple):
    """Of positives among some rows, the rest, and its slope by logit p."""

    p: FloatArray
    p_not: FloatArray
    slope: FloatArray


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
    odds : float
        Odds that an undecided row is positive over those of a decided one of its bin.
    """

    counts: ReviewCounts
    errs: bool
    odds: float = 1.0

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
        counts, silent = self.counts, special.expit(v)
        p, p_not = special.expit(p_logit), special.expit(-p_logit)
        decided, undecided = self._among_reviewed(p, p_not)
        found = [
            (counts.open_silent, p * silent / (p * silent + p_not)),
            (counts.stopped, p),
            (
                counts.undecided_silent,
                undecided.p * silent / (undecided.p * silent + undecided.p_not),
            ),
        ]
        if self.errs:
            missed = decided.p * special.expit(-s_logit)[..., np.newaxis] * silent
            found.append((counts.cleared_silent, missed / (missed + decided.p_not)))
        return found

    def _among_reviewed(self, p: FloatArray, p_not: FloatArray) -> tuple[_Share, _Share]:
        """Share of positives among decided and among undecided rows, where that of both is p.

        With d the share undecided, w the odds and f the share among the decided,
        p = (1 - d) f + d w f / (1 - f + w f).
        """
        counts, whole = self.counts, _Share(p, p_not, p * p_not)
        left = counts.undecided
        if self.odds == 1 or not left.any():
            return whole, whole
        # Those drawn among silent rows are reviewed for another reason.
        decided = counts.reviewed - counts.drawn_positive - counts.drawn_negative
        part = left / np.maximum(left + decided, 1)
        share = share_of_decided(p, part, np.full(part.shape, self.odds))
        mixed = 1 - share + self.odds * share
        slope = p * p_not / (1 - part + part * self.odds / mixed**2)
        return (
            _Share(share, 1 - share, slope),
            _Share(self.odds * share / mixed, (1 - share) / mixed, slope * self.odds / mixed**2),
        )

    def _groups(
        self, p_logit: FloatArray, v: FloatArray, s_logit: FloatArray
    ) -> list[list[_Outcome]]:
        """Outcomes of rows that came to be known in the same way."""
        counts, e, silent = self.counts, special.expit(-v), special.expit(v)
        p, p_not = special.expit(p_logit), special.expit(-p_logit)
        decided, undecided = self._among_reviewed(p, p_not)
        whole, none = _Share(p, p_not, p * p_not), np.zeros(1)
        drawn = counts.drawn_positive + counts.drawn_negative
        groups = [
            _left_alone(whole, e, silent, counts.open_complained, counts.open_silent + drawn),
            self._reviewed(decided, e, silent, s_logit),
        ]
        if counts.undecided.any():
            came, stayed = counts.undecided_complained, counts.undecided_silent
            groups.append(_left_alone(undecided, e, silent, came, stayed))
        if drawn.any():
            # Given that the row was silent, which is counted above.
            quiet, e_slope = p_not + p * silent, -e * silent
            quiet_p, quiet_v = -whole.slope * e, -p * e_slope
            share, rest = p * silent / quiet, p_not / quiet
            share_p = (whole.slope * silent - share * quiet_p) / quiet
            share_v = rest * quiet_v / quiet
            groups.append(
                [
                    _Outcome(counts.drawn_positive, share, (share_p, share_v, none)),
                    _Outcome(counts.drawn_negative, rest, (-share_p, -share_v, none)),
                ]
            )
        return groups

    def _reviewed(
        self,
        decided: _Share,
        e: FloatArray,
        silent: FloatArray,
        s_logit: FloatArray,
    ) -> list[_Outcome]:
        counts, none = self.counts, np.zeros(1)
        p, p_not, p_slope = decided.p, decided.p_not, decided.slope
        s = special.expit(s_logit)[..., np.newaxis] if self.errs else np.ones(1)
        missed = special.expit(-s_logit)[..., np.newaxis] if self.errs else np.zeros(1)
        e_slope, s_slope = -e * silent, s * missed
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


def _left_alone(
    share: _Share, e: FloatArray, silent: FloatArray, complained: IntArray, quiet: IntArray
) -> list[_Outcome]:
    """Rows that nothing stopped: they complained or did not."""
    none, e_slope = np.zeros(1), -e * silent
    return [
        _Outcome(complained, share.p * e, (share.slope * e, share.p * e_slope, none)),
        _Outcome(
            quiet, share.p_not + share.p * silent, (-share.slope * e, -share.p * e_slope, none)
        ),
    ]
