"""Where the ticks of an axis stand and what they say: round numbers, and round moments of a zone.

Numbers have the steps of d3, whose charts Vega-Lite draws.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Final

_ROUNDING: Final = 1e-9
_FORMAT: Final = re.compile(r"^(?P<comma>,?)(?:\.(?P<digits>\d+))?(?P<trim>~?)(?P<kind>[%f])$")
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_STEPS: Final = (*(hours * _HOUR for hours in (1, 2, 3, 6, 12)), *(n * _DAY for n in (1, 2, 7, 14)))
_MONTHS: Final = (1, 3, 6, 12, 24, 60, 120)
_MONTH: Final = 30.4 * _DAY
_MONDAY: Final = datetime(2001, 1, 1)  # noqa: DTZ001 (a date of the calendar, in any zone)


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


def value_ticks(low: float, high: float, *, most: int = 5) -> list[tuple[float, str]]:
    """Round values within [low, high], about so many, with what they say.

    Examples
    --------
    >>> value_ticks(0.13, 0.58)
    [(0.2, '0.2'), (0.3, '0.3'), (0.4, '0.4'), (0.5, '0.5')]
    """
    step = number_step(low, high, most)
    return [(value, tick_text(value, "", step=step)) for value in number_ticks(low, high, most)]


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


def moment_ticks(
    begin: datetime, end: datetime, zone: tzinfo = UTC, *, most: int = 8
) -> tuple[list[datetime], str]:
    """Round hours, days, Mondays or months of a zone within [begin, end], and their format.

    Examples
    --------
    >>> begin = datetime(2026, 1, 3, tzinfo=UTC)
    >>> moments, form = moment_ticks(begin, begin + timedelta(days=70))
    >>> [f"{moment:{form}}" for moment in moments]
    ['2026-01-12', '2026-01-26', '2026-02-09', '2026-02-23', '2026-03-09']
    """
    span = end - begin
    local_begin, local_end = begin.astimezone(zone), end.astimezone(zone)
    for step in _STEPS:
        if span / step <= most:
            form = "%Y-%m-%d" if step >= _DAY else "%H:%M"
            return list(_every(local_begin, local_end, step)), form
    months = next((number for number in _MONTHS if span / (_MONTH * number) <= most), _MONTHS[-1])
    return list(_every_month(local_begin, local_end, months)), "%Y-%m" if months % 12 else "%Y"


def moment_texts(moments: Sequence[datetime], form: str) -> list[str]:
    """What ticks say; hours have their day at the first one and at midnight.

    Examples
    --------
    >>> begin = datetime(2026, 1, 3, tzinfo=UTC)
    >>> moment_texts(*moment_ticks(begin, begin + timedelta(hours=9)))[:3]
    ['2026-01-03 00:00', '02:00', '04:00']
    """
    return [
        f"{moment:%Y-%m-%d %H:%M}"
        if form == "%H:%M" and (not index or not moment.hour)
        else f"{moment:{form}}"
        for index, moment in enumerate(moments)
    ]


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


def _every(begin: datetime, end: datetime, step: timedelta) -> Iterator[datetime]:
    """By the clock on the wall: from midnights of Mondays on."""
    zone, wall = begin.tzinfo, begin.replace(tzinfo=None)
    moment = _MONDAY + math.ceil((wall - _MONDAY) / step) * step
    while (local := moment.replace(tzinfo=zone)) <= end:
        yield local
        moment += step


def _every_month(begin: datetime, end: datetime, months: int) -> Iterator[datetime]:
    number = begin.year * 12 + begin.month - 1
    number -= number % months
    while True:
        year, month = divmod(number, 12)
        first_day = datetime(year, month + 1, 1, tzinfo=begin.tzinfo)
        if first_day > end:
            return
        if first_day >= begin:
            yield first_day
        number += months
