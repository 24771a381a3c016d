"""Result rows that compare a window with its reference: changes and their parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.monitor.ledger.records.results import MetricResult
from pumonitor.monitor.rules.reference.attribution import (
    attribute_aul,
    attribute_f1,
)
from pumonitor.monitor.rules.reference.compared import compared, level_of
from pumonitor.monitor.rules.reference.one_prior import PRIOR_FACTOR
from pumonitor.monitor.rules.reference.reference_windows import ReferenceWindows
from pumonitor.monitor.rules.reference.uncertain import Known, Uncertain
from pumonitor.monitor.windows.evaluation.result_rows import result_row
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable
from pumonitor.results import Estimate

CHANGING: Final = ("aul", "auc", "average_precision", "f1", "precision", "recall", "class_prior")
"""Estimates whose change against the reference is a result of its own."""

COMPARED: Final = (*CHANGING, "predicted_positive_rate")
"""Estimates of the reference's windows from which these changes and their parts are computed."""

ASSUMED: Final = "the class prior is assumed in the configuration and not estimated"
"""Why there is no change of a class prior, and none that comes from it."""

_ATTRIBUTED: Final = {
    "aul": (attribute_aul, ("aul", "class_prior")),
    "f1": (attribute_f1, ("class_prior", "recall", "predicted_positive_rate")),
}
_PARTS: Final = ("prior", "ranking")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A series of a window beside the same series of the reference.

    Attributes
    ----------
    series : SeriesTable
    estimates : mapping of str to Estimate
        Of the window.
    reason : str or None
        Why there are no estimates.
    reference : ReferenceWindows
    doubts : mapping of str to str
        By estimate, why it must not be used as evidence.
    assumed : bool
        Whether the class prior was assumed and not estimated.
    seed : int
        Seed of the random draws behind intervals.
    factor : estimate, optional
        Ratio of a followed class prior to that of the reference; of an audited one to 1.
    audited : bool
        Whether the class prior is an audited one.
    """

    series: SeriesTable
    estimates: Mapping[str, Estimate]
    reason: str | None
    reference: ReferenceWindows
    doubts: Mapping[str, str]
    assumed: bool
    seed: int
    factor: Known | None = None
    audited: bool = False

    def rows(self) -> Iterator[MetricResult]:
        """One row for each change and each of its parts."""
        for name in CHANGING:
            why = ASSUMED if self.assumed and name == "class_prior" else self._missing([name])
            yield result_row(
                self.series,
                f"{name}_change",
                self._change(name) if why is None else None,
                why,
                doubt=self._doubt(name) if why is None else None,
            )
        for name in _ATTRIBUTED:
            yield from self._parts_of(name)

    def _parts_of(self, name: str) -> Iterator[MetricResult]:
        attribute, needed = _ATTRIBUTED[name]
        why = self._missing([name, *needed])
        parts: Mapping[str, Uncertain] = {}
        if why is None:
            parts = attribute(
                self.estimates if self.audited else self._now,
                {part: self._before(part) for part in needed},
                each={part: self._each(part, name, *needed) for part in needed},
                confidence_level=self.reference.confidence_level,
                rng=self.seed,
            )
        for part in _PARTS:
            # An assumed class prior is constant and causes no change.
            measured = not (self.assumed and part == "prior")
            yield result_row(
                self.series,
                f"{name}_change_{part}",
                parts.get(part) if measured else None,
                why if measured else ASSUMED,
                doubt=self.doubts.get("class_prior"),
            )

    def _missing(self, names: Iterable[str]) -> str | None:
        """Reason why no comparison is possible."""
        for name in names:
            one = self.estimates.get(name)
            if one is None:
                return self.reason
            if one.undefined_reason is not None:
                return one.undefined_reason
            if one.interval_infeasible:
                return self._doubt(name)
            why = self.reference.why_none(name, name)
            if why is not None:
                return why
        return None

    def _before(self, name: str) -> Known:
        """Usual value in the reference; a common class prior as it is known now."""
        now = self.estimates[name]
        if name == "class_prior" and self._level is not None:
            return self._level
        if name == "class_prior" and self.reference.at_one_prior(name, now) is not None:
            return now
        return self.reference.usual(name)

    def _each(self, part: str, *names: str) -> NDArray[np.float64]:
        values = self.reference.values(part, *names)
        if part == "class_prior" and self._level is not None:
            return np.full(len(values), self._level.value)
        return values

    @property
    def _now(self) -> Mapping[str, Known]:
        return (
            self.estimates if self.factor is None else {**self.estimates, PRIOR_FACTOR: self.factor}
        )

    @property
    def _level(self) -> Uncertain | None:
        return None if self.audited else level_of(self._now)

    def _doubt(self, name: str) -> str | None:
        one = self.estimates[name]
        itself = result_row(self.series, name, one, None, limits=one.range).infeasible_reason
        return itself or self.doubts.get(name)

    def _change(self, name: str) -> Uncertain:
        """Change of the displayed value, with the interval as estimated."""
        beside = compared(name, self._now, self.reference)
        now, change = self.estimates[name], beside.change
        least, most = now.range
        shown, then = np.clip([now.value, beside.usual], least, most)
        value = float(shown - then)
        return Uncertain(
            value=value,
            low=min(max(change.low, least - most), value),
            high=max(min(change.high, most - least), value),
            se=change.se,
        )
