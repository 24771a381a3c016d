"""Where the ticks of an axis stand: round numbers, and round moments of UTC.

The same ones as d3, whose charts Vega-Lite draws.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

__all__ = ["moment_ticks", "nice", "number_step", "number_ticks"]

_SECOND: Final = 1000.0
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_WEEK: Final = 7 * _DAY
_MONTH: Final = 30 * _DAY
_YEAR: Final = 365 * _DAY
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_SUNDAY: Final = 3 * _DAY
_ROUNDING: Final = 1e-9
_STEPS: Final = (
    *(one * _SECOND for one in (1, 5, 15, 30)),
    *(one * _MINUTE for one in (1, 5, 15, 30)),
    *(one * _HOUR for one in (1, 3, 6, 12)),
    *(_DAY, 2 * _DAY, _WEEK, _MONTH, 3 * _MONTH, _YEAR),
)
"""Milliseconds between ticks that are round moments."""


def number_step(low: float, high: float, count: int) -> float:
    """Step of about `count` ticks: 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> number_step(0.0, 1.0, 4)
    0.2
    """
    rough = (high - low) / max(count, 1)
    power = math.floor(math.log10(rough))
    error = rough / 10.0**power
    factor = 10 if error >= math.sqrt(50) else 5 if error >= math.sqrt(10) else 1
    if factor == 1 and error >= math.sqrt(2):
        factor = 2
    return factor * 10.0**power if power >= 0 else factor / 10.0**-power


def number_ticks(low: float, high: float, count: int) -> list[float]:
    """Multiples of that step within [low, high].

    Examples
    --------
    >>> number_ticks(0.0, 1.0, 5)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not low < high:
        return [low]
    step = number_step(low, high, count)
    first, last = math.ceil(low / step - _ROUNDING), math.floor(high / step + _ROUNDING)
    inverse = round(1 / step) if step < 1 else 0
    return [one / inverse if inverse else one * step for one in range(first, last + 1)]


def nice(low: float, high: float, *, count: int = 10) -> tuple[float, float]:
    """The range widened to multiples of the step.

    Examples
    --------
    >>> nice(0.013, 0.187)
    (0.0, 0.2)
    """
    before = 0.0
    while low < high and (step := number_step(low, high, count)) != before:
        before = step  # a wider range can have a wider step
        first, last = math.floor(low / step + _ROUNDING), math.ceil(high / step - _ROUNDING)
        inverse = round(1 / step) if step < 1 else 0
        low, high = (one / inverse if inverse else one * step for one in (first, last))
    return low, high


def moment_ticks(begin: float, end: float, count: int) -> list[float]:
    """Round moments of UTC, milliseconds since 1970.

    Examples
    --------
    >>> day = 86_400_000.0
    >>> [tick / day for tick in moment_ticks(0.0, 8 * day, 4)]
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    if not begin < end:
        return [begin]
    target = (end - begin) / count
    place = bisect_right(_STEPS, target)
    if place == 0:
        return number_ticks(begin, end, count)
    if place == len(_STEPS):
        years = max(round(number_step(begin / _YEAR, end / _YEAR, count)), 1)
        return list(_months(begin, end, 12 * years))
    below, above = _STEPS[place - 1], _STEPS[place]
    step = below if target / below < above / target else above
    if step >= _MONTH:
        return list(_months(begin, end, {_MONTH: 1, 3 * _MONTH: 3, _YEAR: 12}[step]))
    origin = _FIRST_SUNDAY if step == _WEEK else 0.0
    first = math.ceil((begin - origin) / step)
    last = math.floor((end - origin) / step)
    return [origin + one * step for one in range(first, last + 1)]


def moment_text(at: float) -> str:
    """What a tick says: of a year its number, of a month its name, of others the day or the hour.

    Examples
    --------
    >>> day = 86_400_000.0
    >>> [moment_text(at) for at in (0.0, 31 * day, 32 * day, 32.5 * day)]
    ['1970', 'February', 'Mon 02', '12 PM']
    """
    moment = _EPOCH + timedelta(milliseconds=at)
    if moment.microsecond:
        return f".{moment.microsecond // 1000:03d}"
    if moment.second:
        return f":{moment.second:02d}"
    if moment.minute:
        return f"{moment:%I:%M}"
    if moment.hour:
        return f"{moment:%I %p}"
    if moment.day != 1:
        return f"{moment:%b %d}" if moment.weekday() == 6 else f"{moment:%a %d}"
    return f"{moment:%Y}" if moment.month == 1 else f"{moment:%B}"


def apart(ends: list[tuple[float, float]]) -> list[int]:
    """Which of the labels, of which each goes from one place to another, are shown.

    All if none overlap, else every second one, every fourth, and so on.

    Examples
    --------
    >>> apart([(0, 10), (8, 18), (16, 26)])
    [0, 2]
    """
    kept = list(range(len(ends)))
    while len(kept) > 1 and any(ends[one][1] > ends[other][0] for one, other in pairwise(kept)):
        kept = kept[::2]
    return kept


def _months(begin: float, end: float, months: int) -> Iterator[float]:
    first = _EPOCH + timedelta(milliseconds=begin)
    number = first.year * 12 + first.month - 1
    number -= number % months
    while True:
        year, month = divmod(number, 12)
        at = (datetime(year, month + 1, 1, tzinfo=UTC) - _EPOCH) / timedelta(milliseconds=1)
        if at > end:
            return
        if at >= begin:
            yield at
        number += months
