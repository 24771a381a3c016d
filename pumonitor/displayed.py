"""What is shown of an estimate, and the metrics that it is logged as."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from pumonitor.results import Estimate, finite_or_none

PREFIX: Final = "pu/"
UNDEFINED: Final = "_undefined"
INFEASIBLE: Final = "_infeasible"


class _WithInterval(Protocol):
    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Displayed:
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

    Examples
    --------
    >>> precision = Estimate(name="precision", value=1.04, low=0.91, high=1.2, method="draws",
    ...                      confidence_level=0.95, n_labeled=50, n_unlabeled=900)
    >>> shown = Displayed.of(precision)
    >>> shown.value, shown.low, shown.high, shown.infeasible
    (1.0, 0.91, 1.0, True)
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    infeasible: bool = False

    @classmethod
    def of(cls, estimate: Estimate, *, doubted: bool = False) -> Displayed:
        """An estimate.

        Parameters
        ----------
        estimate : Estimate
        doubted : bool
            Whether it stands on a class prior that is impossible, and is evidence of nothing.
        """
        shown = cls.held(estimate, estimate.range)
        impossible = doubted or estimate.interval_infeasible
        return cls(
            value=shown.value,
            low=None if impossible else shown.low,
            high=None if impossible else shown.high,
            infeasible=shown.value is not None and (doubted or estimate.infeasible),
        )

    @classmethod
    def held(cls, number: _WithInterval, limits: tuple[float, float]) -> Displayed:
        """A number with its interval, held to the limits.

        Parameters
        ----------
        number : object with value, low and high
        limits : tuple of float
            What it can be.
        """
        if not math.isfinite(number.value):
            return cls(value=None)
        least, most = limits
        infeasible = number.value < least - 1e-12 or number.value > most + 1e-12
        impossible = infeasible and (number.low > most or number.high < least)
        value, low, high = (
            min(max(part, least), most) for part in (number.value, number.low, number.high)
        )
        return cls(
            value=float(value),
            low=None if impossible else finite_or_none(low),
            high=None if impossible else finite_or_none(high),
            infeasible=infeasible,
        )


def metric_parts(number: Displayed | None) -> Iterator[tuple[str, float]]:
    """Endings of a metric's name and finite numbers, as they are logged.

    An undefined metric is left out, so that a threshold on it fails rather than passes, and its
    name with ``_undefined`` is 1. MLflow stores an infinite value as 1.8e308 and NaN as 0 in
    places: neither is ever handed to it. A number that came out impossible, or stands on an
    impossible class prior, has ``_infeasible`` = 1; where its whole interval or the prior is
    impossible there is no ``_low`` and no ``_high``, so that no gate on an end passes then.

    Examples
    --------
    >>> dict(metric_parts(Displayed(value=1.0, low=0.91, high=1.0, infeasible=True)))
    {'': 1.0, '_low': 0.91, '_high': 1.0, '_infeasible': 1.0}
    >>> dict(metric_parts(None))
    {'_undefined': 1.0}
    """
    if number is None or number.value is None or not math.isfinite(number.value):
        yield UNDEFINED, 1.0
        return
    yield "", number.value
    for ending, end in (("_low", number.low), ("_high", number.high)):
        if end is not None and math.isfinite(end):
            yield ending, end
    if number.infeasible:
        yield INFEASIBLE, 1.0
