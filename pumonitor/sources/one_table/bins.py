"""Which bins of the score keep the table's error smallest, and the SQL that fills them.

Bins are uniform in a monotone function of the score, which is what every engine groups by fast;
a sample of rows decides which function.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.sources.one_table.checks import Totals
from pumonitor.sources.reach.session import number

_SAMPLE_BINS = 4096
_FEW_LABELED = 50
_NEAREST_TO_AN_END = 1e-15
"""Scores nearer than this to 0 or 1 share a bin of the logit: 1 - score has no more digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """Uniform bins of a monotone function of the score.

    Attributes
    ----------
    of : {"score", "logit", "asinh"}
        The function: the score itself, its log-odds (scores in [0, 1]; exactly 0 and exactly 1
        are bins of their own), or asinh((score - centre) / spread) for long tails.
    low, high : float
        Its range, over which the bins are spread.
    count : int
        How many bins.
    """

    of: Literal["score", "logit", "asinh"]
    low: float
    high: float
    count: int
    centre: float = 0.0
    spread: float = 1.0

    def sql(self, score: str) -> str:
        """Expression of the bin's index, from 0."""
        if self.of == "logit":
            inner = _within(score, _NEAREST_TO_AN_END, 1 - _NEAREST_TO_AN_END)
            index = self._index(f"ln({inner} / (1 - {inner}))", first=1, last=self.count - 2)
            return f"({index} - ({score} <= 0)::INTEGER + ({score} >= 1)::INTEGER)"
        function = score
        if self.of == "asinh":
            function = f"asinh(({score} - {number(self.centre)}) / {number(self.spread)})"
        return self._index(function, first=0, last=self.count - 1)

    def _index(self, function: str, *, first: int, last: int) -> str:
        scale = (last - first + 1) / (self.high - self.low)
        place = f"floor(({function} - {number(self.low)}) * {number(scale)})"
        return f"({first} + {_within(place, 0.0, float(last - first))}::INTEGER)"

    def transform(self, scores: FloatArray) -> FloatArray:
        """Apply the function to a sample in memory."""
        if self.of == "logit":
            inner = np.clip(scores, _NEAREST_TO_AN_END, 1 - _NEAREST_TO_AN_END)
            return np.asarray(np.log(inner / (1 - inner)))
        if self.of == "asinh":
            return np.asarray(np.arcsinh((scores - self.centre) / self.spread))
        return scores

    def resolution(self, scores: FloatArray, labels: NDArray[Any]) -> float:
        """Estimate from a sample what the table's resolution would be, with fewer bins."""
        place = (self.transform(scores) - self.low) / (self.high - self.low)
        bins = np.clip(np.floor(place * _SAMPLE_BINS), 0, _SAMPLE_BINS - 1).astype(np.intp)
        if self.of == "logit":
            # The two ends that have bins of their own.
            bins = np.where(
                scores <= 0, _SAMPLE_BINS, np.where(scores >= 1, _SAMPLE_BINS + 1, bins)
            )
        size = _SAMPLE_BINS + 2
        lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(lowest, bins, scores)
        np.maximum.at(highest, bins, scores)
        is_labeled = labels == 1
        if np.count_nonzero(is_labeled) < _FEW_LABELED:
            is_labeled = np.ones(len(labels), dtype=bool)
        labeled = np.bincount(bins[is_labeled], minlength=size) / is_labeled.sum()
        others = np.bincount(bins, minlength=size) / len(bins)
        return float(0.5 * np.sum((labeled * others)[highest > lowest]))


def best_bins(totals: Totals, sample: dict[str, NDArray[Any]], *, count: int) -> Bins:
    """Choose the bins with the smallest expected error, the plainest among equals."""
    scores, labels = sample["score"].astype(np.float64), sample["label"]
    candidates = list(_candidates(totals, scores, count=count))
    return min(candidates, key=lambda bins: bins.resolution(scores, labels))


def _candidates(totals: Totals, scores: FloatArray, *, count: int) -> Iterable[Bins]:
    yield Bins(of="score", low=totals.lowest, high=totals.highest, count=count)
    if totals.inner_lowest is not None and totals.inner_highest is not None:
        low = max(totals.inner_lowest, _NEAREST_TO_AN_END)
        high = min(totals.inner_highest, 1 - _NEAREST_TO_AN_END)
        if totals.lowest >= 0 and totals.highest <= 1 and low < high:
            yield Bins(
                of="logit",
                low=math.log(low / (1 - low)),
                high=math.log(high / (1 - high)),
                count=count,
            )
    if len(scores):
        quarter, centre, three_quarters = np.quantile(scores, [0.25, 0.5, 0.75]).tolist()
        spread = 0.5 * (three_quarters - quarter)
        if spread > 0:
            ends = np.arcsinh((np.array([totals.lowest, totals.highest]) - centre) / spread)
            yield Bins(
                of="asinh",
                low=float(ends[0]),
                high=float(ends[1]),
                count=count,
                centre=centre,
                spread=spread,
            )


def _within(expression: str, low: float, high: float) -> str:
    return f"least(greatest({expression}, {number(low)}), {number(high)})"
