"""A window beside its reference: the change, its interval, what the class prior explains."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from pumonitor.monitor.rules.reference.attribution import at_prior, difference_at_one_prior
from pumonitor.monitor.rules.reference.one_prior import PRIOR_FACTOR, stands_on
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.rules.reference.uncertain import Known, Uncertain
from pumonitor.monitor.rules.reference.usual import REACH, exact

__all__ = ["Compared", "compared", "level_of"]

_STEPS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A window beside a reference.

    Attributes
    ----------
    usual : float
        What the reference usually has; where the class prior was followed, by this window's level.
    limit : float
        That times a factor and moved.
    change : Uncertain
        The window less the limit, with all that windows of the reference differ by: its interval is
        on one side where a window like them would not be.
    measured : Uncertain
        The same with what is not known of the two numbers alone: how far this window is from the
        limit, whatever others are.
    reach, freedom : float
        Standard deviations from the change to the ends of its interval, of Student's distribution
        with so many degrees of freedom.
    """

    usual: float
    limit: float
    change: Uncertain
    measured: Uncertain
    reach: float
    freedom: float


def level_of(now: Mapping[str, Known]) -> Uncertain | None:
    """The reference's class prior by what is known in a window; None where it was not followed.

    It is rounded to 2%, so that windows that stand on about the same one are compared with the same
    numbers. Its interval is what is left of the class prior's without that of how far it has moved.

    Parameters
    ----------
    now : mapping of str to estimates
        With "class_prior" and PRIOR_FACTOR, or none of them.
    """
    prior, moved = now.get("class_prior"), now.get(PRIOR_FACTOR)
    if prior is None or moved is None or not 0 < prior.low <= prior.value < 1:
        return None
    value = math.exp(round(_STEPS * math.log(prior.value / moved.value)) / _STEPS)

    low = value / _left(prior.value / prior.low, moved.value / moved.low)
    high = value * _left(prior.high / prior.value, moved.high / moved.value)
    return Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * REACH))


def _left(whole: float, part: float) -> float:
    """Of a factor that something is known to, without an independent part of it."""
    return math.exp(math.sqrt(max(math.log(whole) ** 2 - math.log(part) ** 2, 0.0)))


def _since(level: Known, moved: Known, before: Uncertain) -> tuple[Known, Known]:
    """The level that windows before had, and how many times as high the class prior is now."""
    value = moved.value / before.value
    low = value / _left(moved.value / moved.low, before.value / before.low)
    high = value * _left(moved.high / moved.value, before.high / before.value)
    then = [before.value * end for end in (level.low, level.value, level.high)]
    return (
        Uncertain(value=then[1], low=then[0], high=then[2], se=(then[2] - then[0]) / (2 * REACH)),
        Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * REACH)),
    )


def compared(
    metric: str,
    now: Mapping[str, Known],
    reference: ReferenceWindows,
    *,
    times: float = 1.0,
    plus: float = 0.0,
) -> Compared:
    """The window's number less ``times`` what the reference usually has, less ``plus``.

    Parameters
    ----------
    metric : str
    now : mapping of str to estimates
        The window's, with the metric and as far as there are any what it `stands_on`.
    reference : ReferenceWindows
    times, plus : float

    Raises
    ------
    ValueError
        If the reference has too few windows with the metric.

    Notes
    -----
    The variance of the change is the window's own by sampling, that of windows among each other,
    and that of the reference's mean. Ends of intervals are added in squares, each on its side, and
    those of the window are moved out from the normal's to Student's quantile for the change, since
    how much windows differ, and how far stated errors are right, was learned from a few. A class
    prior that
    was given once is the same in both, and what it may be off by moves both together.

    References
    ----------
    Zou, Donner (2008), Construction of confidence limits about effect measures, equation 4.

    Examples
    --------
    >>> def aul(value):
    ...     return {"aul": Uncertain(value=value, low=value - 0.02, high=value + 0.02, se=0.01)}
    >>> reference = ReferenceWindows(windows=[aul(v) for v in (0.80, 0.84, 0.82, 0.78, 0.81)])
    >>> found = compared("aul", aul(0.74), reference)
    >>> round(found.change.value, 3), round(found.change.low, 3), round(found.change.high, 3)
    (-0.07, -0.138, -0.002)
    """
    usual = reference.usual(metric)
    one = now[metric]
    value = one.value - times * usual.value
    below, above = one.value - one.low, one.high - one.value
    prior = now.get("class_prior")
    level: Known | None = level_of(now)
    usual_there = None
    if level is not None:
        usual_there = reference.at_level(metric, level.value)
    elif prior is not None:
        usual_there, level = reference.at_one_prior(metric, prior), prior
    moved: Known | None = now.get(PRIOR_FACTOR)
    if level is not None and moved is not None:
        # What both have moved by is of the level that they have in common.
        level, moved = _since(level, moved, reference.factor(metric))
    if level is not None and usual_there is not None:
        means: dict[str, Known] = {
            name: exact(float(np.mean(reference.values(name, metric))))
            for name in stands_on(metric)
        } | {"class_prior": level}
        found = difference_at_one_prior(metric, now, means, times=times, moved=moved)
        at_means = at_prior(metric, {name: known.value for name, known in means.items()})
        if found is not None and at_means is not None:
            usual = usual_there
            if PRIOR_FACTOR in now:
                value = found.value + times * (at_means - usual.value)
            below, above = found.value - found.low, found.high - found.value
    stretched = usual.reach / float(special.ndtri(0.5 + 0.5 * usual.confidence_level))

    # A window is low beside a reference whose own windows may be low.
    own = (abs(times) * (usual.value - usual.low), abs(times) * (usual.high - usual.value))
    to_mean = abs(times) * usual.reach * usual.mean_error

    def beside(lower: float, upper: float, *, by: float = 1.0) -> Uncertain:
        low = value - plus - math.hypot(by * below, upper)
        high = value - plus + math.hypot(by * above, lower)
        return Uncertain(
            value=value - plus, low=low, high=high, se=(high - low) / (2 * usual.reach)
        )

    return Compared(
        usual=usual.value,
        limit=times * usual.value + plus,
        change=beside(*(own if times >= 0 else own[::-1]), by=stretched),
        measured=beside(to_mean, to_mean),
        reach=usual.reach,
        freedom=usual.freedom,
    )
