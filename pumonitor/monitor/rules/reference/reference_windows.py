"""Results in the windows of a reference, and the usual level and variation of each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from pumonitor._arrays import FloatArray
from pumonitor.monitor.rules.reference.attribution import at_prior, difference_at_one_prior
from pumonitor.monitor.rules.reference.one_prior import PRIOR_FACTOR, stands_on
from pumonitor.monitor.rules.reference.uncertain import Known, Uncertain
from pumonitor.monitor.rules.reference.usual import LEVEL, REACH, Usual, exact

FEWEST_WINDOWS: Final = 3
"""Two windows are too few to estimate the variation between windows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceWindows:
    """Results of one series in the windows of a reference.

    Attributes
    ----------
    windows : sequence of mapping of str to Uncertain
        Per window, in order of time: result name to value, for defined results.
    name : str
        How messages refer to the reference.
    confidence_level : float
        Of the results' intervals.
    """

    windows: Sequence[Mapping[str, Uncertain]]
    name: str = "the reference"
    confidence_level: float = LEVEL
    _found: dict[tuple[str, str], Usual | None] = field(default_factory=dict, repr=False)

    def why_none(self, metric: str, title: str) -> str | None:
        """Why the usual value of a metric is unknown; None if it is known.

        Parameters
        ----------
        metric : str
        title : str
            Display name of the metric.
        """
        known = len(self._with(metric))
        if known >= FEWEST_WINDOWS:
            return None
        if known == 0:
            return f"{self.name} has no possible value of {title}"
        several = "" if known == 1 else "s"
        return (
            f"{self.name} has {known} window{several} with {title}, and {FEWEST_WINDOWS} are "
            "needed to estimate how much windows vary when nothing changes"
        )

    def values(self, metric: str, *names: str) -> FloatArray:
        """Values of the metric, one per window that has it and all of `names`."""
        known = (one for one in self._with(metric) if all(name in one for name in names))
        return np.array([one[metric].value for one in known])

    def usual(self, metric: str) -> Usual:
        """Usual level and variation of a metric, with full standard errors.

        Raises
        ------
        ValueError
            If fewer than `FEWEST_WINDOWS` windows have the metric (see `why_none`).
        """
        return self._usual(metric, at_one_prior=False)

    def at_level(self, metric: str, level: float) -> Usual | None:
        """Usual level and variation of a metric, recomputed with another level of the class prior.

        The class prior of each window is `level` times the window's PRIOR_FACTOR. The error of the
        level is common to all windows and not part of the variation. None for metrics that do not
        depend on the class prior, and if too few windows have what the metric depends on.
        """
        key = (metric, f"{level:.9g}")
        if key not in self._found:
            values, errors = [], []
            for one in self._with(metric) if stands_on(metric) else ():
                moved = one[PRIOR_FACTOR].value if PRIOR_FACTOR in one else 1.0
                parts: dict[str, Uncertain] = {
                    name: one[name] for name in stands_on(metric) if name in one
                }
                parts["class_prior"] = exact(level * moved)
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
        """Mean ratio of these windows' class priors to the level; 1 if none has a PRIOR_FACTOR.

        The errors of successive windows are nearly the same, so the interval is that of one window.
        """
        moved = [one[PRIOR_FACTOR] for one in self._with(metric) if PRIOR_FACTOR in one]
        if not moved:
            return exact(1.0)
        low, value, high = (
            math.exp(float(np.mean(np.log([getattr(one, end) for one in moved]))))
            for end in ("low", "value", "high")
        )
        return Uncertain(value=value, low=low, high=high, se=(high - low) / (2 * REACH))

    def at_one_prior(self, metric: str, class_prior: Known) -> Usual | None:
        """Usual level and variation of a metric if all windows use the given class prior.

        The prior's error is common to all windows and not part of the variation. None if the
        windows have other class priors, or if the metric does not depend on it.
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
    """Standard error of an estimate if its class prior were known. Cached: asked repeatedly."""
    known = dict(parts)
    at_values = {name: exact(one.value) for name, one in known.items()}
    found = difference_at_one_prior(
        metric, known, at_values | {"class_prior": known["class_prior"]}
    )
    return 0.0 if found is None else found.se
