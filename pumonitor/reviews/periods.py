"""What changed between two periods of windows with reviews: positives, ranking, or complaints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.audit.laplace import S_BELIEVED, draw_posterior
from pumonitor.reviews.believed import UNKNOWN_COMPLAINTS, detection_of
from pumonitor.reviews.counts import ReviewCounts
from pumonitor.reviews.kinds_by_bin import kinds_by_bin
from pumonitor.reviews.likelihood import ReviewLikelihood
from pumonitor.reviews.partly_reviewed import BinParts
from pumonitor.reviews.two_periods import (
    CHANGES,
    TwoPeriods,
    all_cuts,
    common_edges,
    counts_in_bins,
    mean_design_effect,
)
from pumonitor.tables import ScoreTable

__all__ = ["PeriodChange", "Ratio", "compare_periods"]

FloatArray = NDArray[np.float64]

_LEVEL: Final = 0.95
_DRAWS: Final = 2000


class Ratio(NamedTuple):
    """Now over before, or now less before, with the ends of two intervals.

    Attributes
    ----------
    before, now, value : float
    low, high : float
        Of the 95% interval.
    least, most : float
        Of the 99% interval.
    """

    before: float
    now: float
    value: float
    low: float
    high: float
    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodChange:
    """What reviews and complaints say of a change.

    Attributes
    ----------
    positives : Ratio
        Class prior, now over before.
    auc : Ratio
        Now less before, by score bin.
    complaints : Ratio
        Share of the positives that nobody reviewed or stopped which complained, now over before.
    reviewed, stopped : (float, float)
        Share of the rows, before and now.
    """

    positives: Ratio
    auc: Ratio
    complaints: Ratio
    reviewed: tuple[float, float]
    stopped: tuple[float, float]


def compare_periods(
    before: Sequence[ScoreTable],
    now: Sequence[ScoreTable],
    *,
    threshold: float,
    blocks: bool,
    detection_rate: tuple[float, float] | None = None,
    seed: int = 0,
) -> PeriodChange:
    """Estimate what changed, from one model of both periods.

    Each period is the sum of its windows in common score bins. Positives and complaints follow the
    score as in the other period, but for three changes that are estimated together: more or fewer
    positives, another ranking, another share that complains. What is known of one period is so
    used for the other, and what neither knows cancels.

    It is wrong where more than these changed: other reviewers, another choice of cases for reasons
    that nobody wrote down, complaints that changed at some scores only.

    Parameters
    ----------
    before, now : sequence of ScoreTable
        Of the windows of each period, with `reviewed`.
    threshold : float
    blocks : bool
        Whether a positive verdict blocks the case.
    detection_rate : (float, float), optional
        As in `pumonitor.Reviews`.
    seed : int

    Notes
    -----
    The bins of both periods are those of one likelihood (``docs/decisions/reviews.md``), with one
    normal over all of them: what is believed of a bin is believed of its twin too, and three
    changes are added, half of each to either period with opposite signs, with standard deviations
    .7, .5 and 1. The first is wider by what windows of the first period differ by themselves.
    """
    edges = common_edges([*before, *now], threshold)
    counts = [
        counts_in_bins(
            np.sum([kinds_by_bin(table, edges) for table in tables], axis=0),
            edges,
            order=now[-1],
            threshold=threshold,
            blocks=blocks,
            design_effect=mean_design_effect([*before, *now]),
        )
        for tables in (before, now)
    ]
    both = TwoPeriods.of(
        *(
            BinParts.of(period, all_cuts(tables))
            for period, tables in zip(counts, (before, now), strict=True)
        )
    )
    usual = _usual_difference(before, now)
    detection = detection_of(detection_rate, _LEVEL)
    if detection is None and both.counts.errs:
        detection = S_BELIEVED
    drawn = both.split(
        draw_posterior(
            ReviewLikelihood(counts=both.counts, errs=detection is not None),
            both.components(
                complaints=UNKNOWN_COMPLAINTS, level=math.hypot(CHANGES["level"], usual)
            ),
            detection=detection,
            overall=None,
            size=_DRAWS,
            rng=np.random.default_rng(seed),
        )
    )
    # Of rows like these, not of these very rows: those of two weeks differ by chance alone.
    rng = np.random.default_rng(seed)
    parts = (both.before, both.now)
    by_part = [
        special.expit(period.p_logit) * part.counts.bins.rows
        for period, part in zip(drawn, parts, strict=True)
    ]
    by_period = [part.sum_by_bin(positives) for part, positives in zip(parts, by_part, strict=True)]
    priors = [
        drawn_positives.sum(axis=1) / period.bins.rows.sum()
        for drawn_positives, period in zip(by_period, counts, strict=True)
    ]
    # Windows differ by themselves, and a few of them tell by how much.
    priors[1] = priors[1] * np.exp(usual * rng.standard_t(max(len(before) - 1, 1), _DRAWS))
    aucs = [
        _auc(drawn_positives, period)
        for drawn_positives, period in zip(by_period, counts, strict=True)
    ]
    complaining = [
        _complaining(positives, special.expit(-period.v), part.counts)
        for positives, period, part in zip(by_part, drawn, parts, strict=True)
    ]
    return PeriodChange(
        positives=_ratio(*priors),
        auc=_ratio(*aucs, is_difference=True),
        complaints=_ratio(*complaining),
        reviewed=_shares(counts, "reviewed", "undecided"),
        stopped=_shares(counts, "stopped"),
    )


def _usual_difference(before: Sequence[ScoreTable], now: Sequence[ScoreTable]) -> float:
    """Standard deviation by which the log shares of known positives of the periods differ anyway.

    That of windows of the first period beyond chance, over the number of windows.
    """
    labeled = np.array([table.labeled.sum() for table in before])
    rows = np.array([(table.labeled + table.unlabeled + table.negative).sum() for table in before])
    if len(before) < 2 or labeled.min() < 1:
        return 0.0
    excess = float(np.var(np.log(labeled / rows), ddof=1) - np.mean(1 / labeled))
    return math.sqrt(max(excess, 0.0) * (1 / len(before) + 1 / max(len(now), 1)))


def _auc(positives: FloatArray, counts: ReviewCounts) -> FloatArray:
    """By draw, with ties inside bins."""
    negatives = counts.bins.rows - positives
    below = np.cumsum(negatives, axis=1) - 0.5 * negatives
    pairs = positives.sum(axis=1) * negatives.sum(axis=1)
    return np.asarray((positives * below).sum(axis=1) / np.maximum(pairs, 1.0))


def _complaining(positives: FloatArray, rates: FloatArray, counts: ReviewCounts) -> FloatArray:
    """Share of the positives that nobody reviewed or stopped which complain, by draw."""
    is_open = counts.open_complained + counts.open_silent + counts.undecided
    rest = positives * is_open / np.maximum(counts.bins.rows, 1)
    return np.asarray((rest * rates).sum(axis=1) / np.maximum(rest.sum(axis=1), 1e-12))


def _ratio(before: FloatArray, now: FloatArray, *, is_difference: bool = False) -> Ratio:
    change = now - before if is_difference else now / np.maximum(before, 1e-12)
    least, low, value, high, most = np.quantile(change, [0.005, 0.025, 0.5, 0.975, 0.995])
    return Ratio(
        before=float(np.median(before)),
        now=float(np.median(now)),
        value=float(value),
        low=float(low),
        high=float(high),
        least=float(least),
        most=float(most),
    )


def _shares(counts: Sequence[ReviewCounts], *names: str) -> tuple[float, float]:
    before, now = (
        float(sum(getattr(period, name).sum() for name in names) / max(period.bins.rows.sum(), 1))
        for period in counts
    )
    return before, now
