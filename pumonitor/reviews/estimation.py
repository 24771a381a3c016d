"""From verdicts and complaints by score bin to draws of the positives of each bin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor._entities import draw_in_groups
from pumonitor.audit.bins import ScoreBins
from pumonitor.audit.laplace import S_BELIEVED, Drawn, propose_draws
from pumonitor.audit.posterior import PositivesByBin
from pumonitor.reviews.believed import UNKNOWN_COMPLAINTS, ComplaintRate, believed_components
from pumonitor.reviews.counts import POSITIVE, ReviewCounts
from pumonitor.reviews.likelihood import ReviewLikelihood
from pumonitor.reviews.partly_reviewed import BinParts
from pumonitor.reviews.two_periods import TwoPeriods

__all__ = ["ReviewPosterior", "estimate_at_odds", "estimate_reviews"]

FloatArray = NDArray[np.float64]

DRAWS: Final = 2000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewPosterior(PositivesByBin):
    """Draws of what reviews and complaints tell.

    Attributes
    ----------
    counts : ReviewCounts
    s : ndarray of shape (draws,)
        P(verdict positive | positive and reviewed).
    effective : float
        How many independent draws these are worth.
    log_evidence : float
        Log of the chance of what was counted.
    """

    counts: ReviewCounts
    s: FloatArray
    effective: float
    log_evidence: float

    @property
    def bins(self) -> ScoreBins:
        """Those of the counts."""
        return self.counts.bins


def estimate_reviews(
    counts: ReviewCounts,
    *,
    complaints: ComplaintRate = UNKNOWN_COMPLAINTS,
    detection: tuple[float, float] | None = None,
    undecided_odds: float = 1.0,
    cuts: tuple[float, ...] = (),
    draws: int = DRAWS,
    seed: int = 0,
) -> ReviewPosterior:
    """Draw positives by bin given verdicts, complaints and silence.

    It is wrong where rows were reviewed for what is not counted as a rule, where a positive
    verdict blocks and that is not said, and where complaints far below the reviewed scores come
    otherwise than on a line through those there.

    Parameters
    ----------
    counts : ReviewCounts
    complaints : ComplaintRate
        What is believed of the chance to complain.
    detection : (float, float), optional
        Mean and standard deviation of logit s; without it every positive that is reviewed is
        found, unless a cleared case complained: then s is about .9.
    undecided_odds : float
        Odds that an undecided row is positive over those of a decided one of its bin.
    cuts : tuple of float
        Lowest score that the queue took, and that from which on it took all, if it is another:
        in bins between them reviewed rows may differ from the others.
    draws : int
    seed : int
        The same seed gives the same draws.
    """
    return estimate_at_odds(
        counts,
        {undecided_odds: draws},
        complaints=complaints,
        detection=detection,
        cuts=cuts,
        seed=seed,
    )[0]


def estimate_at_odds(
    counts: ReviewCounts,
    draws_at_odds: Mapping[float, int],
    *,
    complaints: ComplaintRate = UNKNOWN_COMPLAINTS,
    detection: tuple[float, float] | None = None,
    cuts: tuple[float, ...] = (),
    earlier: BinParts | None = None,
    seed: int = 0,
) -> list[ReviewPosterior]:
    """The same at several odds of undecided rows, each sought from the highest points of the first.

    Parameters
    ----------
    counts : ReviewCounts
    draws_at_odds : mapping of float to int
        How many draws at which odds.
    complaints, detection, cuts, seed
        As in `estimate_reviews`.
    earlier : BinParts, optional
        Rows of earlier windows, in the same bins.
    """
    rng = np.random.default_rng(seed)
    parts = BinParts.of(counts, cuts)
    together = None if earlier is None else TwoPeriods.of(earlier, parts)
    fitted = parts.counts if together is None else together.counts
    if detection is None and fitted.errs:
        detection = S_BELIEVED
    if together is not None:
        components = together.components(complaints=complaints)
    else:
        normal = counts.bins.normal_score
        components = believed_components(
            normal_score=normal[parts.bin_of_part],
            rank=parts.counts.bins.rank,
            without_verdict=~parts.counts.in_queue,
            complaints=complaints,
            anchor=float(normal[counts.lowest_in_queue]),
        )
    posteriors, first = [], None
    for odds, draws in draws_at_odds.items():
        likelihood = ReviewLikelihood(counts=fitted, errs=detection is not None, odds=odds)
        weighted = propose_draws(
            likelihood,
            components,
            detection=detection,
            overall=complaints.overall,
            rng=rng,
            near=first,
        )
        first = first or weighted
        drawn = weighted.chosen(draws, rng)
        if together is not None:
            _, drawn = together.split(drawn)
        own = replace(likelihood, counts=parts.counts)
        posteriors.append(_posterior(counts, parts, own, drawn, rng))
    return posteriors


def _posterior(
    counts: ReviewCounts,
    parts: BinParts,
    likelihood: ReviewLikelihood,
    drawn: Drawn,
    rng: np.random.Generator,
) -> ReviewPosterior:
    """With the positives among rows of which it is not known."""
    bins, p = counts.bins, special.expit(drawn.p_logit)
    positives = np.broadcast_to(_known(parts.counts), drawn.p_logit.shape).astype(float)
    # Those of one entity are hidden together.
    for number, share in likelihood.hidden(drawn.p_logit, drawn.v, drawn.s_logit):
        positives = positives + draw_in_groups(number, share, bins.design_effect, rng)
    positives = parts.sum_by_bin(positives)
    inside = bins.concordance + bins.concordance_error * rng.standard_normal(positives.shape)
    return ReviewPosterior(
        counts=counts,
        p=parts.sum_by_bin(p * parts.counts.bins.rows) / np.maximum(bins.rows, 1),
        e=special.expit(-drawn.v[:, : parts.size]),
        s=special.expit(drawn.s_logit),
        positives=positives,
        concordance=np.clip(inside, 0, 1),
        effective=drawn.effective,
        log_evidence=drawn.log_evidence,
    )


def _known(counts: ReviewCounts) -> NDArray[np.int64]:
    """Rows that are known to be positive."""
    return np.asarray(np.sum([getattr(counts, kind) for kind in POSITIVE], axis=0))
