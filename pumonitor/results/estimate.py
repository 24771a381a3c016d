"""One number with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from pumonitor.plain_values import plain_fields
from pumonitor.text import with_interval

__all__ = ["Estimate", "Scenario", "Target"]

Scenario = Literal["single-training-set", "case-control"]
Target = Literal["process", "window"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One number with its uncertainty.

    Attributes
    ----------
    name : str
        The metric, for example ``"f1"``.
    value, low, high : float
        Point estimate and interval at `confidence_level`; NaN when undefined. They are kept as
        estimated even outside the metric's range (`infeasible` is then True): a precision of 1.2
        is evidence against the class prior or against labels being a fair sample of the positives.
    se : float
        Standard error from sampling and the class prior together.
    se_sampling, se_prior : float
        The two parts of it, each with the other source of uncertainty held fixed.
    sampling_interval : tuple of float
        What the interval is with the class prior held at its value: [low, high] where the prior is
        known, NaN where it is not told apart.
    prior_bias : float
        By how much the value is too high, on average, because the class prior is uncertain and
        the metric is curved in it (Jensen's inequality; Tabatabaei et al. 2020, section 4.3).
    confidence_level : float
        Nominal coverage of the interval.
    method : str
        How the interval was made.
    n_labeled, n_unlabeled : int
        Rows the estimate rests on.
    range : tuple of float
        The values the metric can take.
    undefined_reason : str or None
        Why there is no value, in words.
    infeasible : bool
        Whether `value` lies outside `range`.

    Examples
    --------
    >>> estimate = Estimate(name="precision", value=1.04, low=0.91, high=1.2,
    ...                     confidence_level=0.95, method="draws", n_labeled=50, n_unlabeled=900,
    ...                     range=(0.0, 1.0))
    >>> estimate.infeasible, estimate.displayed
    (True, (1.0, 0.91, 1.0))
    """

    name: str
    value: float
    low: float
    high: float
    confidence_level: float
    method: str
    n_labeled: int
    n_unlabeled: int
    se: float = math.nan
    se_sampling: float = math.nan
    se_prior: float = math.nan
    prior_bias: float = 0.0
    range: tuple[float, float] = (0.0, 1.0)
    undefined_reason: str | None = None
    sampling_interval: tuple[float, float] = (math.nan, math.nan)

    @property
    def infeasible(self) -> bool:
        """Whether the estimate came out outside what the metric can be (beyond rounding)."""
        low, high = self.range
        return self.value < low - 1e-12 or self.value > high + 1e-12

    @property
    def interval_infeasible(self) -> bool:
        """Whether the whole interval lies outside the range: more than sampling explains."""
        low, high = self.range
        return self.infeasible and (self.low > high or self.high < low)

    @property
    def displayed(self) -> tuple[float, float, float]:
        """Value, low and high clipped to the metric's range: what people are shown."""
        low, high = self.range
        return (
            float(min(max(self.value, low), high)),
            float(min(max(self.low, low), high)),
            float(min(max(self.high, low), high)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; an undefined value is None, never NaN."""
        numbers = ("value", "low", "high", "se", "se_sampling", "se_prior", "prior_bias")
        others = ("confidence_level", "method", "n_labeled", "n_unlabeled", "undefined_reason")
        return plain_fields(self, "name", *numbers, *others, "infeasible")

    def __str__(self) -> str:
        if self.undefined_reason is not None:
            return f"{self.name} undefined: {self.undefined_reason}"
        value, low, high = self.displayed
        note = " (infeasible)" if self.infeasible else ""
        return f"{self.name} {with_interval(value, low, high)}{note}"


def undefined(
    name: str, reason: str, *, confidence_level: float, n_labeled: int, n_unlabeled: int
) -> Estimate:
    """An estimate without a value, with the reason."""
    return Estimate(
        name=name,
        value=math.nan,
        low=math.nan,
        high=math.nan,
        confidence_level=confidence_level,
        method="none",
        n_labeled=n_labeled,
        n_unlabeled=n_unlabeled,
        undefined_reason=reason,
    )
