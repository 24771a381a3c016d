"""Whether an estimate outside its range is more than chance explains."""

from __future__ import annotations

from pumonitor.results import Estimate

__all__ = ["surely_impossible"]


def surely_impossible(estimate: Estimate) -> bool:
    """Whether the value and the whole interval lie outside what the estimate can be.

    Such an estimate says nothing of the model: an assumption is wrong.
    """
    low, high = estimate.range
    return estimate.infeasible and (estimate.low > high or estimate.high < low)
