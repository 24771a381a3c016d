"""Class priors of a stream's windows, each by the windows up to it, by several methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from benchmarks.prior_over_time.pooled.pooling import pool_class_priors
from benchmarks.prior_over_time.streams import CHANGED_FROM, REFERENCE, WINDOWS, Stream
from pumonitor.prior import estimate_from_table
from pumonitor.prior.over_time import Cells, Level, Summariser
from pumonitor.tables import ScoreTable

__all__ = ["FILTERS", "PEERS", "Followed"]

FloatArray = NDArray[np.float64]

_AUDITS: Final = (CHANGED_FROM - 10, CHANGED_FROM + 5)
_AUDITED: Final = 200
_AROUND: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What a method says of each window after the reference.

    Attributes
    ----------
    numbers : ndarray of shape (windows, 3)
        Low, value, high.
    moved : ndarray of shape (windows,)
        Chance that the prior has moved by a quarter; of methods without one, whether the interval
        is all beyond a quarter of the mean of the first five.
    """

    numbers: FloatArray
    moved: FloatArray


def _cells(scores: FloatArray, confirmed: NDArray[np.bool_]) -> tuple[FloatArray, ...]:
    at, cell = np.unique(scores, return_inverse=True)
    return (
        at,
        np.bincount(cell, confirmed, minlength=len(at)).astype(np.float64),
        np.bincount(cell, minlength=len(at)).astype(np.float64),
    )


def _filtered(
    stream: Stream, level: Level, *, truth: np.random.Generator | None = None
) -> Followed:
    """By the filter; `truth` draws the audits, where there are any."""
    windows = [
        Cells.of_counts(*_cells(scores, confirmed))
        for scores, confirmed in zip(stream.scores, stream.confirmed, strict=True)
    ]
    summariser = Summariser.learned(windows[:REFERENCE])
    followed = summariser.begun(level)
    numbers, moved = [], []
    for window in range(REFERENCE, WINDOWS):
        summary, summariser = summariser.after(windows[window])
        followed = followed.after(summary)
        if truth is not None and window in _AUDITS:
            found = truth.binomial(_AUDITED, stream.class_prior[window])
            followed = followed.audited(found, _AUDITED)
        numbers.append(followed.quantiles([0.025, 0.5, 0.975]))
        moved.append(followed.moved())
    return Followed(numbers=np.array(numbers), moved=np.array(moved))


def _estimated(stream: Stream) -> Level:
    scores = np.concatenate(stream.scores[:REFERENCE])
    confirmed = np.concatenate(stream.confirmed[:REFERENCE])
    found = estimate_from_table(ScoreTable.from_arrays(confirmed, scores).compress(4096))
    share = float(confirmed.mean())
    low = min(max(found.low, share), found.value)
    return Level.estimated(found.value, low, found.high, confirmed_share=share)


def _given(stream: Stream, rng: np.random.Generator) -> Level:
    """Known to a fifth, and off by as much as that says."""
    middle = special.logit(stream.class_prior[:REFERENCE].mean())
    middle += rng.normal(scale=0.5 * _AROUND)
    low, value, high = special.expit([middle - _AROUND, middle, middle + _AROUND])
    return Level.given(value, low, high)


def _scores_only(stream: Stream, rng: np.random.Generator) -> Followed:
    return _filtered(stream, _estimated(stream))


def _given_once(stream: Stream, rng: np.random.Generator) -> Followed:
    return _filtered(stream, _given(stream, rng))


def _with_audits(stream: Stream, rng: np.random.Generator) -> Followed:
    return _filtered(stream, _estimated(stream), truth=rng)


FILTERS: Final[Mapping[str, Callable[[Stream, np.random.Generator], Followed]]] = {
    "scores only": _scores_only,
    "prior given once": _given_once,
    "two audits of 200": _with_audits,
}


def _by_intervals(numbers: list[tuple[float, float, float]]) -> Followed:
    found = np.array(numbers)
    before = found[:5, 1].mean()
    beyond = (found[:, 0] > 1.25 * before) | (found[:, 2] < before / 1.25)
    return Followed(numbers=found, moved=beyond.astype(float))


def _pooled_auto(stream: Stream, rng: np.random.Generator) -> Followed:
    own = [
        estimate_from_table(ScoreTable.from_arrays(confirmed, scores).compress(2048))
        for scores, confirmed in zip(stream.scores, stream.confirmed, strict=True)
    ]
    numbers = []
    for window in range(REFERENCE, WINDOWS):
        nearest = own[max(window - 25, 0) : window + 1]
        pooled = pool_class_priors(nearest, times=list(range(len(nearest)))).estimates[-1]
        assert pooled is not None
        numbers.append((pooled.low, pooled.value, pooled.high))
    return _by_intervals(numbers)


def _own_auto(stream: Stream, rng: np.random.Generator) -> Followed:
    own = [
        estimate_from_table(ScoreTable.from_arrays(confirmed, scores).compress(2048))
        for scores, confirmed in zip(stream.scores, stream.confirmed, strict=True)
    ]
    return _by_intervals([(one.low, one.value, one.high) for one in own[REFERENCE:]])


def _confirmed_share(stream: Stream, rng: np.random.Generator) -> Followed:
    """Over the label frequency of the reference, the prior being given there."""
    level = _given(stream, rng)
    prior = float(np.exp(np.log(level.class_prior) @ level.weight))
    confirmed = np.concatenate(stream.confirmed[:REFERENCE])
    frequency = confirmed.mean() / prior
    numbers = []
    for labeled in stream.confirmed[REFERENCE:]:
        count = labeled.sum()
        low = stats.gamma.ppf(0.025, count) if count else 0.0
        high = stats.gamma.ppf(0.975, count + 1)
        numbers.append(tuple(one / len(labeled) / frequency for one in (low, count, high)))
    return _by_intervals(numbers)


PEERS: Final[Mapping[str, Callable[[Stream, np.random.Generator], Followed]]] = {
    "auto, pooled": _pooled_auto,
    "auto of each window": _own_auto,
    "confirmed share over c, prior given once": _confirmed_share,
}
