"""An estimate at other class priors, as a result that can be drawn, written and printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pumonitor.plain_values import plain_fields
from pumonitor.results.class_prior import ClassPriorEstimate
from pumonitor.results.estimate import Estimate
from pumonitor.results.plain import frame_of
from pumonitor.text import interval_text, number_text

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Sensitivity:
    """An estimate at other class priors, each taken as known.

    Two things are unknown about a prior estimated from scores. Its interval is what sampling
    leaves open. Beyond that it is, where labels are fair, an upper bound unless some negatives are
    unlike all positives, which no data of this kind show: `identified_set` is what fits the data
    either way.

    Attributes
    ----------
    name : str
        The metric, for example ``"f1"``.
    priors : ndarray of shape (priors,)
        Class priors, ascending.
    estimates : tuple of Estimate
        The estimate at each prior; its interval is from sampling alone.
    class_prior : ClassPriorEstimate
        The evaluation's own, to be marked.
    possible : tuple of float
        Share of the population already confirmed (0 in case-control), and the highest prior that
        the scores allow with 99.9% confidence: priors beyond either are not `feasible`.
    identified_set : tuple of float
        From the share confirmed to the upper end of an estimated prior's interval; to
        `possible`'s for a prior that was given, as the data say no more; the interval itself for a
        prior that was not told from these scores alone.

    Examples
    --------
    >>> import pumonitor
    >>> table = pumonitor.ScoreTable.from_counts([2, 10, 28], [700, 250, 50],
    ...                                          edges=[0.0, 0.2, 0.8, 1.0])
    >>> ev = pumonitor.evaluate_table(table, threshold=0.8, class_prior=0.06)
    >>> print(ev.sensitivity("precision", class_priors=[0.05, 0.06, 0.07]))
    precision 0.467 to 0.653 for a class prior from 0.0500 to 0.0700; 0.560 at 0.0600
    """

    name: str
    priors: NDArray[np.float64]
    estimates: tuple[Estimate, ...]
    class_prior: ClassPriorEstimate
    possible: tuple[float, float]
    identified_set: tuple[float, float]

    @property
    def value(self) -> NDArray[np.float64]:
        """Value at each prior; NaN when undefined."""
        return np.array([estimate.value for estimate in self.estimates])

    @property
    def low(self) -> NDArray[np.float64]:
        """Lower end at each prior, from sampling alone."""
        return np.array([estimate.low for estimate in self.estimates])

    @property
    def high(self) -> NDArray[np.float64]:
        """Upper end at each prior, from sampling alone."""
        return np.array([estimate.high for estimate in self.estimates])

    @property
    def displayed(self) -> NDArray[np.float64]:
        """Value, low and high clipped to the metric's range, shape (3, priors)."""
        return np.array([estimate.displayed for estimate in self.estimates]).T

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Whether each prior is possible: confirmed positives and scores do not exclude it."""
        low, high = self.possible
        return (self.priors >= low - 1e-12) & (self.priors <= high + 1e-12)

    @property
    def undefined_reason(self) -> str | None:
        """Why there is no value at any prior, in words."""
        reasons = [estimate.undefined_reason for estimate in self.estimates]
        return None if None in reasons else reasons[0]

    def value_at(self, class_prior: float) -> float:
        """Value at one prior, linear between the nearest two; NaN when undefined."""
        known = np.isfinite(self.value)
        if not known.any():
            return math.nan
        return float(np.interp(class_prior, self.priors[known], self.value[known]))

    def to_frame(self) -> pandas.DataFrame:
        """One row per prior, as a pandas data frame indexed by class prior."""
        columns = {
            "class_prior": self.priors,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "feasible": self.feasible,
        }
        return frame_of(columns, index="class_prior")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; a value that does not exist is None, never NaN."""
        names = ("name", "class_prior", "priors", "value", "low", "high", "feasible", "possible")
        level = {"confidence_level": self.estimates[0].confidence_level}
        return (
            plain_fields(self, *names, "identified_set")
            | level
            | plain_fields(self, "undefined_reason")
        )

    def __repr__(self) -> str:
        return f"<Sensitivity of {self.name} at {len(self.priors)} class priors; print it>"

    def __str__(self) -> str:
        if self.undefined_reason is not None:
            return f"{self.name} undefined: {self.undefined_reason}"
        lowest, highest = np.nanmin(self.value), np.nanmax(self.value)
        prior = self.class_prior.value
        return (
            f"{self.name} {interval_text(lowest, highest)} for a class prior from "
            f"{interval_text(self.priors[0], self.priors[-1])}; "
            f"{number_text(self.value_at(prior))} at {number_text(prior)}"
        )
