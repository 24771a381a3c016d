"""The best model of a comparison by one metric, and whether it can be told from the second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pumonitor.plain_values import plain_fields
from pumonitor.results import Estimate
from pumonitor.text import number_text, with_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """The best model by one metric, and whether it can be told from the second.

    Attributes
    ----------
    metric, best : str
    second : str or None
        None when no other model has a value.
    difference : Estimate or None
        Best less second, with its paired interval.
    withheld : str or None
        Why the difference is no verdict: the labels were chosen by a model, or the values are
        impossible.
    """

    metric: str
    best: str
    second: str | None
    difference: Estimate | None
    withheld: str | None = None

    @property
    def is_clear(self) -> bool:
        """Whether the whole interval of the difference lies above 0, and nothing speaks against."""
        return self.withheld is None and self.difference is not None and self.difference.low > 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return plain_fields(self, "best", "second", "difference", "is_clear", "withheld")

    def __str__(self) -> str:
        if self.withheld is not None:
            return f"{self.metric}: no verdict, {self.withheld}"
        if self.difference is None:
            return f"{self.metric}: only {self.best} has a value"
        by = brief(self.difference)
        if self.is_clear:
            return f"{self.metric}: {self.best} is better than {self.second} by {by}"
        return (
            f"{self.metric}: {self.best} cannot be distinguished from {self.second}, "
            f"difference {by}"
        )


def brief(estimate: Estimate) -> str:
    """Value and interval in a line; what is impossible is said."""
    if estimate.undefined_reason is not None:
        return "undefined"
    value, low, high = estimate.displayed
    impossible = (
        f" (estimated {number_text(estimate.value)}: impossible)" if estimate.infeasible else ""
    )
    return f"{with_interval(value, low, high)}{impossible}"
