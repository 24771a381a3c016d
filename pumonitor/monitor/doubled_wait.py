"""Waits that double with each failure in a row."""

from __future__ import annotations

import math
from datetime import timedelta


def doubled_wait(first: timedelta, times: int, *, longest: timedelta) -> timedelta:
    """`first` doubled so many times, no more than `longest`.

    Examples
    --------
    >>> doubled_wait(timedelta(seconds=30), 3, longest=timedelta(hours=1))
    datetime.timedelta(seconds=240)
    >>> doubled_wait(timedelta(seconds=30), 1000, longest=timedelta(hours=1))
    datetime.timedelta(seconds=3600)
    """
    # Powers are compared by their exponents: many doublings would overflow.
    if times >= math.log2(longest / first):
        return longest
    return first * (1 << times)
