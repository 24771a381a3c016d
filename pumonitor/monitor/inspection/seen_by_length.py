"""Estimate which window length detects a lasting fall soonest, from how windows have varied."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.detectors.labels_needed import (
    Noise,
    SeenAfter,
    seen_after,
    variance_of_means,
)
from pumonitor.text import span_text

_FEWEST: Final = 5
_DAYS_PER_YEAR: Final = 365.25
_LONGER: Final = {"1d": 1.0, "1w": 7.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthSeen:
    """How soon a fall is detected in windows of one length.

    Attributes
    ----------
    window : str
        Length, as in a configuration.
    reference_windows : int
        Number of windows of this length without a change.
    median, most : float or None
        Days from the fall to the end of the window that raises the alarm, in half of all cases and
        in nine of ten; infinite if not within 120 windows, None with fewer than five windows
        without a change.
    """

    window: str
    reference_windows: int
    median: float | None
    most: float | None


def seen_by_length(
    values: FloatArray,
    noise: Noise,
    *,
    labels: int,
    drop: float,
    window: str,
    window_days: float,
    false_alarms_per_year: float,
    reference_windows: int,
) -> tuple[LengthSeen, ...]:
    """Time to detection for the monitor's windows, and for days and weeks where these are longer.

    The variation of longer windows is estimated from the autocorrelation of the quiet windows.

    Parameters
    ----------
    values : ndarray of shape (windows,)
        Values of windows without a change, in order of time.
    noise : Noise
        Noise estimated from them.
    labels : int
        Confirmed positives of a usual window.
    drop : float
    window : str
        Length of a window as in the configuration.
    window_days, false_alarms_per_year : float
    reference_windows : int
        Number of windows from which the detector learns the usual value.
    """
    found = []
    for name, days in {window: window_days, **_LONGER}.items():
        parts = round(days / window_days)
        if name != window and (parts < 2 or abs(parts * window_days - days) > 0.01 * days):
            continue
        windows = reference_windows // parts
        seen: SeenAfter | None = None
        if windows >= _FEWEST:
            variance = variance_of_means(values, parts) if parts > 1 else 1.0
            seen = seen_after(
                labels * parts,
                drop=drop,
                noise=noise.of_means(parts, variance=variance),
                false_alarms_per_year=false_alarms_per_year,
                windows_per_year=_DAYS_PER_YEAR / days,
                reference_windows=windows,
                parts=parts,
            )
        found.append(
            LengthSeen(
                window=name,
                reference_windows=windows,
                median=None if seen is None else seen.median * window_days,
                most=None if seen is None else seen.most * window_days,
            )
        )
    return tuple(found)


def said_of_lengths(lengths: tuple[LengthSeen, ...]) -> str:
    r"""When each length detects a fall, and which does first; no full stop at the end.

    Examples
    --------
    >>> day = LengthSeen(window="1d", reference_windows=60, median=9.0, most=21.0)
    >>> week = LengthSeen(window="1w", reference_windows=8, median=13.0, most=math.inf)
    >>> print(said_of_lengths((day, week)).replace("; ", "\n"))
    in half of all cases within 9 days, in nine of ten within 21 days in windows of 1d
    in half of all cases within 13 days, in nine of ten not within 120 windows in windows of 1w
    windows of 1d detect it first
    """
    sentence = "; ".join(f"{_said(one)} in windows of {one.window}" for one in lengths)
    seen = [
        (one.median, one.most, one.window)
        for one in lengths
        if one.median is not None and math.isfinite(one.median)
    ]
    several = sum(one.median is not None for one in lengths) > 1
    return (
        (f"{sentence}; windows of {min(seen)[2]} detect it first") if seen and several else sentence
    )


def _said(one: LengthSeen) -> str:
    if one.median is None or one.most is None:
        return (
            f"unknown (there are {one.reference_windows} windows without a change, and {_FEWEST} "
            "are needed)"
        )
    if math.isinf(one.median):
        return "in fewer than half of all cases within 120 windows"
    most = (
        "not within 120 windows"
        if math.isinf(one.most)
        else f"within {span_text(timedelta(days=one.most))}"
    )
    half = span_text(timedelta(days=one.median))
    return f"in half of all cases within {half}, in nine of ten {most}"
