"""What further reviews would tell: how narrow intervals become, by where the cases are taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from scipy import special

from pumonitor._arrays import FloatArray, IntArray
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
    Let H_b be the positives among the N_b rows of bin b that nobody reviewed and that are silent.
    Of m_b reviewed ones k_b are positive, hypergeometric given H_b. A draw of the posterior plays
    the truth and says what is found; all draws are then weighted by the chance of that, and the
    width is that of the weighted draws. Their mean is the expected width (preposterior analysis).

    References
    ----------
    Raiffa and Schlaifer (1961), Applied statistical decision theory, chapter 4.
    """
    rng = np.random.default_rng(seed)
    posterior, counts = reading.posterior, reading.counts
    hidden = _hidden(posterior, rng)
    drawn = posterior.metrics()
    metrics = {name: _Ordered(drawn[name]) for name in METRICS if not np.isnan(drawn[name]).any()}
    chances = _Chances(hidden, counts.open_silent)
    equal = np.full(len(hidden), 1 / len(hidden))
    now = {name: metric.width(equal) for name, metric in metrics.items()}
    outcomes = []
    # Cuts of another score say nothing of where these bins lie.
    cuts = reading.cuts if posterior is reading.by_queue else ()
    for where, chosen in _designs(counts, cases, cut=min(cuts, default=None)):
        widths, positives = [], []
        for truth in rng.integers(len(hidden), size=simulations if chosen.sum() else 0):
            taken = chosen
            if where == "random":
                taken = rng.multivariate_hypergeometric(counts.open_silent, int(chosen.sum()))
            left = counts.open_silent - hidden[truth]
            verdicts = rng.hypergeometric(hidden[truth], left, taken)
            weights = chances.weights(taken, verdicts)
            widths.append({name: metric.width(weights) for name, metric in metrics.items()})
            positives.append(int(verdicts.sum()))
        then = {
            name: float(np.mean([width[name] for width in widths])) if widths else now[name]
            for name in metrics
        }
        narrower = {
            name: max(1 - then[name] / width, 0.0) if width > 0 else 0.0
            for name, width in now.items()
        }
        outcomes.append(
            NextReviews(
                where=where,
                cases=int(chosen.sum()),
                positives=float(np.mean(positives)) if positives else None,
                width_now=now,
                width_then=then,
                narrower=narrower,
                hardly_anything=all(share < _HARDLY for share in narrower.values()),
            )
        )
    return tuple(outcomes)


class _Ordered:
    """Draws of a metric in ascending order, of which weighted quantiles are asked."""

    def __init__(self, draws: FloatArray) -> None:
        self._order = np.argsort(draws)
        self._sorted = draws[self._order]

    def width(self, weights: FloatArray) -> float:
        """Of the 95% interval."""
        below = np.cumsum(weights[self._order])
        ends = np.searchsorted(below, [0.025 * below[-1], 0.975 * below[-1]])
        low, high = self._sorted[np.minimum(ends, len(self._sorted) - 1)]
        return float(high - low)


def _hidden(posterior: ReviewPosterior, rng: np.random.Generator) -> IntArray:
    """Of each draw the positives that review would find among silent rows without a review."""
    counts = posterior.counts
    known = np.sum([getattr(counts, kind) for kind in POSITIVE], axis=0)
    rest = np.maximum(np.rint(posterior.positives) - known, 0).astype(np.int64)
    p, silent = posterior.p, posterior.p * (1 - posterior.e)
    # A bin whose rows are all known to be positive has none of either kind.
    open_share = silent / np.maximum(silent + 1 - p, _NONE)
    missed = silent * (1 - posterior.s[:, np.newaxis])
    # Those that are hidden among other rows: stopped, undecided, cleared by mistake.
    expected = counts.open_silent * open_share
    elsewhere = (
        counts.stopped * p
        + counts.undecided_silent * open_share
        + counts.cleared_silent * missed / np.maximum(missed + 1 - p, _NONE)
    )
    share = expected / np.maximum(expected + elsewhere, _NONE)
    hidden = np.minimum(rng.binomial(rest, np.clip(share, 0, 1)), counts.open_silent)
    return np.asarray(rng.binomial(hidden, posterior.s[:, np.newaxis]))


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


class _Chances:
    """Of what reviews find, given the positives that each draw has among silent rows."""

    def __init__(self, hidden: IntArray, silent: IntArray) -> None:
        self._hidden, self._left = hidden, silent - hidden
        # Looked up thousands of times: of every number that can occur.
        self._log_factorial = special.gammaln(np.arange(int(silent.max(initial=0)) + 1) + 1.0)

    def weights(self, taken: IntArray, verdicts: IntArray) -> FloatArray:
        """Of each draw, but for a factor that all share."""
        used = np.flatnonzero(taken)
        log = self._log_choose(self._hidden[:, used], verdicts[used])
        log = log + self._log_choose(self._left[:, used], (taken - verdicts)[used])
        total = log.sum(axis=1)
        return np.asarray(np.exp(total - total.max()))

    def _log_choose(self, number: IntArray, chosen: IntArray) -> FloatArray:
        """Log of the binomial coefficient; minus infinity where so many cannot be chosen."""
        log, left = self._log_factorial, number - chosen
        return np.where(left >= 0, log[number] - log[chosen] - log[np.maximum(left, 0)], -np.inf)
