"""Chance of what is known of the rows of a bin, given p, e and s, and its derivatives.

See ``docs/decisions/reviews.md`` for the derivation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.counts import AuditCounts
from pumonitor.audit.reading import EXACT, Reading, share_of_decided

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_LEAST: Final = 1e-300


class Outcome(NamedTuple):
    """Rows that came out in one way, the chance of it, and its slopes by logit p, v and logit s."""

    rows: IntArray | FloatArray
    chance: FloatArray
    slopes: tuple[FloatArray, FloatArray, FloatArray]


class Share(NamedTuple):
    """Of positives among some rows, the rest, and its slope by logit p."""

    p: FloatArray
    p_not: FloatArray
    slope: FloatArray

    @classmethod
    def of_logit(cls, p_logit: FloatArray) -> Share:
        """Of all rows of a bin."""
        p, p_not = special.expit(p_logit), special.expit(-p_logit)
        return cls(p, p_not, p * p_not)


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


class Likelihood(ABC):
    """Of all bins; the last axis of every array is the bin.

    A row is positive with chance p; a positive that nothing stops complains, or gets confirmed,
    with chance e; a reviewer calls a positive one positive with chance s.

    Attributes
    ----------
    errs : bool
        Whether s may be below 1.
    """

    errs: bool = False

    @property
    @abstractmethod
    def bins(self) -> ScoreBins:
        """Whose rows these are."""

    @property
    @abstractmethod
    def complained(self) -> IntArray:
        """Rows by bin that nothing stopped and that complained."""

    @abstractmethod
    def groups(
        self, p_logit: FloatArray, v: FloatArray, s_logit: FloatArray
    ) -> Sequence[Sequence[Outcome]]:
        """Outcomes of rows that came to be known in the same way."""

    def value(self, p_logit: FloatArray, v: FloatArray, s_logit: FloatArray) -> FloatArray:
        """Log likelihood, summed over bins."""
        total = np.zeros(np.broadcast_shapes(p_logit.shape, v.shape)[:-1])
        for group in self.groups(p_logit, v, s_logit):
            for outcome in group:
                total += np.log(np.maximum(outcome.chance, _LEAST)) @ outcome.rows
        return total

    def slopes(self, p_logit: FloatArray, v: FloatArray, s_logit: FloatArray) -> Slopes:
        """Gradient and expected information."""
        shape = np.broadcast_shapes(p_logit.shape, v.shape)
        gradient, information = np.zeros((3, *shape)), np.zeros((3, 3, *shape))
        for group in self.groups(p_logit, v, s_logit):
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditLikelihood(Likelihood):
    """Of rows that nothing stops, some of which were drawn among the unconfirmed.

    Attributes
    ----------
    counts : AuditCounts
    reading : Reading
        How verdicts relate to the truth.
    """

    counts: AuditCounts
    reading: Reading = EXACT

    @property
    def bins(self) -> ScoreBins:
        """Those of the counts."""
        return self.counts.bins

    @property
    def complained(self) -> IntArray:
        """Confirmed rows."""
        return self.counts.labeled

    def groups(
        self, p_logit: FloatArray, v: FloatArray, s_logit: FloatArray
    ) -> Sequence[Sequence[Outcome]]:
        """Confirmed or not, and of those that were drawn the verdicts.

        Which rows were drawn does not depend on entities, so that verdicts count whole.
        """
        del s_logit
        counts, whole = self.counts, Share.of_logit(p_logit)
        e, silent = special.expit(-v), special.expit(v)
        confirmed = left_alone(whole, e, silent, counts.labeled, counts.bins.unlabeled)
        return [
            as_independent(confirmed, counts.bins.design_effect),
            drawn_among_silent(
                whole,
                e,
                silent,
                counts.positive,
                counts.decided - counts.positive,
                undecided=counts.undecided,
                reading=self.reading,
                above=counts.bins.above,
            ),
        ]


def as_independent(group: Sequence[Outcome], design_effect: float) -> list[Outcome]:
    """As many rows as tell as much, where positives share entities."""
    return [outcome._replace(rows=outcome.rows / design_effect) for outcome in group]


def left_alone(
    share: Share, e: FloatArray, silent: FloatArray, complained: IntArray, quiet: IntArray
) -> list[Outcome]:
    """Rows that nothing stopped: they complained or did not."""
    none, e_slope = np.zeros(1), -e * silent
    return [
        Outcome(complained, share.p * e, (share.slope * e, share.p * e_slope, none)),
        Outcome(
            quiet, share.p_not + share.p * silent, (-share.slope * e, -share.p * e_slope, none)
        ),
    ]


def drawn_among_silent(
    whole: Share,
    e: FloatArray,
    silent: FloatArray,
    positive: IntArray,
    negative: IntArray,
    *,
    undecided: IntArray | int = 0,
    reading: Reading = EXACT,
    above: NDArray[np.bool_] | None = None,
) -> list[Outcome]:
    """Verdicts on rows drawn because they were silent, which is counted elsewhere.

    Parameters
    ----------
    whole : Share
        Of all rows of the bin.
    e, silent : ndarray
        Chance of a positive to complain, and the rest.
    positive, negative : ndarray of shape (bins,)
        Rows by verdict.
    undecided : ndarray of shape (bins,)
        Drawn rows without one.
    reading : Reading
    above : ndarray of shape (bins,) of bool, optional
        Whether bins lie above the threshold; needed where undecided rows are unlike the others.

    Notes
    -----
    The share among silent rows is u = p (1 - e) / (1 - p e), that among decided ones f of
    `pumonitor.audit.reading.share_of_decided`, with slope
    du/df = 1 - d + d w / (1 - f + w f)^2.
    """
    quiet = whole.p_not + whole.p * silent
    share, rest = whole.p * silent / quiet, whole.p_not / quiet
    share_p = whole.slope * silent / quiet**2
    share_v = share * rest * e
    if not reading.exact:
        if above is not None:
            part = undecided / np.maximum(undecided + positive + negative, 1)
            odds = reading.odds(above)
            share = share_of_decided(share, part, odds)
            slope = 1 / (1 - part + part * odds / (1 - share + odds * share) ** 2)
            share_p, share_v = share_p * slope, share_v * slope
        gain = reading.sensitivity + reading.specificity - 1
        share, share_p, share_v = reading.said(share), gain * share_p, gain * share_v
        rest = 1 - share
    none = np.zeros(1)
    return [
        Outcome(positive, share, (share_p, share_v, none)),
        Outcome(negative, rest, (-share_p, -share_v, none)),
    ]
