"""How a window differs from the windows of a reference: as they differ from each other, or more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pumonitor.monitor.rules.reference.attribution import at_prior, difference_at_one_prior
from pumonitor.monitor.rules.reference.one_prior import PRIOR_FACTOR, stands_on
from pumonitor.monitor.rules.reference.uncertain import Known, Uncertain

__all__ = ["FEWEST_WINDOWS", "Compared", "ReferenceWindows", "Usual", "compared", "level_of"]

FloatArray = NDArray[np.float64]

FEWEST_WINDOWS: Final = 3
"""Two windows say next to nothing about how much windows differ."""

_LEVEL: Final = 0.95
_REACH: Final = float(special.ndtri(0.975))
_STEPS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """A metric in the windows of a reference.

    Attributes
    ----------
    value : float
        Mean of the windows' values.
    below, above : float
        Standard deviations of what windows differ by, beyond their own sampling errors, to each
        side of the mean.
    mean_error : float
        Standard error of the mean.
    windows : int
    confidence_level : float

    Notes
    -----
    The windows' spread S is known from so many windows, so its multiple is Student's with
    ``windows - 1`` degrees of freedom. A new window with a sampling error like theirs then has the
    prediction interval of a normal sample, value -/+ t S sqrt(1 + 1 / windows). Where the values
    vary less than their stated errors s, these are partly in common, as those of one followed class
    prior are, and their mean is no better known for being one of many: its variance is S^2 over the
    number of windows, and s^2 - S^2. Days that rank badly are further off than days that rank well,
    so S^2 is at least the mean square of the deviations to its own side: AUL of quiet days (50
    confirmed, 30 or 60 windows) was below the interval in 3.0 to 3.4% of them, and in 4.6% before.
    """

    value: float
    below: float
    above: float
    mean_error: float
    windows: int
    confidence_level: float = _LEVEL

    @classmethod
    def of(
        cls, values: FloatArray, errors: FloatArray, *, confidence_level: float = _LEVEL
    ) -> Usual:
        """From the windows' values and their standard errors by sampling.

        Every window counts the same: weights by stated errors follow the values, since a share
        that is low by chance states a small error, and the mean would be too low.

        Examples
        --------
        >>> usual = Usual.of(np.array([0.80, 0.84, 0.82, 0.78]), np.full(4, 0.01))
        >>> round(usual.value, 3), round(usual.below, 4), round(usual.mean_error, 4)
        (0.81, 0.0238, 0.0129)
        """
        spread, stated = float(np.var(values, ddof=1)), float(np.mean(errors**2))
        off = values - np.mean(values)
        sides = (max(spread, _mean_square_above_0(side * off)) for side in (-1, 1))
        below, above = (math.sqrt(max(side - stated, 0.0)) for side in sides)
        return cls(
            value=float(np.mean(values)),
            below=below,
            above=above,
            mean_error=math.sqrt(spread / len(values) + max(stated - spread, 0.0)),
            windows=len(values),
            confidence_level=confidence_level,
        )

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the windows' spread."""
        return self.windows - 1

    @property
    def reach(self) -> float:
        """Standard deviations from the middle to the end of an interval."""
        return float(special.stdtrit(self.freedom, 0.5 + 0.5 * self.confidence_level))

    @property
    def low(self) -> float:
        """Lower end of where a window of the reference is without its sampling error."""
        return self.value - self.reach * math.hypot(self.below, self.mean_error)

    @property
    def high(self) -> float:
        """Upper end of it."""
        return self.value + self.reach * math.hypot(self.above, self.mean_error)


def _mean_square_above_0(values: FloatArray) -> float:
    """Of those above 0, and half of those at it."""
    number = float(np.sum(values > 0) + 0.5 * np.sum(values == 0))
    return float(np.sum(np.maximum(values, 0.0) ** 2)) / number if number else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceWindows:
    """Results of one series in the windows of a reference.

    Attributes
    ----------
    windows : sequence of mapping of str to Uncertain
        By window, in order of time, the results that have a value.
    name : str
        What messages call it.
    confidence_level : float
        Of the results' intervals.
    """

    windows: Sequence[Mapping[str, Uncertain]]
    name: str = "the reference"
    confidence_level: float = _LEVEL
    _found: dict[tuple[str, str], Usual | None] = field(default_factory=dict, repr=False)

    def why_none(self, metric: str, title: str) -> str | None:
        """Why it does not tell what is usual; None where it does.

        Parameters
        ----------
        metric : str
        title : str
            What the metric is called.
        """
        known = len(self._with(metric))
        if known >= FEWEST_WINDOWS:
            return None
        if known == 0:
            return f"{self.name} has no {title} that is possible"
        several = "" if known == 1 else "s"
        return (
            f"{self.name} has {known} window{several} with {title}, and {FEWEST_WINDOWS} are "
            "needed to see how much windows differ by themselves"
        )

    def values(self, metric: str, *names: str) -> FloatArray:
        """Values of the metric, one per window that has it and all the other names."""
        known = (one for one in self._with(metric) if all(name in one for name in names))
        return np.array([one[metric].value for one in known])

    def usual(self, metric: str) -> Usual:
        """The metric in windows like these, whose sampling errors hold all that is not known.

        Raises
        ------
        ValueError
            If there is a reason why it is not known.
        """
        return self._usual(metric, at_one_prior=False)

    def at_level(self, metric: str, level: float) -> Usual | None:
        """The metric had its windows stood on a level of the class prior, each moved as it has.

        What that level may be off by makes no window differ from another. None for metrics that do
        not depend on the class prior, and where too few windows have what it depends on.
        """
        key = (metric, f"{level:.9g}")
        if key not in self._found:
            values, errors = [], []
            for one in self._with(metric) if stands_on(metric) else ():
                moved = one[PRIOR_FACTOR].value if PRIOR_FACTOR in one else 1.0
                parts: dict[str, Uncertain] = {
                    name: one[name] for name in stands_on(metric) if name in one
                }
                parts["class_prior"] = _exact(level * moved)
                if len(parts) < len(stands_on(metric)):
                    continue
                value = at_prior(metric, {name: known.value for name, known in parts.items()})
                if value is not None:
                    values.append(value)
                    errors.append(_sampling_error(metric, tuple(parts.items())))
            self._found[key] = (
                None
                if len(values) < FEWEST_WINDOWS
                else Usual.of(
                    np.array(values), np.array(errors), confidence_level=self.confidence_level
                )
            )
        return self._found[key]

    def factor(self, metric: str) -> Uncertain:
        """How many times as high as the level the class prior of these windows is; 1 in founding.

        Windows one after the other know it alike, so that its interval is that of one of them.
        """
        moved = [one[PRIOR_FACTOR] for one in self._with(metric) if PRIOR_FACTOR in one]
        if not moved:
            return _exact(1.0)
        low, value, high = (
            math.exp(float(np.mean(np.log([getattr(one, end) for one in moved]))))
            for end in ("low", "value", "high")
        )
        return Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * _REACH))

    def at_one_prior(self, metric: str, class_prior: Known) -> Usual | None:
        """The same where all windows and the one to compare stand on one prior that was given.

        What the prior may be off by makes no window differ from another. None where the windows
        have priors of their own or the metric does not depend on it.
        """
        names = stands_on(metric)
        known = self._with(metric)
        if not names or any(name not in one for one in known for name in names):
            return None
        given = (class_prior.value, class_prior.low, class_prior.high)
        priors = (one["class_prior"] for one in known)
        if any((one.value, one.low, one.high) != given for one in priors):
            return None
        return self._usual(metric, at_one_prior=True)

    def _usual(self, metric: str, *, at_one_prior: bool) -> Usual:
        key = (metric, "one prior" if at_one_prior else "")
        found = self._found.get(key)
        if found is None:
            known = self._with(metric)
            if len(known) < FEWEST_WINDOWS:
                raise ValueError(self.why_none(metric, metric))
            errors = [
                _sampling_error(metric, tuple((name, one[name]) for name in stands_on(metric)))
                if at_one_prior
                else one[metric].se
                for one in known
            ]
            values = np.array([one[metric].value for one in known])
            found = Usual.of(values, np.array(errors), confidence_level=self.confidence_level)
            self._found[key] = found
        return found

    def _with(self, metric: str) -> list[Mapping[str, Uncertain]]:
        return [one for one in self.windows if metric in one]


@lru_cache(maxsize=20_000)
def _sampling_error(metric: str, parts: tuple[tuple[str, Uncertain], ...]) -> float:
    """Of an estimate, were its class prior known; kept, since many windows ask for the same."""
    known = dict(parts)
    at_values = {name: _exact(one.value) for name, one in known.items()}
    found = difference_at_one_prior(
        metric, known, at_values | {"class_prior": known["class_prior"]}
    )
    return 0.0 if found is None else found.se


def _exact(value: float) -> Uncertain:
    return Uncertain(value=value, low=value, high=value, se=0.0)


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
    return Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * _REACH))


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
        Uncertain(value=then[1], low=then[0], high=then[2], se=(then[2] - then[0]) / (2 * _REACH)),
        Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * _REACH)),
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
            name: _exact(float(np.mean(reference.values(name, metric))))
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
