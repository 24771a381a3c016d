"""Bounds on a metric of the rows at hand, and curves with bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pumonitor.plain_values import plain_fields
from pumonitor.text import number_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How low and how high a metric of the rows at hand can be; not a confidence interval.

    Attributes
    ----------
    name : str
        The metric, for example ``"auc"``.
    low, high : float
        Lowest and highest value that the band and the class prior's interval allow.
    confidence_level : float
        Of the band on the ranks of the known rows, and of the class prior's interval.
    band : str
        How that band was made; `simultaneous` says whether it holds for all thresholds at once.
    basis : {"positives", "negatives"}
        The known rows whose ranks were used.
    class_prior : tuple of float
        Lowest and highest class prior; equal when it is taken as known.

    Examples
    --------
    >>> print(Bounds(name="auc", low=0.8, high=0.9, confidence_level=0.95, band="dkw",
    ...              simultaneous=True, basis="positives", class_prior=(0.1, 0.1)))
    auc between 0.800 and 0.900
    """

    name: str
    low: float
    high: float
    confidence_level: float
    band: str
    simultaneous: bool
    basis: Literal["positives", "negatives"]
    class_prior: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return plain_fields(self)

    def __str__(self) -> str:
        return f"{self.name} between {number_text(self.low)} and {number_text(self.high)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve with its band and the same curve with unlabeled rows counted as negative.

    `x` is exact by construction (a grid); `y`, `low`, `high` and `uncorrected` are as long as
    `x`. The band is pointwise, at the evaluation's confidence level.
    """

    name: str
    x_title: str
    y_title: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    uncorrected: NDArray[np.float64] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain lists; points without a value are None."""
        return plain_fields(self)
