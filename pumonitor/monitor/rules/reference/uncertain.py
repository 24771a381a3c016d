"""A number with its interval: a protocol and a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Known(Protocol):
    """A number with its interval, such as an `Estimate` or a `ClassPriorEstimate`."""

    @property
    def value(self) -> float:
        """The number."""

    @property
    def low(self) -> float:
        """Lower end of its interval."""

    @property
    def high(self) -> float:
        """Upper end of its interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertain:
    """A number with its interval and standard error.

    Attributes
    ----------
    value, low, high : float
    se : float
    """

    value: float
    low: float
    high: float
    se: float
