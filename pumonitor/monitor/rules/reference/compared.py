"""Compare a window with its reference: the change and its interval."""

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
from pumonitor.monitor.rules.reference.usual import REACH, Usual, exact

_STEPS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Result of comparing a window with a reference.

    Attributes
    ----------
    usual : float
        Mean of the metric over the reference. If the class prior is followed, the reference is
        recomputed with the level that is known at this window.
    limit : float
        `times * usual + plus`.
    change : Uncertain
        The window less the limit. Its interval is a prediction interval: it includes the usual
        variation between windows, and excludes 0 only if a usual window would rarely be there.
    measured : Uncertain
        The same change with a confidence interval: only the errors of the two numbers, without
        variation between windows.
    reach, freedom : float
        Student's quantile with which the interval of `change` is made, and degrees of freedom.
    """

    usual: float
    limit: float
    change: Uncertain
    measured: Uncertain
    reach: float
    freedom: float


def level_of(now: Mapping[str, Known]) -> Uncertain | None:
    """The reference's class prior as known at a window; None if it is not followed.

    It is rounded to 2%, so that windows with about the same level are compared with the same
    numbers. Its interval is that of the class prior, less (in squares) that of the factor since the
    reference.

    Parameters
    ----------
    now : mapping of str to estimates
        "class_prior" and PRIOR_FACTOR; either may be missing.
    """
    prior, moved = now.get("class_prior"), now.get(PRIOR_FACTOR)
    if prior is None or moved is None or not 0 < prior.low <= prior.value < 1:
        return None
    value = math.exp(round(_STEPS * math.log(prior.value / moved.value)) / _STEPS)

    low = value / _left(prior.value / prior.low, moved.value / moved.low)
    high = value * _left(prior.high / prior.value, moved.high / moved.value)
    return Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * REACH))


def _left(whole: float, part: float) -> float:
    """Uncertainty factor `whole` without its independent part, in squares of logs."""
    return math.exp(math.sqrt(max(math.log(whole) ** 2 - math.log(part) ** 2, 0.0)))


def _since(level: Known, moved: Known, before: Uncertain) -> tuple[Known, Known]:
    """Class prior of the reference windows, and the ratio of the present one to it.

    `before` is their mean ratio to the level: all ratios have the level's error in common.
    """
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
    """Compute `now - times * usual - plus` of a metric, with its intervals.

    Parameters
    ----------
    metric : str
    now : mapping of str to estimates
        The window's estimates: the metric, and those it `stands_on` as far as there are any.
    reference : ReferenceWindows
    times, plus : float

    Raises
    ------
    ValueError
        If the reference has too few windows with the metric.

    Notes
    -----
    The variance of the change has three parts: the window's sampling error, the usual variation
    between windows, and the error of the reference's mean. Distances to interval ends are added in
    squares, separately for each side. Student's quantile replaces the normal one, because the
    variation was learned from few windows. A class prior that was given once is the same in both,
    so its error moves both numbers together.

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
    there = _at_one_prior(metric, now, reference, times=times)
    if there is not None:
        usual, found, at_means = there
        if PRIOR_FACTOR in now:
            value = found.value + times * (at_means - usual.value)
        below, above = found.value - found.low, found.high - found.value
    stretched = usual.reach / float(special.ndtri(0.5 + 0.5 * usual.confidence_level))

    # Usual windows vary to both sides: a low window is compared with the low side of the usual.
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


def _at_one_prior(
    metric: str, now: Mapping[str, Known], reference: ReferenceWindows, *, times: float
) -> tuple[Usual, Uncertain, float] | None:
    """The comparison with the reference's windows computed again at the window's class prior.

    Returns what is usual there, the difference from the reference's means with its interval, and
    the metric at these means; None where the metric does not stand on the class prior.
    """
    prior = now.get("class_prior")
    level: Known | None = level_of(now)
    usual = None
    if level is not None:
        usual = reference.at_level(metric, level.value)
    elif prior is not None:
        usual, level = reference.at_one_prior(metric, prior), prior
    if level is None or usual is None:
        return None
    moved: Known | None = now.get(PRIOR_FACTOR)
    if moved is not None:
        # Both priors are ratios to one level, whose error they share.
        level, moved = _since(level, moved, reference.factor(metric))
    means: dict[str, Known] = {
        name: exact(float(np.mean(reference.values(name, metric)))) for name in stands_on(metric)
    } | {"class_prior": level}
    found = difference_at_one_prior(metric, now, means, times=times, moved=moved)
    at_means = at_prior(metric, {name: known.value for name, known in means.items()})
    if found is None or at_means is None:
        return None
    return usual, found, at_means
