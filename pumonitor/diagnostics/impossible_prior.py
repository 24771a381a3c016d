"""A class prior that cannot be right, and the estimates that are evidence of nothing with it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Protocol

from pumonitor.diagnostics.infeasible import more_than_chance
from pumonitor.names import UNCORRECTED_OF, title
from pumonitor.results import Estimate
from pumonitor.text import interval_text, number_text

CAUSE: Final = (
    "the class prior is wrong, or the confirmed positives are not a fair sample of the positives"
)

COMPUTED_FROM: Final = "computed from "
"""Begins the reason of an estimate that is possible, but made of impossible rates."""

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


_OF_THE_RATES: Final = ("precision", "recall", "specificity")
"""Shares that show that the rates at a threshold are impossible; what people know best first."""

_AT_THRESHOLD: Final = (
    *_OF_THE_RATES,
    "f1",
    "f_beta",
    "mcc",
    "accuracy",
    "balanced_accuracy",
    "ll_score",
)
_MAXIMUM: Final = "_max"


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
    return {name: why for name in estimates if stands_on_prior(name, pure=pure)}


def resting_estimates(estimates: Mapping[str, Estimate], *, pure: bool) -> dict[str, str]:
    """Why estimates say less than they seem to: by name those made of impossible rates.

    A precision that came out at 2.3 by chance means that more positives are caught than cases
    flagged. It is shown as 1; F1, MCC and accuracy at this threshold are computed from the same
    rates and are not held to anything. The best of them over thresholds are: there recall is held
    to what is possible, so that MCC can come out above the best MCC.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        All of one evaluation.
    pure : bool
        Whether every confirmed positive is one (a label purity of 1).

    Returns
    -------
    dict of str to str
        Without the estimates that are impossible themselves, which say so.
    """
    said = impossible_at_threshold(estimates)
    if said is None:
        return {}
    found = {}
    for name in estimates:
        if not stands_on_prior(name, pure=pure) or estimates[name].infeasible:
            continue
        best, is_maximum, _ = name.partition(_MAXIMUM)
        if name in _AT_THRESHOLD:
            found[name] = f"{COMPUTED_FROM}the same rates as an impossible number: {said}"
        elif is_maximum:
            found[name] = (
                f"{COMPUTED_FROM}rates held to what is possible, unlike {title(best)} at the "
                f"threshold: {said}"
            )
    return found


def impossible_at_threshold(estimates: Mapping[str, Estimate]) -> str | None:
    """What shows that the rates at the threshold are impossible; None if they can be."""
    shares = (estimates.get(name) for name in _OF_THE_RATES)
    worst = next((one for one in shares if one is not None and one.infeasible), None)
    return None if worst is None else came_out_impossible(worst.name, worst, worst.value)


def why_impossible(name: str, number: _WithInterval, came_out: float, *, by_chance: bool) -> str:
    """Why a number came out outside what its metric can be.

    Parameters
    ----------
    name : str
    number : object with low and high
        Its interval.
    came_out : float
    by_chance : bool
        Whether chance can explain it.
    """
    chance = "by chance, or " if by_chance else ""
    return f"{came_out_impossible(name, number, came_out)}: {chance}{CAUSE}"


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
    assumed = "" if prior is None else f" of {number_text(prior.value)}"
    reason = came_out_impossible(worst.name, worst, worst.value)
    return f"with the class prior{assumed} {reason}: {CAUSE}"


def came_out_impossible(name: str, number: _WithInterval, came_out: float) -> str:
    """What a number came out at, with its interval where it has one."""
    ends = ""
    if math.isfinite(number.low) and math.isfinite(number.high):
        ends = f" ({interval_text(number.low, number.high)})"
    return f"{title(name)} came out at {number_text(came_out)}{ends}, which is impossible"


def stands_on_prior(name: str, *, pure: bool) -> bool:
    """Whether an estimate is a function of the class prior."""
    uncorrected = name == "predicted_positive_rate" or name in UNCORRECTED_OF.values()
    return not uncorrected and (not pure or name not in _WITHOUT_PRIOR)
