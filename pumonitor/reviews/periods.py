"""What changed between two periods of windows with reviews: positives, ranking, or complaints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.audit.bins import ScoreBins, mixed_mass
from pumonitor.audit.components import Components, Normal
from pumonitor.audit.laplace import S_BELIEVED, draw_posterior
from pumonitor.reviews.believed import (
    UNKNOWN_COMPLAINTS,
    detection_of,
    of_complaints,
    of_positives,
)
from pumonitor.reviews.counts import KINDS, POSITIVE, ReviewCounts
from pumonitor.reviews.likelihood import ReviewLikelihood
from pumonitor.reviews.of_table import kinds_by_bin
from pumonitor.tables import ScoreTable

__all__ = ["PeriodChange", "Ratio", "compare_periods"]

FloatArray = NDArray[np.float64]

_BINS: Final = 12
_LEVEL: Final = 0.95
_DRAWS: Final = 2000
_CHANGES: Final = {"level": 0.7, "slope": 0.5, "complaints": 1.0}
"""Standard deviations of what may have changed: of logit p in all bins, of its slope along the
normal score, of -logit e in all bins. The class prior may double, AUC fall by .1."""
_DEPARTURE: Final = 0.1
"""By how much logit p, and -logit e, of a bin may differ between the periods without reason."""


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
    edges = _common_edges([*before, *now], threshold)
    counts = [
        _counted(tables, edges, threshold=threshold, blocks=blocks) for tables in (before, now)
    ]
    both = _stacked(counts)
    size = len(counts[0].bins.rows)
    pooled = ScoreBins.counted(
        edges=edges,
        threshold=threshold,
        rows=counts[0].bins.rows + counts[1].bins.rows,
        labeled=counts[0].bins.labeled + counts[1].bins.labeled,
    )
    in_queue = 2 * (counts[0].reviewed + counts[1].reviewed) > pooled.rows
    anchor = pooled.normal_score[int(np.argmax(in_queue)) if in_queue.any() else size - 1]
    away = pooled.normal_score - anchor
    usual = _usual_difference(before, now)
    level = math.hypot(_CHANGES["level"], usual)
    changes = level**2 + _CHANGES["slope"] ** 2 * np.multiply.outer(away, away)
    detection = detection_of(detection_rate, _LEVEL)
    if detection is None and both.errs:
        detection = S_BELIEVED
    drawn = draw_posterior(
        ReviewLikelihood(counts=both, errs=detection is not None),
        Components.of(
            of_p=[_of_twins(normal, changes) for normal in of_positives(away)],
            of_v=[
                _of_twins(
                    of_complaints(rank=pooled.rank, without_verdict=~in_queue, away=away),
                    np.full((size, size), _CHANGES["complaints"] ** 2),
                )
            ],
            level=UNKNOWN_COMPLAINTS.level,
        ),
        detection=detection,
        overall=None,
        size=_DRAWS,
        rng=np.random.default_rng(seed),
    )
    # Of rows like these, not of these very rows: those of two weeks differ by chance alone.
    rng = np.random.default_rng(seed)
    share, rate = special.expit(drawn.p_logit), special.expit(-drawn.v)
    by_period = [share[:, :size] * counts[0].bins.rows, share[:, size:] * counts[1].bins.rows]
    rates = [rate[:, :size], rate[:, size:]]
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
        _complaining(drawn_positives, drawn_rates, period)
        for drawn_positives, drawn_rates, period in zip(by_period, rates, counts, strict=True)
    ]
    return PeriodChange(
        positives=_ratio(*priors),
        auc=_ratio(*aucs, is_difference=True),
        complaints=_ratio(*complaining),
        reviewed=_shares(counts, "reviewed", "undecided"),
        stopped=_shares(counts, "stopped"),
    )


def _common_edges(tables: Sequence[ScoreTable], threshold: float) -> FloatArray:
    """Edges in equal steps of labeled and all rows, at the threshold and at the queues' ends."""
    middle = np.concatenate([0.5 * (table.lower + table.upper) for table in tables])
    labeled = np.concatenate([table.labeled for table in tables])
    rows = np.concatenate([table.labeled + table.unlabeled + table.negative for table in tables])
    order = np.argsort(middle, kind="stable")
    reached = np.cumsum(mixed_mass(labeled, rows)[order])
    at = np.searchsorted(reached, np.arange(1, _BINS) / _BINS * reached[-1])
    inner = middle[order][np.minimum(at, len(order) - 1)]
    cuts = [
        cut
        for table in tables
        if table.reviewed is not None
        for cut in (*table.reviewed.cuts[:1], *table.reviewed.edges)
    ]
    ends = [min(cuts), max(cuts)] if cuts else []
    return np.unique([*inner, *ends, threshold])


def _counted(
    tables: Sequence[ScoreTable], edges: FloatArray, *, threshold: float, blocks: bool
) -> ReviewCounts:
    """The rows of some windows by common bin and kind."""
    whole = np.sum([kinds_by_bin(table, edges) for table in tables], axis=0)
    labeled = whole[[KINDS.index(kind) for kind in POSITIVE]].sum(axis=0)
    bins = ScoreBins.counted(
        edges=edges, threshold=threshold, rows=whole.sum(axis=0), labeled=labeled
    )
    return ReviewCounts.of_table(bins, whole, blocks=blocks)


def _stacked(counts: Sequence[ReviewCounts]) -> ReviewCounts:
    """The bins of both periods as those of one table, which is only ever fitted."""
    first, second = (period.bins for period in counts)

    def joined(name: str) -> Any:
        return np.concatenate([getattr(first, name), getattr(second, name)])

    columns = ("above", "rows", "labeled", "rank", "concordance", "concordance_error")
    bins = replace(first, **{name: joined(name) for name in columns})
    table = np.concatenate([period.table for period in counts], axis=1)
    return ReviewCounts.of_table(bins, table, blocks=counts[0].blocks)


def _of_twins(normal: Normal, changes: FloatArray) -> Normal:
    """Of the bins of both periods: alike, but for small departures and what may have changed."""
    size = len(normal.mean)
    covariance = np.tile(normal.covariance, (2, 2)) + _DEPARTURE**2 * np.eye(2 * size)
    # Half of a change to either side, so that neither period is the wider one beforehand.
    covariance += np.kron([[0.25, -0.25], [-0.25, 0.25]], changes)
    return Normal(np.tile(normal.mean, 2), covariance)


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
