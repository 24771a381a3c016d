"""The class prior with its uncertainty, estimated or given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from pumonitor.errors import if_percent
from pumonitor.plain_values import plain, plain_fields
from pumonitor.text import number_text, with_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassPriorEstimate:
    """The share of positives in the monitored population, P(y = 1), with its uncertainty.

    Attributes
    ----------
    value, low, high : float
        Estimate of the class prior and its interval. Equal for a prior taken as known.
    unlabeled_prior : float
        P(y = 1) among unlabeled rows; NaN when not (yet) tied to data.
    label_frequency : float
        P(labeled given y = 1); NaN in the case-control scenario.
    method : str
        ``"given"``, ``"given interval"`` or the estimator's name.
    confidence_level : float
        Of the interval.
    diagnostics : mapping
        Details of the estimator, plain JSON types.
    unlabeled_prior_interval : tuple of float
        Interval of `unlabeled_prior` (what estimators estimate directly).
    label_frequency_interval : tuple of float
        Interval of `label_frequency` where that was given; NaN otherwise.
    least : float
        Where only an upper bound can be told from the data: the share of the population that is
        confirmed, below which no class prior can be. NaN where the interval says it all.
    """

    value: float
    low: float
    high: float
    unlabeled_prior: float = math.nan
    label_frequency: float = math.nan
    method: str = "given"
    confidence_level: float = 0.95
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    unlabeled_prior_interval: tuple[float, float] = (math.nan, math.nan)
    label_frequency_interval: tuple[float, float] = (math.nan, math.nan)
    least: float = math.nan

    @property
    def identified_set(self) -> tuple[float, float]:
        """Class priors that fit the data, were they without end; not to be taken for the interval.

        The interval holds what sampling leaves open if some negatives are unlike all positives.
        If none are, part of what looks like positives is negatives, and everything down to the
        share already confirmed fits as well; no data of this kind can tell. For a prior that was
        given, counted or carried over from a reference the two are the same.
        """
        return (self.low if math.isnan(self.least) else min(self.least, self.low), self.high)

    @property
    def is_known(self) -> bool:
        """Whether the prior adds no uncertainty."""
        return self.low == self.high

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        low, high = self.unlabeled_prior_interval
        ends: dict[str, Any] = plain({"unlabeled_prior_low": low, "unlabeled_prior_high": high})
        names = ("label_frequency", "identified_set", "method", "confidence_level", "diagnostics")
        return (
            plain_fields(self, "value", "low", "high", "unlabeled_prior")
            | ends
            | plain_fields(self, *names)
        )

    @classmethod
    def given(
        cls,
        class_prior: float | tuple[float, float] | tuple[float, float, float] | ClassPriorEstimate,
        *,
        confidence_level: float = 0.95,
    ) -> ClassPriorEstimate:
        """Read a prior from the caller: a number, (low, high), (value, low, high), or an estimate.

        Examples
        --------
        >>> ClassPriorEstimate.given((0.01, 0.04)).low
        0.01
        >>> ClassPriorEstimate.given(1.2)
        Traceback (most recent call last):
        ...
        ValueError: class_prior must satisfy 0 < class_prior < 1, got 1.2; did you mean 0.012?
        """
        if isinstance(class_prior, ClassPriorEstimate):
            return class_prior
        if isinstance(class_prior, tuple | list):
            value, low, high = _interval(tuple(float(part) for part in class_prior))
            return cls(
                value=value,
                low=low,
                high=high,
                method="given interval",
                confidence_level=confidence_level,
            )
        if isinstance(class_prior, bool | str) or not isinstance(class_prior, Real):
            msg = (
                "class_prior must be a number, (low, high), (value, low, high) or a "
                f"ClassPriorEstimate, got {class_prior!r}"
            )
            raise TypeError(msg)
        value = float(class_prior)
        if not 0 < value < 1:
            msg = f"class_prior must satisfy 0 < class_prior < 1, got {value:g}{if_percent(value)}"
            raise ValueError(msg)
        return cls(value=value, low=value, high=value, confidence_level=confidence_level)

    def __str__(self) -> str:
        if self.is_known:
            return f"class_prior {number_text(self.value)}, {self.method}"
        return f"class_prior {with_interval(self.value, self.low, self.high)}, {self.method}"


def _interval(bounds: tuple[float, ...]) -> tuple[float, float, float]:
    """Value, low and high of a given interval, whose value may be left out."""
    if len(bounds) not in (2, 3):
        msg = (
            "class_prior must be a number, (low, high) or (value, low, high), "
            f"got {len(bounds)} numbers"
        )
        raise ValueError(msg)
    low, high = bounds[-2], bounds[-1]
    if not 0 < low < high < 1:
        msg = (
            "an interval for class_prior must satisfy 0 < low < high < 1, "
            f"got low={low:g}, high={high:g}{if_percent(*bounds)}"
        )
        raise ValueError(msg)
    if len(bounds) == 3:
        value = bounds[0]
    else:
        # The midpoint on the logit scale: symmetrical for shares near 0 and near 1.
        logit = 0.5 * (math.log(low / (1 - low)) + math.log(high / (1 - high)))
        value = 1 / (1 + math.exp(-logit))
    if not low <= value <= high:
        msg = (
            f"class_prior must lie within its interval [{low:g}, {high:g}], got {value:g}: "
            "the order is (value, low, high)"
        )
        raise ValueError(msg)
    return value, low, high
