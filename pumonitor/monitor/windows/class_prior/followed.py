"""The class prior of each series of a window, followed from its first windows to this one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.audits import ReadAudit
from pumonitor.monitor.ledger.records.collected import PriorState, StoredSeries
from pumonitor.monitor.ledger.results.prior_states import stored_class_priors
from pumonitor.monitor.windows.auxiliary.auxiliary import AuxiliaryScores
from pumonitor.monitor.windows.class_prior.arrivals import Arrivals
from pumonitor.monitor.windows.class_prior.by_audits import MonitorAudits
from pumonitor.monitor.windows.class_prior.earlier_states import (
    EarlierStates,
    KeptStates,
    StateAt,
)
from pumonitor.monitor.windows.class_prior.known_windows import KnownWindows
from pumonitor.monitor.windows.class_prior.levels import Levels
from pumonitor.monitor.windows.evaluation.audited_windows import WindowAudits
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_from_json
from pumonitor.monitor.windows.evaluation.series_tables import counts_of
from pumonitor.ports import Pane
from pumonitor.prior.followed.followed_prior import of_level, of_window
from pumonitor.prior.followed.founding import WindowRows
from pumonitor.prior.followed.level import LevelOrigin
from pumonitor.results import ClassPriorEstimate

_MOST_UNFOUNDED: Final = 30
# Tables of all windows of so many series are in memory at once.
_SERIES_AT_ONCE: Final = 16
_SeriesKey = tuple[str, str, int]


def find_levels_together(
    monitor: Monitor, panes: Sequence[tuple[PanePriors, Sequence[StoredSeries]]]
) -> None:
    """Search at once for the levels that `PanePriors.of` needs of series without a start.

    The numbers are the same. For panes and segments of a window it takes half the time.
    """
    wanted = (
        (priors, stored) for priors, collected in panes for stored in priors.unfounded(collected)
    )
    while batch := [*islice(wanted, _SERIES_AT_ONCE)]:
        found = Levels(monitor).of_several(
            [(priors.windows_so_far(stored), stored) for priors, stored in batch]
        )
        for (priors, stored), level in zip(batch, found, strict=True):
            priors.keep_level(stored, level)


class FollowedPriors:
    """Class priors of monitors' series, from the ledger.

    Parameters
    ----------
    ledger : LedgerReader
    """

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger
        self.auxiliary = AuxiliaryScores(ledger)
        self.audits = MonitorAudits(ledger)
        self.states = KeptStates()

    def of_pane(self, monitor: Monitor, configuration: str, pane: Pane) -> PanePriors:
        """The class priors of a pane, as known at its moment."""
        return PanePriors(
            monitor=monitor,
            configuration=configuration,
            pane=pane,
            ledger=self._ledger,
            memory=self,
        )


@dataclass(kw_only=True, eq=False)
class PanePriors:
    """The class priors of the series of one pane.

    Attributes
    ----------
    monitor : Monitor
    configuration : str
    pane : Pane
    ledger : LedgerReader
    memory : FollowedPriors
    """

    monitor: Monitor
    configuration: str
    pane: Pane
    ledger: LedgerReader
    memory: FollowedPriors

    def __post_init__(self) -> None:
        self.states: list[PriorState] = []
        self._levels = Levels(self.monitor)
        self._windows = KnownWindows(
            monitor=self.monitor,
            configuration=self.configuration,
            pane=self.pane,
            ledger=self.ledger,
            auxiliary=self.memory.auxiliary,
        )
        self._earlier = EarlierStates(
            windows=self._windows,
            levels=self._levels,
            ledger=self.ledger,
            kept=self.memory.states,
        )
        self._before: dict[tuple[str, str], StateAt | None] = {}
        self._unfounded_levels: dict[_SeriesKey, LevelOrigin | None] = {}

    @property
    def arrivals(self) -> Arrivals:
        """How labels arrive, from what was known at the pane's moment."""
        return self._windows.arrivals

    def of(self, stored: StoredSeries) -> ClassPriorEstimate | None:
        """The class prior of a series of the window; None if it cannot be estimated."""
        monitor, pane = self.monitor, self.pane
        own = class_prior_from_json(stored.class_prior)
        if not monitor.is_prior_followed:
            # Propensities are chances to be confirmed in the end: what has arrived by now says
            # too little.
            early = monitor.assumed_prior == "propensity" and pane.state == "provisional"
            return None if early else own
        prior = self._of_mature(stored) if pane.state == "final" else None
        if prior is None:
            prior = self._followed_to(stored)
        return None if prior is None else self._of_window(prior, stored)

    def unfounded(self, collected: Sequence[StoredSeries]) -> Iterator[StoredSeries]:
        """Series that have no start yet: all their windows so far give their class prior."""
        if not self.monitor.is_prior_followed:
            return
        for stored in collected:
            of = stored
            if self.pane.state == "final":
                if (stored.model_version, stored.segment) in self._mature_priors:
                    continue
                of = self._mature_pane_of(stored) or stored
            if self._state_before(of) is None:
                yield of

    def windows_so_far(self, stored: StoredSeries) -> list[WindowRows]:
        """The newest windows of a series up to this one, with their rows."""
        before = self._windows.series(
            stored.segment,
            stored.model_version,
            until=self.pane.window.start,
            most=_MOST_UNFOUNDED - 1,
            newest=True,
        )
        return [*map(self._windows.rows, before), self._windows.rows(stored)]

    def keep_level(self, stored: StoredSeries, level: LevelOrigin | None) -> None:
        """Keep what was estimated from a series' windows so far."""
        self._unfounded_levels[_key_of(stored)] = level

    def audited(self, stored: StoredSeries, class_prior: ClassPriorEstimate | None) -> WindowAudits:
        """What audits say of a series of the window, whose class prior without them is this."""
        return self.memory.audits.at(
            self.monitor,
            self._audits,
            stored,
            self.pane,
            class_prior=class_prior,
            share=lambda: self.arrivals.share_known(stored.model_version, stored.segment),
            mature=lambda: self._mature_pane_of(stored),
        )

    @cached_property
    def _audits(self) -> Sequence[ReadAudit]:
        if self.monitor.reviews:
            # Of before there were reviews, which tell the positives now.
            return []
        return self.memory.audits.of(self.monitor.name, self.configuration)

    # -- this window --------------------------------------------------------------------------

    def _followed_to(self, stored: StoredSeries) -> ClassPriorEstimate | None:
        start, before = self.pane.window.start, self._state_before(stored)
        if before is None:
            return self._unfounded(stored)
        prior = self._earlier.after(before.prior, stored, self._windows.rows(stored))
        if self.pane.state == "mature":
            self._earlier.keep(stored.segment, stored.model_version, StateAt(start, prior))
            self.states.append(
                PriorState(
                    segment=stored.segment,
                    model_version=stored.model_version,
                    window_start=start,
                    known=self._windows.known(start),
                    state=prior.to_bytes(),
                )
            )
        return prior.estimate()

    def _state_before(self, stored: StoredSeries) -> StateAt | None:
        series = stored.segment, stored.model_version
        if series not in self._before:
            self._before[series] = self._earlier.before(*series, self.pane.window.start)
        return self._before[series]

    def _unfounded(self, stored: StoredSeries) -> ClassPriorEstimate | None:
        """Estimate it from all windows of the series so far."""
        key = _key_of(stored)
        if key not in self._unfounded_levels:
            self.keep_level(stored, self._levels.of(self.windows_so_far(stored), stored))
        origin = self._unfounded_levels[key]
        if origin is None:
            return None
        end = baseline_period(self.monitor).end
        if end is not None and min(self.pane.window.start, self._windows.mature_until) >= end:
            end = None
        return of_level(origin, label_purity=self._levels.purity, reference_end=end)

    def _of_mature(self, stored: StoredSeries) -> ClassPriorEstimate | None:
        """Class prior of the window's mature pane: labels that arrived later are not used."""
        series = stored.model_version, stored.segment
        if series in self._mature_priors:
            return self._mature_priors[series]
        mature = self._mature_pane_of(stored)
        prior = None if mature is None else self._followed_to(mature)
        return None if prior is None or mature is None else self._of_window(prior, mature)

    def _mature_pane_of(self, stored: StoredSeries) -> StoredSeries | None:
        """A series as it was in the window's mature pane; None if that was given up."""
        panes = self._windows.series(
            stored.segment,
            stored.model_version,
            since=self.pane.window.start,
            until=self.pane.window.end,
        )
        return panes[0] if panes and panes[0].state != "provisional" else None

    @cached_property
    def _mature_priors(self) -> dict[tuple[str, str], ClassPriorEstimate]:
        """Class priors that were stored with results."""
        with self.ledger.database.reading() as connection:
            found = stored_class_priors(
                connection,
                self.monitor.name,
                self.configuration,
                start=self.pane.window.start,
                number=self.monitor.pane_schedule.mature,
            )
        priors = {series: class_prior_from_json(one) for series, one in found.items()}
        return {series: one for series, one in priors.items() if one is not None}

    def _of_window(self, prior: ClassPriorEstimate, stored: StoredSeries) -> ClassPriorEstimate:
        confirmed, rows = counts_of(stored)
        details = prior.diagnostics["over_time"]
        return of_window(
            prior,
            class_prior_from_json(stored.class_prior),
            confirmed_share=self._levels.purity * confirmed / rows if rows else 0.0,
            index_reason=details.get("index_reason")
            if stored.state == "final"
            else self._windows.why_not_by_auxiliary(stored),
        )


def _key_of(stored: StoredSeries) -> _SeriesKey:
    return stored.segment, stored.model_version, stored.number
