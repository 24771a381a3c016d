"""A number as people see it and as it is logged; reading stored ones needs no statistics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, Protocol

from pumonitor.plain_values import finite_or_none
from pumonitor.views.model import View

PREFIX: Final = "pu/"
UNDEFINED: Final = "_undefined"
INFEASIBLE: Final = "_infeasible"

_ROUNDING: Final = 1e-12


class _WithInterval(Protocol):
    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


class NumberView(View):
    """A number as it is shown: held to what its metric can be, with a flag where that is not all.

    Attributes
    ----------
    value : float or None
        None where it is undefined.
    low, high : float or None
        None where the whole interval is impossible, or the class prior that the number stands on:
        there is no bound to stand on then.
    infeasible : bool
        Whether the number came out outside what its metric can be, or stands on a class prior that
        is impossible.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    infeasible: bool = False


def number_view(
    estimated: _WithInterval, limits: tuple[float, float], *, is_doubted: bool = False
) -> NumberView:
    """A number with its interval, held to the limits.

    Parameters
    ----------
    estimated : object with value, low and high
    limits : tuple of float
        What it can be: the range of an estimate.
    is_doubted : bool
        Whether it stands on a class prior that is impossible, and is evidence of nothing.

    Examples
    --------
    >>> from pumonitor.results import Estimate
    >>> precision = Estimate(name="precision", value=1.04, low=0.91, high=1.2, method="draws",
    ...                      confidence_level=0.95, n_labeled=50, n_unlabeled=900)
    >>> number_view(precision, precision.range)
    NumberView(value=1.0, low=0.91, high=1.0, infeasible=True)
    """
    if not math.isfinite(estimated.value):
        return NumberView(value=None)
    least, most = limits
    infeasible = estimated.value < least - _ROUNDING or estimated.value > most + _ROUNDING
    impossible = infeasible and (estimated.low > most or estimated.high < least)
    value, low, high = (
        float(min(max(part, least), most))
        for part in (estimated.value, estimated.low, estimated.high)
    )
    has_ends = not (impossible or is_doubted)
    return NumberView(
        value=value,
        low=finite_or_none(low) if has_ends else None,
        high=finite_or_none(high) if has_ends else None,
        infeasible=infeasible or is_doubted,
    )


def metric_parts(shown: NumberView | None) -> Iterator[tuple[str, float]]:
    """Endings of a metric's name and finite numbers, as they are logged.

    An undefined metric is left out, so that a threshold on it fails rather than passes, and its
    name with ``_undefined`` is 1. MLflow stores an infinite value as 1.8e308 and NaN as 0 in
    places: neither is ever handed to it. A number that came out impossible, or stands on an
    impossible class prior, has ``_infeasible`` = 1; where its whole interval or the prior is
    impossible there is no ``_low`` and no ``_high``, so that no gate on an end passes then.

    Examples
    --------
    >>> dict(metric_parts(NumberView(value=1.0, low=0.91, high=1.0, infeasible=True)))
    {'': 1.0, '_low': 0.91, '_high': 1.0, '_infeasible': 1.0}
    >>> dict(metric_parts(None))
    {'_undefined': 1.0}
    """
    if shown is None or shown.value is None or not math.isfinite(shown.value):
        yield UNDEFINED, 1.0
        return
    yield "", shown.value
    for ending, end in (("_low", shown.low), ("_high", shown.high)):
        if end is not None and math.isfinite(end):
            yield ending, end
    if shown.infeasible:
        yield INFEASIBLE, 1.0
