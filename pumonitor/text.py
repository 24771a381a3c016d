"""Numbers, shares, sums of money, times and sizes as people read them: one formatter for each.

Whatever a person reads goes through these, wherever it stands; JSON and CSV keep full numbers.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

_MOST_DECIMALS = 6
_LEAST = 10.0**-_MOST_DECIMALS
_DAY = timedelta(days=1)
_CLOCK_CHANGE = timedelta(hours=2)
_UNITS = (
    ("day", _DAY),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
    ("second", timedelta(seconds=1)),
)


def number_text(value: float) -> str:
    """An estimate or a measured number with three significant digits, more where it nearly is 1.

    One without a value is a dash: what shows it says the reason beside it.

    Examples
    --------
    >>> [number_text(value) for value in (0.62345, 12.345, 1234.5, 0.05, 1.0, 0.0)]
    ['0.623', '12.3', '1,234', '0.0500', '1.00', '0']
    >>> [number_text(value) for value in (0.0000123, 1e-9, -1e-9, 0.99962, 0.99999999)]
    ['0.0000123', '<0.000001', '>-0.000001', '0.9996', '>0.999999']
    """
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    size = abs(value)
    if size < _LEAST:
        return f"<{_LEAST:f}" if value > 0 else f">-{_LEAST:f}"
    return _near(value, 1.0) or f"{value:,.{max(2 - _power(size), 0)}f}"


def _power(size: float) -> int:
    """The power of ten of the first of three significant digits."""
    return math.floor(math.log10(float(f"{size:.3g}")))


def _near(value: float, whole: float) -> str | None:
    """A number just below 1 or 100, of which the distance from it can be read; None of others."""
    distance = whole - abs(value)
    if not 0 < distance < whole / 100:
        return None
    most = _MOST_DECIMALS - round(math.log10(whole))
    decimals = max(most - 3, -math.floor(math.log10(float(f"{distance:.3g}"))))
    if decimals <= most:
        return f"{value:.{decimals}f}"
    end = f"{whole - 10.0**-most:.{most}f}"
    return f">{end}" if value > 0 else f"<-{end}"


def given_text(value: float) -> str:
    """A number that somebody gave, such as a threshold or a limit: up to six digits, no zeros.

    Examples
    --------
    >>> [given_text(value) for value in (0.8, 20_000, 0.00001234, 1e-9, math.inf)]
    ['0.8', '20,000', '0.00001234', '0.000000001', 'inf']
    """
    if value == 0 or not math.isfinite(value):
        return "–" if math.isnan(value) else f"{value:g}"
    text = f"{value:,.{max(5 - math.floor(math.log10(abs(value))), 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed_text(value: float, *, as_text: Callable[[float], str] = number_text) -> str:
    """A difference with its sign; one below a millionth is none.

    Examples
    --------
    >>> signed_text(0.01234), signed_text(-0.5), signed_text(1e-17)
    ('+0.0123', '-0.500', '0')
    """
    if abs(value) < _LEAST:
        return "0"
    return f"+{as_text(value)}" if value > 0 else as_text(value)


def interval_text(low: float, high: float, *, as_text: Callable[[float], str] = number_text) -> str:
    """An interval in words that survive a minus sign.

    Examples
    --------
    >>> interval_text(0.541, 0.7), interval_text(-0.1, 0.2)
    ('0.541 to 0.700', '-0.100 to 0.200')
    """
    return f"{as_text(low)} to {as_text(high)}"


def marked(shown: str, reason: str | None) -> str:
    """A number with a mark where it is impossible or made of one that is.

    Examples
    --------
    >>> marked("1.00", "Precision came out at 2.34"), marked("0.800", None)
    ('1.00!', '0.800')
    """
    return f"{shown}!" if reason and shown != "–" else shown


def interval_shown(
    low: float | None, high: float | None, *, as_text: Callable[[float], str] = number_text
) -> str:
    """An interval; "" without one, or with an end that is not finite.

    Examples
    --------
    >>> interval_shown(0.5, 0.7), interval_shown(None, 0.7)
    ('0.500 to 0.700', '')
    """
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return interval_text(low, high, as_text=as_text)


def with_interval(
    value: float,
    low: float | None,
    high: float | None,
    *,
    unit: str = "",
    as_text: Callable[[float], str] = number_text,
) -> str:
    """A number with its unit and, in brackets, its interval, if it has one.

    Examples
    --------
    >>> with_interval(0.00187, -0.0223, 0.0178), with_interval(2.0, None, None, unit=" times")
    ('0.00187 (-0.0223 to 0.0178)', '2.00 times')
    """
    ends = "" if low == high else interval_shown(low, high, as_text=as_text)
    return f"{as_text(value)}{unit}{f' ({ends})' if ends else ''}"


def times_text(ratio: float) -> str:
    """How many times as many, with two significant digits.

    Examples
    --------
    >>> times_text(3.0), times_text(3.567), times_text(0.5), times_text(127.0)
    ('3 times', '3.6 times', '0.5 times', '130 times')
    """
    return f"{given_text(float(f'{ratio:.2g}'))} times"


def money_text(value: float, unit: str | None) -> str:
    """A sum with its unit, "" or None where that is not known.

    Examples
    --------
    >>> money_text(41_237.5, "EUR"), money_text(12.5, None)
    ('41,238 EUR', '12.5')
    """
    return f"{number_text(value)} {unit}" if unit else number_text(value)


def percent_text(share: float, *, width: float = 0.0) -> str:
    """A share in percent.

    Parameters
    ----------
    share : float
        Between 0 and 1.
    width : float
        Width of its interval: sets how many decimals are worth showing. 0 shows three
        significant digits.

    Examples
    --------
    >>> percent_text(0.6234, width=0.16), percent_text(0.6234, width=0.016)
    ('62%', '62.3%')
    >>> [percent_text(share) for share in (0.05, 0.00123, 0.9997, 0.0)]
    ['5%', '0.123%', '99.97%', '0%']
    """
    if not math.isfinite(share):
        return "–"
    if width > 0:
        decimals = min(max(1 - math.floor(math.log10(100 * width)), 0), _MOST_DECIMALS)
        return f"{100 * share:.{decimals}f}%"
    text = _near(100 * share, 100.0) or number_text(100 * share)
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"


def percent_with_interval(value: float, low: float, high: float) -> str:
    """A share in percent with its interval, both as exact as the interval is narrow.

    Examples
    --------
    >>> percent_with_interval(0.62, 0.54, 0.7)
    '62% (54 to 70%)'
    >>> percent_with_interval(0.05, 0.05, 0.05)
    '5%'
    """
    width = high - low
    if width <= 0:
        return percent_text(value)
    left = percent_text(low, width=width).removesuffix("%")
    return f"{percent_text(value, width=width)} ({left} to {percent_text(high, width=width)})"


def probability_text(p_value: float) -> str:
    """A p-value with its sign of equality.

    Examples
    --------
    >>> probability_text(0.01234), probability_text(1e-12)
    ('p = 0.0123', 'p < 0.000001')
    """
    return f"p < {_LEAST:f}" if p_value < _LEAST else f"p = {number_text(p_value)}"


def count_text(count: float) -> str:
    """A count with thousands separated.

    Examples
    --------
    >>> count_text(20000), count_text(1234.6)
    ('20,000', '1,235')
    """
    return f"{count:,.0f}"


def zone_name(zone: tzinfo) -> str:
    """What a zone is called.

    Examples
    --------
    >>> from zoneinfo import ZoneInfo
    >>> zone_name(UTC), zone_name(ZoneInfo("Europe/Berlin"))
    ('UTC', 'Europe/Berlin')
    """
    return str(zone)


def day_text(when: datetime, zone: tzinfo = UTC) -> str:
    """The day of a moment in a zone; of the first and last that Python knows, in their own."""
    return f"{_in(zone, when):%Y-%m-%d}"


def _in(zone: tzinfo, when: datetime) -> datetime:
    with contextlib.suppress(OverflowError):
        return when.astimezone(zone)
    return when


def moment_text(when: datetime | None, zone: tzinfo = UTC) -> str:
    """Day and time with the zone that they are in, for a sentence.

    Examples
    --------
    >>> from zoneinfo import ZoneInfo
    >>> moment_text(datetime(2026, 3, 1, 6, tzinfo=UTC))
    '2026-03-01 06:00 UTC'
    >>> moment_text(datetime(2026, 3, 1, 6, tzinfo=UTC), ZoneInfo("Europe/Berlin"))
    '2026-03-01 07:00 Europe/Berlin'
    """
    return "–" if when is None else f"{_in(zone, when):%Y-%m-%d %H:%M} {zone_name(zone)}"


def window_text(start: datetime, end: datetime, zone: tzinfo = UTC) -> str:
    """From a moment to another.

    Examples
    --------
    >>> window_text(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC))
    '2026-03-01 00:00 to 2026-03-02 00:00 UTC'
    """
    return f"{_in(zone, start):%Y-%m-%d %H:%M} to {moment_text(end, zone)}"


def moment_cell(when: datetime | None, zone: tzinfo = UTC) -> str:
    """Day and time for a table whose zone is said elsewhere, without the time at midnight.

    Examples
    --------
    >>> moment_cell(datetime(2026, 3, 1, tzinfo=UTC)), moment_cell(None)
    ('2026-03-01', '–')
    >>> from zoneinfo import ZoneInfo
    >>> moment_cell(datetime(9999, 12, 31, 23, tzinfo=UTC), ZoneInfo("Europe/Berlin"))
    '9999-12-31 23:00'
    """
    return "–" if when is None else f"{_in(zone, when):%Y-%m-%d %H:%M}".removesuffix(" 00:00")


def period_text(start: datetime, end: datetime) -> str:
    """Days, or months where these are whole; times where it is made of other parts of days.

    Examples
    --------
    >>> def period_of(start, end):
    ...     return period_text(datetime.fromisoformat(start), datetime.fromisoformat(end))
    >>> period_of("2026-01-01T00:00", "2026-02-01T00:00")
    'January 2026'
    >>> period_of("2025-12-31T23:00", "2026-03-31T22:00")
    'January to March 2026'
    >>> period_of("2026-01-05T00:00", "2026-01-06T00:00")
    '5 January 2026'
    >>> period_of("2025-12-29T00:00", "2026-01-05T00:00")
    '29 December 2025 to 4 January 2026'
    >>> period_of("2026-01-05T08:00", "2026-01-05T18:00")
    '5 January 2026 08:00 to 5 January 2026 18:00 UTC'
    """
    parts = (end - start) % _DAY
    if end - start < _DAY - _CLOCK_CHANGE or _CLOCK_CHANGE < parts < _DAY - _CLOCK_CHANGE:
        return f"{_day_in_words(start)} {start:%H:%M} to {_day_in_words(end)} {end:%H:%M} UTC"
    # A midnight elsewhere is the one that is nearest.
    first, last = _midnight(start), _midnight(end) - _DAY
    if first.day == 1 and (last + _DAY).day == 1:
        names = [f"{first:%B %Y}", f"{last:%B %Y}"]
        if first.year == last.year:
            names[0] = f"{first:%B}"
        return names[1] if f"{first:%B %Y}" == names[1] else " to ".join(names)
    if first == last:
        return _day_in_words(first)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day} to {_day_in_words(last)}"
    if first.year == last.year:
        return f"{first.day} {first:%B} to {_day_in_words(last)}"
    return f"{_day_in_words(first)} to {_day_in_words(last)}"


def _midnight(when: datetime) -> datetime:
    return (when + _DAY / 2).replace(hour=0, minute=0, second=0, microsecond=0)


def _day_in_words(when: datetime) -> str:
    return f"{when.day} {when:%B %Y}"


def ago_text(when: datetime | None, now: datetime) -> str:
    """How long before or after now.

    Examples
    --------
    >>> now = datetime(2026, 3, 10, tzinfo=UTC)
    >>> ago_text(now - timedelta(days=3, hours=5), now), ago_text(now + timedelta(hours=2), now)
    ('3.2 days ago', 'in 2 hours')
    >>> ago_text(now - timedelta(seconds=20), now), ago_text(None, now)
    ('just now', 'never')
    """
    if when is None:
        return "never"
    apart = abs(now - when)
    if apart < timedelta(minutes=1):
        return "just now"
    return f"{span_text(apart)} ago" if when < now else f"in {span_text(apart)}"


def span_text(length: timedelta) -> str:
    """A length of time in its largest unit, with two significant digits, whole from ten on.

    Examples
    --------
    >>> [span_text(timedelta(hours=hours)) for hours in (31, 1, 1084.8, 0.9999)]
    ['1.3 days', '1 hour', '45 days', '60 minutes']
    >>> span_text(timedelta(seconds=0.036)), span_text(timedelta(0))
    ('0.036 seconds', '0 seconds')
    """
    size = abs(length)
    unit, whole = next((pair for pair in _UNITS if size >= pair[1]), _UNITS[-1])
    many = size / whole
    decimals = min(max(1 - math.floor(math.log10(many)), 0), _MOST_DECIMALS) if many else 0
    text = f"{many:,.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if decimals else text
    return f"{text} {unit}{'' if text == '1' else 's'}"


def size_text(size: float) -> str:
    """A number of bytes, in powers of 1000.

    Examples
    --------
    >>> size_text(999), size_text(10_000_000_000)
    ('999 bytes', '10 GB')
    """
    unit = "bytes"
    for larger in ("kB", "MB", "GB", "TB", "PB"):
        if size < 999.5:
            break
        size, unit = size / 1000, larger
    return f"{size:.3g} {unit}"
