"""From numbers, moments and words to pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.report.drawing.ticks import nice, number_step, number_ticks, tick_text

_TICKS = 5


class Scale(Protocol):
    """Where values lie along an axis, and its ticks."""

    def at(self, value: Any) -> float:
        """Pixels from the left or from the top."""

    def all_at(self, values: Sequence[Any]) -> FloatArray:
        """`at` of many values; NaN where there is none."""

    def ticks(self, axis: Mapping[str, Any]) -> list[tuple[float, str]]:
        """Pixels and text of each tick."""

    @property
    def step(self) -> float:
        """Pixels from word to word; 0 of numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbers:
    low: float
    high: float
    begin: float
    end: float
    logarithmic: bool = False
    moments: bool = False
    step: float = 0.0

    def at(self, value: Any) -> float:
        low, high, one = self.low, self.high, float(value)
        if self.logarithmic:
            low, high, one = math.log(low), math.log(high), math.log(one)
        share = (one - low) / (high - low) if high > low else 0.5
        return self.begin + share * (self.end - self.begin)

    def all_at(self, values: Sequence[Any]) -> FloatArray:
        low, high, each = self.low, self.high, np.array(values, dtype=np.float64)
        if self.logarithmic:
            low, high, each = math.log(low), math.log(high), np.log(each)
        share = (each - low) / (high - low) if high > low else np.where(np.isnan(each), each, 0.5)
        return np.asarray(self.begin + share * (self.end - self.begin))

    def ticks(self, axis: Mapping[str, Any]) -> list[tuple[float, str]]:
        count = axis.get("tickCount", _TICKS)
        values = axis.get("values")
        if "texts" in axis:
            return [
                (self.at(at), text) for at, text in zip(values or (), axis["texts"], strict=True)
            ]
        if self.moments:
            moments = ((at, datetime.fromtimestamp(at / 1000, UTC)) for at in values or ())
            return [(self.at(at), f"{moment:{axis['format']}}") for at, moment in moments]
        step = number_step(self.low, self.high, count) if self.high > self.low else 1.0
        shown = number_ticks(self.low, self.high, count) if values is None else values
        how = axis.get("format", "")
        return [(self.at(one), tick_text(one, how, step=step)) for one in shown]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    words: Sequence[str]
    step: float

    def at(self, value: Any) -> float:
        return self.step * (self.words.index(value) + 0.5)

    def all_at(self, values: Sequence[Any]) -> FloatArray:
        return np.array([np.nan if one is None else self.at(one) for one in values])

    def ticks(self, axis: Mapping[str, Any]) -> list[tuple[float, str]]:
        return [(self.at(word), word) for word in self.words]


def scale_of(
    channels: Sequence[Mapping[str, Any]],
    values: Iterable[Any],
    *,
    length: float,
    upward: bool,
) -> Scale:
    """The scale that the channels of all layers share.

    Parameters
    ----------
    channels : sequence of mapping
        As layers have them for `x` or for `y`.
    values : iterable
        What they hold; it decides the ends where no channel names any.
    length : float
        Pixels.
    upward : bool
        Whether numbers grow from the bottom to the top.
    """
    how: dict[str, Any] = {}
    for channel in channels:
        how = {**channel.get("scale", {}), **how}
    if channels[0].get("type") == "nominal":
        words = channels[0].get("sort") or list(dict.fromkeys(values))
        return _Words(words=words, step=length / max(len(words), 1))
    moments = channels[0].get("type") == "temporal"
    if "domain" in how:
        low, high = how["domain"]
    else:
        known = [float(one) for one in values if one is not None]
        low, high = min(known, default=0.0), max(known, default=1.0)
        if not moments and how.get("zero", True):
            low, high = min(low, 0.0), max(high, 0.0)
    if how.get("nice", "domain" not in how) and not moments:
        low, high = nice(low, high)
    begin, end = (length, 0.0) if upward else (0.0, length)
    return _Numbers(
        low=low,
        high=high,
        begin=begin,
        end=end,
        logarithmic=how.get("type") == "log",
        moments=moments,
    )
