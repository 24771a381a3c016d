"""A class prior that cannot be right, and the estimates that are evidence of nothing with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Protocol

from pumonitor.diagnostics.infeasible import more_than_chance
from pumonitor.names import UNCORRECTED_OF, title
from pumonitor.results import Estimate

__all__ = ["CAUSE", "came_out_impossible", "doubted_estimates", "impossible_prior"]

CAUSE: Final = (
    "the class prior is wrong, or the confirmed positives are not a fair sample of the positives"
)

_WITHOUT_PRIOR: Final = frozenset(
    {
        "aul",
        "recall",
        "recall_at_k",
        "lift_at_k",
        "ll_score",
        "predicted_positive_rate",
        *UNCORRECTED_OF.values(),
    }
)
"""Estimates that need no class prior as long as every confirmed positive is one."""


class _WithInterval(Protocol):
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def doubted_estimates(estimates: Mapping[str, Estimate], *, pure: bool) -> dict[str, str]:
    """Why estimates are evidence of nothing: by name those that stand on an impossible prior.

    A precision of 1.4 shows that the class prior cannot be right; F1 of .4 and the maximum of F1
    stand on the same prior, however possible they look.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        All of one evaluation.
    pure : bool
        Whether every confirmed positive is one (a label purity of 1).
    """
    why = impossible_prior(estimates)
    if why is None:
        return {}
    return {name: why for name in estimates if _stands_on_prior(name, pure=pure)}


def impossible_prior(estimates: Mapping[str, Estimate]) -> str | None:
    """Why the class prior cannot be right, by what it makes of the estimates; None if it can be.

    By more than chance: an interval at 95% leaves its metric's range in one of forty, and there
    are many metrics.
    """
    beyond = [one for one in estimates.values() if more_than_chance(one)]
    if not beyond:
        return None
    # People know best what a share of right alarms above 1 means.
    worst = next((one for one in beyond if one.name == "precision"), beyond[0])
    prior = estimates.get("class_prior")
    assumed = "" if prior is None else f" of {prior.value:.3g}"
    said = came_out_impossible(worst.name, worst, worst.came_out)
    return f"with the class prior{assumed} {said}: {CAUSE}"


def came_out_impossible(name: str, number: _WithInterval, came_out: float) -> str:
    """What a number came out at, with its interval where it has one."""
    ends = ""
    if math.isfinite(number.low) and math.isfinite(number.high):
        ends = f" ({number.low:.3g} to {number.high:.3g})"
    return f"{title(name)} came out at {came_out:.3g}{ends}, which is impossible"


def _stands_on_prior(name: str, *, pure: bool) -> bool:
    """Whether an estimate is a function of the class prior."""
    uncorrected = name == "predicted_positive_rate" or name in UNCORRECTED_OF.values()
    return not uncorrected and (not pure or name not in _WITHOUT_PRIOR)
