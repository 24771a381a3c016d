"""Numbers and times as pages show them."""

from __future__ import annotations

import contextlib
import math
from datetime import datetime, timedelta, tzinfo

from pumonitor.names import COUNTS
from pumonitor.report.numbers import interval_text, number, rows


def estimate_text(metric: str, value: float | None) -> str:
    """A metric's value; an en dash where it is undefined.

    Examples
    --------
    >>> estimate_text("f1", 0.61234), estimate_text("predictions", 5200.0)
    ('0.612', '5,200')
    >>> estimate_text("f1", None)
    '–'
    """
    if value is None or not math.isfinite(value):
        return "–"
    return rows(round(value)) if metric in COUNTS else number(value)


def marked(shown: str, reason: str | None) -> str:
    """A number with a mark where it is impossible or made of one that is.

    Examples
    --------
    >>> marked("1.00", "Precision came out at 2.34"), marked("0.800", None)
    ('1.00!', '0.800')
    """
    return f"{shown}!" if reason and shown != "–" else shown


def interval_shown(low: float | None, high: float | None) -> str:
    """Its interval; "" without one.

    Examples
    --------
    >>> interval_shown(0.5, 0.7), interval_shown(None, 0.7)
    ('0.500 to 0.700', '')
    """
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return interval_text(low, high)


def moment_text(moment: datetime | None, zone: tzinfo) -> str:
    """Date and time in a zone, without the time at midnight.

    The first and last moments that Python knows, which some zones cannot show, stay in their own.

    Examples
    --------
    >>> from datetime import UTC
    >>> moment_text(datetime(2026, 3, 1, tzinfo=UTC), UTC)
    '2026-03-01'
    >>> moment_text(datetime(2026, 3, 1, 6, tzinfo=UTC), UTC), moment_text(None, UTC)
    ('2026-03-01 06:00', '–')
    >>> from zoneinfo import ZoneInfo
    >>> moment_text(datetime(9999, 12, 31, 23, tzinfo=UTC), ZoneInfo("Europe/Berlin"))
    '9999-12-31 23:00'
    """
    if moment is None:
        return "–"
    with contextlib.suppress(OverflowError):
        moment = moment.astimezone(zone)
    return f"{moment:%Y-%m-%d %H:%M}".removesuffix(" 00:00")


def ago(moment: datetime | None, now: datetime) -> str:
    """How long before or after now, in its largest unit.

    Examples
    --------
    >>> from datetime import UTC
    >>> now = datetime(2026, 3, 10, tzinfo=UTC)
    >>> ago(now - timedelta(days=3, hours=5), now), ago(now + timedelta(hours=2), now)
    ('3 days ago', 'in 2 hours')
    >>> ago(now - timedelta(seconds=20), now), ago(None, now)
    ('just now', 'never')
    """
    if moment is None:
        return "never"
    apart = abs(now - moment)
    if apart < timedelta(minutes=1):
        return "just now"
    return f"{length_words(apart)} ago" if moment < now else f"in {length_words(apart)}"


def length_words(length: timedelta) -> str:
    """A length of time in its largest unit, cut to whole ones.

    Examples
    --------
    >>> length_words(timedelta(days=1, hours=7)), length_words(timedelta(hours=2))
    ('1 day', '2 hours')
    """
    units = (
        ("day", timedelta(days=1)),
        ("hour", timedelta(hours=1)),
        ("minute", timedelta(minutes=1)),
    )
    unit, of = next((one for one in units if length >= one[1]), units[-1])
    many = length // of
    return f"{many} {unit}{'' if many == 1 else 's'}"
