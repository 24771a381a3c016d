"""Chance of what reviews and complaints say of the rows of a bin, given p, e and s.

See ``docs/decisions/reviews.md`` for the derivation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.likelihood import (
    Likelihood,
    Outcome,
    Share,
    as_independent,
    drawn_among_silent,
    left_alone,
)
from pumonitor.audit.reading import share_of_decided
from pumonitor.reviews.counts import ReviewCounts
from pumonitor.reviews.unequal_chances import effective_verdicts

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewLikelihood(Likelihood):
    """Of all rows of a window with reviews.

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

    @property
    def bins(self) -> ScoreBins:
        """Those of the counts."""
        return self.counts.bins

    @property
    def complained(self) -> IntArray:
        """Rows without a verdict that complained."""
        return np.asarray(self.counts.open_complained + self.counts.undecided_complained)

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
        return [(number, chance) for number, chance in found if number.any()]

    def _among_reviewed(self, p: FloatArray, p_not: FloatArray) -> tuple[Share, Share]:
        """Share of positives among decided and among undecided rows, where that of both is p.

        With d the share undecided, w the odds and f the share among the decided,
        p = (1 - d) f + d w f / (1 - f + w f).
        """
        counts, whole = self.counts, Share(p, p_not, p * p_not)
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
            Share(share, 1 - share, slope),
            Share(self.odds * share / mixed, (1 - share) / mixed, slope * self.odds / mixed**2),
        )

    def groups(
        self, p_logit: FloatArray, v: FloatArray, s_logit: FloatArray
    ) -> Sequence[Sequence[Outcome]]:
        """Outcomes of rows that came to be known in the same way.

        Positives of one entity complain together: all but what chance drew counts as independent
        rows that tell as much.
        """
        counts, e, silent = self.counts, special.expit(-v), special.expit(v)
        whole = Share.of_logit(p_logit)
        decided, undecided = self._among_reviewed(whole.p, whole.p_not)
        drawn = counts.drawn_positive + counts.drawn_negative
        groups = [
            left_alone(whole, e, silent, counts.open_complained, counts.open_silent + drawn),
            self._reviewed(decided, e, silent, s_logit),
        ]
        if counts.undecided.any():
            came, stayed = counts.undecided_complained, counts.undecided_silent
            groups.append(left_alone(undecided, e, silent, came, stayed))
        groups = [as_independent(group, counts.bins.design_effect) for group in groups]
        if drawn.any():
            groups.append(
                drawn_among_silent(whole, e, silent, counts.drawn_positive, counts.drawn_negative)
            )
        if counts.odds is not None:
            groups.append(self._drawn_unequally(whole, s_logit, counts.odds))
        return groups

    def _drawn_unequally(
        self, whole: Share, s_logit: FloatArray, odds: FloatArray
    ) -> list[Outcome]:
        """Verdicts that stand for the rows of a bin that were not drawn."""
        counts = self.counts
        positive, negative = effective_verdicts(odds, counts.open_complained + counts.open_silent)
        none = np.zeros(1)
        s = special.expit(s_logit)[..., np.newaxis] if self.errs else np.ones(1)
        missed = 1 - s
        slopes = (whole.slope * s, none, whole.p * s * missed)
        return [
            Outcome(positive, whole.p * s, slopes),
            Outcome(
                negative,
                whole.p_not + whole.p * missed,
                (-slopes[0], none, -slopes[2]),
            ),
        ]

    def _reviewed(
        self,
        decided: Share,
        e: FloatArray,
        silent: FloatArray,
        s_logit: FloatArray,
    ) -> list[Outcome]:
        counts, none = self.counts, np.zeros(1)
        p, p_not, p_slope = decided.p, decided.p_not, decided.slope
        s = special.expit(s_logit)[..., np.newaxis] if self.errs else np.ones(1)
        missed = special.expit(-s_logit)[..., np.newaxis] if self.errs else np.zeros(1)
        e_slope, s_slope = -e * silent, s * missed
        if counts.blocks:
            positive = [
                Outcome(
                    counts.positive_silent + counts.positive_complained,
                    p * s,
                    (p_slope * s, none, p * s_slope),
                )
            ]
        else:
            positive = [
                Outcome(
                    counts.positive_complained,
                    p * s * e,
                    (p_slope * s * e, p * s * e_slope, p * s_slope * e),
                ),
                Outcome(
                    counts.positive_silent,
                    p * s * silent,
                    (p_slope * s * silent, -p * s * e_slope, p * s_slope * silent),
                ),
            ]
        if not self.errs:
            # Whoever is cleared is negative: a complaint of such a row contradicts that.
            cleared = counts.cleared_silent + counts.cleared_complained
            return [*positive, Outcome(cleared, p_not, (-p_slope, none, none))]
        return [
            *positive,
            Outcome(
                counts.cleared_complained,
                p * missed * e,
                (p_slope * missed * e, p * missed * e_slope, -p * s_slope * e),
            ),
            Outcome(
                counts.cleared_silent,
                p_not + p * missed * silent,
                (p_slope * (missed * silent - 1), -p * missed * e_slope, -p * s_slope * silent),
            ),
        ]
