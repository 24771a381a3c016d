"""Label maturity, learned from the panes of earlier windows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.collected import LabeledCount
from pumonitor.monitor.rules.labels.maturity import LabelMaturity, ShareKnown, label_maturity
from pumonitor.ports import Pane

_MATURITIES_BACK: Final = 3
"""Labels of windows longer ago say nothing of how they arrive now."""

_FEWEST_MATURE: Final = 8
_ENOUGH: Final = 200


def since_when_labels_tell(monitor: Monitor, pane: Pane) -> datetime:
    """From which start of windows on their labels say how those of a pane arrive."""
    length = pane.window.end - pane.window.start
    back = max(_MATURITIES_BACK * monitor.maturity, monitor.maturity + _FEWEST_MATURE * length)
    return pane.as_of - back - length


@dataclass(slots=True, kw_only=True)
class Arrivals:
    """Confirmed positives of earlier windows at each of their panes, as known at one moment.

    All windows have panes at the same ages. So the labels of a window at this age are compared with
    those of earlier windows at the same age, including retractions, for any length of windows.

    Attributes
    ----------
    ages : tuple of timedelta
        Of the provisional panes and the mature one.
    age : timedelta or None
        Age of the pane in question; None once it is mature.
    counts : tuple of LabeledCount
        In order of windows and panes.
    """

    ages: tuple[timedelta, ...]
    age: timedelta | None
    counts: tuple[LabeledCount, ...] = ()
    _known: dict[tuple[str | None, str], LabelMaturity] = field(default_factory=dict)
    _shares: dict[tuple[str, str, int | None], ShareKnown] = field(default_factory=dict)

    @classmethod
    def as_of(
        cls, monitor: Monitor, configuration: str, ledger: LedgerReader, pane: Pane
    ) -> Arrivals:
        """The arrivals known at a pane's moment."""
        schedule = monitor.pane_schedule
        ages = schedule.ages[: schedule.mature + 1]
        if pane.state != "provisional":
            return cls(ages=ages, age=None)
        return cls(
            ages=ages,
            age=schedule.ages[pane.number],
            counts=ledger.labeled_before(
                monitor.name,
                configuration,
                start=pane.window.start,
                since=since_when_labels_tell(monitor, pane),
                as_of=pane.as_of,
            ),
        )

    def share_known(
        self, model_version: str, segment: str, *, number: int | None = None
    ) -> ShareKnown:
        """Share of labels that have arrived, from windows of the series, else segment, else all.

        Parameters
        ----------
        model_version, segment : str
        number : int, optional
            Number of the provisional pane; by default the one at `age`.
        """
        if self.age is None:
            return ShareKnown.all_known()
        asked = model_version, segment, number
        if asked not in self._shares:
            age = self.age if number is None else self.ages[number]
            self._shares[asked] = self._share_at(age, model_version, segment)
        return self._shares[asked]

    def _share_at(self, age: timedelta, model_version: str, segment: str) -> ShareKnown:
        for version, part in ((model_version, segment), (None, segment)):
            found = self._learned(version, part)
            if found.undefined_reason is None and found.positives >= _ENOUGH:
                return found.share_known(age)
        return self._learned(None, "").share_known(age)

    def _learned(self, model_version: str | None, segment: str) -> LabelMaturity:
        key = (model_version, segment)
        if key not in self._known:
            own = [
                one
                for one in self.counts
                if one.segment == segment and model_version in (None, one.model_version)
            ]
            self._known[key] = label_maturity(_by_window(own, len(self.ages)), ages=self.ages)
        return self._known[key]


def _by_window(counts: Iterable[LabeledCount], ages: int) -> NDArray[np.float64]:
    """One row per window; NaN for panes that are not collected yet."""
    windows: dict[datetime, list[float]] = {}
    for one in counts:
        if one.number < ages:
            row = windows.setdefault(one.window.start, [math.nan] * ages)
            before = row[one.number]
            row[one.number] = one.labeled + (0.0 if math.isnan(before) else before)
    known = np.array(list(windows.values()), dtype=np.float64).reshape(len(windows), ages)
    missed = np.cumsum(np.isnan(known), axis=1) > 0
    return np.where(missed, math.nan, known)
