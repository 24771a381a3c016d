"""From numbers, moments and words to pixels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.report.drawing.ticks import (
    moment_text,
    moment_ticks,
    nice,
    number_step,
    number_ticks,
)

_FORMAT: Final = re.compile(r"^(?P<comma>,?)(?:\.(?P<digits>\d+))?(?P<trim>~?)(?P<kind>[%f])$")


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
    def is_discrete(self) -> bool:
        """Whether it is of words, which have no grid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbers:
    low: float
    high: float
    begin: float
    end: float
    logarithmic: bool = False
    moments: bool = False
    is_discrete: bool = False

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
        if self.moments:
            found = moment_ticks(self.low, self.high, count)
            return [(self.at(one), moment_text(one)) for one in found]
        values = axis.get("values")
        step = number_step(self.low, self.high, count) if self.high > self.low else 1.0
        shown = number_ticks(self.low, self.high, count) if values is None else values
        how = axis.get("format", "")
        return [(self.at(one), tick_text(one, how, step=step)) for one in shown]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    words: Sequence[str]
    step: float
    is_discrete: bool = True

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
    known = [float(one) for one in values if one is not None]
    if "domain" in how:
        low, high = how["domain"]
    else:
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


def tick_text(value: float, how: str, *, step: float) -> str:
    """A number as its axis shows it.

    Parameters
    ----------
    value : float
    how : str
        A format of d3 for fixed digits or percents; "" as many digits as the step has.
    step : float
        Between ticks; it has the digits where the format names none.

    Raises
    ------
    ValueError
        If the format is another.

    Examples
    --------
    >>> tick_text(0.2, ".0%", step=0.2), tick_text(0.025, "~%", step=0.005)
    ('20%', '2.5%')
    """
    found = _FORMAT.match(how or ",f")
    if found is None:
        msg = f"format {how!r} is not one that drawings know"
        raise ValueError(msg)
    percent = found["kind"] == "%"
    digits = (
        int(found["digits"])
        if found["digits"]
        else max(0, -math.floor(math.log10(step) + 1e-9) - 2 * percent)
    )
    text = f"{100 * value if percent else value:{found['comma']}.{digits}f}"
    if found["trim"] and "." in text:
        text = text.rstrip("0").removesuffix(".")
    if text.startswith("-"):
        zero = not any(letter in "123456789" for letter in text)
        text = text[1:] if zero else "−" + text[1:]
    return text + "%" * percent
