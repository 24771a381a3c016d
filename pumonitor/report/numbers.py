"""Numbers as people read them: three significant digits, percentages as exact as their interval."""

from __future__ import annotations

import math

_MOST_DECIMALS = 6


def number(value: float) -> str:
    """A number with three significant digits, more where it nearly is 1.

    Raises
    ------
    ValueError
        If the value is not finite: a number without a value is shown by its reason.

    Examples
    --------
    >>> number(0.62345), number(12.345), number(1234.5), number(0.05), number(1.0)
    ('0.623', '12.3', '1,234', '0.0500', '1.00')
    >>> number(0.99962), number(0.0), number(0.0000123)
    ('0.9996', '0', '1.23e-05')
    """
    if not math.isfinite(value):
        msg = f"value must be finite, got {value}"
        raise ValueError(msg)
    if value == 0:
        return "0"
    size = abs(value)
    if size < 10 ** (2 - _MOST_DECIMALS):
        return f"{value:.3g}"
    decimals = 2 - math.floor(math.log10(float(f"{size:.3g}")))
    if 0.99 < size < 1:
        # Near 1 what can be read is the distance from 1.
        decimals = max(3, -math.floor(math.log10(float(f"{1 - size:.3g}"))))
    return f"{value:,.{min(max(decimals, 0), _MOST_DECIMALS)}f}"


def interval_text(low: float, high: float) -> str:
    """An interval in words that survive a minus sign.

    Examples
    --------
    >>> interval_text(0.541, 0.7), interval_text(-0.1, 0.2)
    ('0.541 to 0.700', '-0.100 to 0.200')
    """
    return f"{number(low)} to {number(high)}"


def _decimals_for(width: float) -> int:
    """Decimals that give an interval this wide (in percent) two significant digits."""
    if width <= 0:
        return 0
    return min(max(1 - math.floor(math.log10(width)), 0), _MOST_DECIMALS)


def percent(share: float, *, width: float = 0.0) -> str:
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
    >>> percent(0.6234, width=0.16), percent(0.6234, width=0.016), percent(0.05), percent(0.00123)
    ('62%', '62.3%', '5%', '0.123%')
    """
    if width <= 0:
        text = number(100 * share)
        return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"
    return f"{100 * share:.{_decimals_for(100 * width)}f}%"


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
        return percent(value)
    left = percent(low, width=width).removesuffix("%")
    return f"{percent(value, width=width)} ({left} to {percent(high, width=width)})"


def rows(count: int) -> str:
    """A count with thousands separated.

    Examples
    --------
    >>> rows(20000)
    '20,000'
    """
    return f"{count:,d}"
