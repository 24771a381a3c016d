"""What further reviews would tell: how narrow intervals become, by where the cases are taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Self

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray, IntArray
from pumonitor.audit.bins import ScoreBins
from pumonitor.reviews.counts import POSITIVE, ReviewCounts
from pumonitor.reviews.estimation import ReviewPosterior
from pumonitor.reviews.reading import ReviewedEstimates

Where = Literal["below the cut", "random", "at the threshold"]
METRICS: Final = ("recall", "f1")
CASES: Final = 100
_SIMULATIONS: Final = 100
_HARDLY: Final = 0.05
_NONE: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class NextReviews:
    """What some reviews more would come to.

    Attributes
    ----------
    where : {"below the cut", "random", "at the threshold"}
        The rows next to those that the queue takes, rows drawn at random among all that nobody
        reviewed, or those of the score bins on either side of the threshold.
    cases : int
        How many; fewer than asked for where there are no more.
    positives : float or None
        How many of them are expected to be positive; None without cases.
    width_now, width_then : mapping of str to float
        Widths of the intervals of recall and F1, and those expected after the reviews.
    narrower : mapping of str to float
        By what share each interval becomes narrower; 0 where nothing is gained.
    hardly_anything : bool
        Whether none becomes narrower by a twentieth.
    """

    where: Where
    cases: int
    positives: float | None
    width_now: Mapping[str, float]
    width_then: Mapping[str, float]
    narrower: Mapping[str, float]
    hardly_anything: bool


def next_reviews(
    reading: ReviewedEstimates,
    *,
    cases: int = CASES,
    simulations: int = _SIMULATIONS,
    seed: int = 0,
) -> tuple[NextReviews, ...]:
    """Expected widths of recall and F1 after further reviews of these rows, by where they are.

    It is wrong where `reading` is; where undecided cases widen an interval, that is left out of
    both widths. Reviews of later windows tell about as much of these as they tell of this one.

    Parameters
    ----------
    reading : ReviewedEstimates
    cases : int
        How many rows are to be reviewed.
    simulations : int
        How many outcomes are simulated for each place.
    seed : int

    Notes
    -----
    A silent row of bin b that nobody reviewed is positive with probability q_b = p (1 - e) /
    (p (1 - e) + 1 - p), and review finds it with q_b s. A draw of the posterior plays the truth: of
    m_b reviewed rows k_b are found, binomial. All draws are then weighted by the chance of k, what
    is left is drawn anew of N_b - m_b rows, and the width is that of the weighted draws. Their mean
    is the expected width (preposterior analysis).

    References
    ----------
    Raiffa and Schlaifer (1961), Applied statistical decision theory, chapter 4.
    """
    rng = np.random.default_rng(seed)
    posterior, counts = reading.posterior, reading.counts
    open_rows = _OpenRows.of(posterior, rng)
    drawn = posterior.metrics()
    names = [name for name in METRICS if not np.isnan(drawn[name]).any()]
    equal = np.full(len(posterior.positives), 1 / len(posterior.positives))
    now = {name: _width(drawn[name], equal) for name in names}
    outcomes = []
    # Cuts of another score say nothing of where these bins lie.
    cuts = reading.cuts if posterior is reading.by_queue[0] else ()
    for where, chosen in _designs(counts, cases, cut=min(cuts, default=None)):
        widths, positives = [], []
        left = rng.binomial(counts.open_silent - chosen, open_rows.positive)
        for truth in rng.integers(len(equal), size=simulations if chosen.sum() else 0):
            taken = chosen
            if where == "random":
                taken = rng.multivariate_hypergeometric(counts.open_silent, int(chosen.sum()))
            verdicts = rng.binomial(taken, open_rows.found[truth])
            weights = open_rows.weights(taken, verdicts)
            then = open_rows.metrics(counts.bins, left, taken, verdicts)
            widths.append({name: _width(then[name], weights) for name in names})
            positives.append(int(verdicts.sum()))
        expected = {
            name: float(np.mean([width[name] for width in widths])) if widths else now[name]
            for name in names
        }
        narrower = {
            name: max(1 - expected[name] / width, 0.0) if width > 0 else 0.0
            for name, width in now.items()
        }
        outcomes.append(
            NextReviews(
                where=where,
                cases=int(chosen.sum()),
                positives=float(np.mean(positives)) if positives else None,
                width_now=now,
                width_then=expected,
                narrower=narrower,
                hardly_anything=all(share < _HARDLY for share in narrower.values()),
            )
        )
    return tuple(outcomes)


def _width(draws: FloatArray, weights: FloatArray) -> float:
    """Of the 95% interval of weighted draws."""
    order = np.argsort(draws)
    below = np.cumsum(weights[order])
    ends = np.searchsorted(below, [0.025 * below[-1], 0.975 * below[-1]])
    low, high = draws[order[np.minimum(ends, len(order) - 1)]]
    return float(high - low)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _OpenRows:
    """What each draw says of silent rows that nobody reviewed, by bin.

    Attributes
    ----------
    positive, found : ndarray of shape (draws, bins)
        Chance that a row is positive, and that review finds it to be.
    elsewhere : ndarray of shape (draws, bins)
        Positives among all other rows.
    """

    positive: FloatArray
    found: FloatArray
    elsewhere: FloatArray

    @classmethod
    def of(cls, posterior: ReviewPosterior, rng: np.random.Generator) -> Self:
        """Of a posterior."""
        counts = posterior.counts
        known = np.sum([getattr(counts, kind) for kind in POSITIVE], axis=0)
        rest = np.maximum(np.rint(posterior.positives) - known, 0).astype(np.int64)
        p, silent = posterior.p, posterior.p * (1 - posterior.e)
        # A bin whose rows are all known to be positive has none of either kind.
        positive = silent / np.maximum(silent + 1 - p, _NONE)
        missed = silent * (1 - posterior.s[:, np.newaxis])
        # Those that are hidden among other rows: stopped, undecided, cleared by mistake.
        expected = counts.open_silent * positive
        others = (
            counts.stopped * p
            + counts.undecided_silent * positive
            + counts.cleared_silent * missed / np.maximum(missed + 1 - p, _NONE)
        )
        share = expected / np.maximum(expected + others, _NONE)
        hidden = np.minimum(rng.binomial(rest, np.clip(share, 0, 1)), counts.open_silent)
        return cls(
            positive=positive,
            found=positive * posterior.s[:, np.newaxis],
            elsewhere=posterior.positives - hidden,
        )

    def weights(self, taken: IntArray, verdicts: IntArray) -> FloatArray:
        """Chance of what review finds, given each draw, but for a factor that all share."""
        used = np.flatnonzero(taken)
        found = self.found[:, used]
        log = special.xlogy(verdicts[used], found)
        log += special.xlog1py((taken - verdicts)[used], -found)
        total = log.sum(axis=1)
        return np.asarray(np.exp(total - total.max()))

    def metrics(
        self, bins: ScoreBins, left: IntArray, taken: IntArray, verdicts: IntArray
    ) -> dict[str, FloatArray]:
        """Recall and F1 after the reviews, given each draw.

        Parameters
        ----------
        bins : ScoreBins
        left : ndarray of shape (draws, bins)
            Positives among rows that are not reviewed even then.
        taken, verdicts : ndarray of shape (bins,)
            Rows that are reviewed, and how many of them are found to be positive.
        """
        missed = (self.positive - self.found) / np.maximum(1 - self.found, _NONE)
        positives = self.elsewhere + left + verdicts + (taken - verdicts) * missed
        total, caught = positives.sum(axis=1), positives[:, bins.above].sum(axis=1)
        flagged = bins.rows[bins.above].sum()
        return {
            "recall": caught / np.maximum(total, _NONE),
            "f1": 2 * caught / np.maximum(total + flagged, _NONE),
        }


def _designs(
    counts: ReviewCounts, cases: int, *, cut: float | None
) -> Iterator[tuple[Where, IntArray]]:
    """Rows to be taken from each bin, by where they are."""
    silent, bins = counts.open_silent, counts.bins
    size = len(silent)
    if cut is not None:
        begin = int(np.searchsorted(bins.edges, cut, side="right"))
        yield "below the cut", _filled(silent, range(begin - 1, -1, -1), cases)
    # Which rows chance takes differs from outcome to outcome: only their number is meant.
    yield "random", _filled(silent, range(size), cases)
    first = int(np.argmax(bins.above)) if bins.above.any() else size
    beside = [at for at in (first - 1, first) if 0 <= at < size]
    taken = np.zeros(size, dtype=np.int64)
    for index, at in enumerate(sorted(beside, key=lambda at: silent[at])):
        taken[at] = min(int(silent[at]), (cases - int(taken.sum())) // (len(beside) - index))
    yield "at the threshold", taken


def _filled(silent: IntArray, order: range, cases: int) -> IntArray:
    """All rows of one bin after another, until there are enough."""
    taken = np.zeros(len(silent), dtype=np.int64)
    for at in order:
        taken[at] = min(int(silent[at]), cases - int(taken.sum()))
    return taken
