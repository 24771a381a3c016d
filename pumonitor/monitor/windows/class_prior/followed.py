"""The class prior of each series of a window, followed from its first windows to this one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.audits import ReadAudit
from pumonitor.monitor.ledger.records.collected import PriorState, StoredSeries
from pumonitor.monitor.ledger.results.prior_states import (
    newest_prior_state,
    prior_states_at,
    series_with_states,
    stored_class_priors,
)
from pumonitor.monitor.windows.auxiliary.auxiliary import AuxiliaryScores
from pumonitor.monitor.windows.class_prior.arrivals import Arrivals
from pumonitor.monitor.windows.class_prior.by_audits import MonitorAudits
from pumonitor.monitor.windows.class_prior.known_windows import KnownWindows, rows_without_table
from pumonitor.monitor.windows.class_prior.levels import Levels
from pumonitor.monitor.windows.evaluation.audited_windows import WindowAudits
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_from_json
from pumonitor.monitor.windows.evaluation.series_tables import counts_of
from pumonitor.ports import Pane
from pumonitor.prior.followed.followed_prior import FollowedPrior, of_level, of_window
from pumonitor.prior.followed.founding import Index, WindowRows, founding_windows
from pumonitor.results import ClassPriorEstimate

__all__ = ["FollowedPriors", "PanePriors"]

_KEPT: Final = 600
_MOST_UNFOUNDED: Final = 30
_Place = tuple[str, str, str, str]


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
        self._kept: OrderedDict[tuple[_Place, datetime], tuple[str, FollowedPrior]] = OrderedDict()

    def of_pane(self, monitor: Monitor, configuration: str, pane: Pane) -> PanePriors:
        """The class priors of a pane, as known at its moment."""
        return PanePriors(
            monitor=monitor,
            configuration=configuration,
            pane=pane,
            ledger=self._ledger,
            memory=self,
        )

    # -- what was followed before, so that nothing begins again -------------------------------

    def keep(self, place: _Place, start: datetime, known: str, found: FollowedPrior) -> None:
        """Keep a series' state after the window with this start."""
        self._kept[place, start] = known, found
        self._kept.move_to_end((place, start))
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def newest(self, place: _Place, before: datetime) -> list[datetime]:
        """Starts of the windows whose states are kept, the newest first."""
        return sorted(
            (start for where, start in self._kept if where == place and start < before),
            reverse=True,
        )

    def state(self, place: _Place, start: datetime) -> tuple[str, FollowedPrior]:
        """A kept state, and which results were known for it."""
        return self._kept[place, start]


@dataclass(frozen=True, slots=True)
class _At:
    """A series' state after a window."""

    start: datetime
    prior: FollowedPrior


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

    def audited(self, stored: StoredSeries) -> WindowAudits:
        """What audits say of a series of the window."""
        return self.memory.audits.at(
            self.monitor,
            self._audits,
            stored,
            self.pane,
            share=lambda: self.arrivals.share_known(stored.model_version, stored.segment),
            mature=lambda: self._mature_pane_of(stored),
        )

    @cached_property
    def _audits(self) -> Sequence[ReadAudit]:
        return self.memory.audits.of(self.monitor.name, self.configuration)

    # -- this window --------------------------------------------------------------------------

    def _followed_to(self, stored: StoredSeries) -> ClassPriorEstimate | None:
        start, rows = self.pane.window.start, self._windows.rows(stored)
        before = self._before(stored.segment, stored.model_version, start)
        if before is None:
            return self._unfounded(stored, rows)
        prior = self._after(before.prior, stored, rows)
        if self.pane.state == "mature":
            self._keep(stored.segment, stored.model_version, _At(start, prior))
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

    def _unfounded(self, stored: StoredSeries, rows: WindowRows) -> ClassPriorEstimate | None:
        """Estimate it from all windows of the series so far."""
        before = self._windows.series(
            stored.segment,
            stored.model_version,
            until=self.pane.window.start,
            most=_MOST_UNFOUNDED - 1,
            newest=True,
        )
        origin = self._levels.of([*map(self._windows.rows, before), rows], stored)
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

    # -- the windows before it ----------------------------------------------------------------

    def _before(self, segment: str, model_version: str, until: datetime) -> _At | None:
        """State after the last window of a version that starts earlier; None before its start."""
        ahead: list[tuple[str, datetime]] = []
        wanted: tuple[str, datetime] | None = (model_version, until)
        found = None
        while wanted is not None:
            ahead.append(wanted)
            found = self._kept_state(segment, *wanted) or self._founded(segment, *wanted)
            wanted = None if found is not None else self._windows.predecessor(segment, wanted[0])
        if found is None:
            return None
        before, end = ahead.pop()
        found = self._advanced(found, segment, before, end)
        for version, end in reversed(ahead):
            # None of its scores is known: what is known of another version goes on.
            found = _At(found.start, found.prior.on_another_scale(before))
            before = version
            found = self._advanced(found, segment, version, end)
        return found

    def _advanced(self, found: _At, segment: str, model_version: str, until: datetime) -> _At:
        """State after all windows of a version that start earlier."""
        since = self.monitor.windows.containing(found.start).end
        if since >= until:
            return found
        for stored in self._windows.series(segment, model_version, since=since, until=until):
            if stored.state == "provisional" and self.pane.state != "provisional":
                continue  # its mature pane was given up
            found = _At(
                stored.window.start, self._after(found.prior, stored, self._windows.rows(stored))
            )
            if stored.state != "provisional":
                self._keep(segment, model_version, found)
        return found

    def _kept_state(self, segment: str, model_version: str, until: datetime) -> _At | None:
        """Newest kept state of windows that are mature by now, if it is still valid."""
        place, before = self._place(segment, model_version), min(until, self._windows.mature_until)
        for start in self.memory.newest(place, before):
            known, prior = self.memory.state(place, start)
            if known == self._windows.known(start):
                return _At(start, prior)
        kept = self._kept_just_before.get((segment, model_version))
        if kept is None and (segment, model_version) not in self._with_states:
            return None
        if kept is None or kept.window_start >= before:
            with self.ledger.database.reading() as connection:
                kept = newest_prior_state(
                    connection,
                    self._windows.asked(segment),
                    model_version=model_version,
                    before=before,
                )
        if kept is None or kept.known != self._windows.known(kept.window_start):
            return None
        return _At(kept.window_start, FollowedPrior.from_bytes(kept.state))

    @cached_property
    def _with_states(self) -> set[tuple[str, str]]:
        """Series of which any state was stored: small segments have none for months."""
        with self.ledger.database.reading() as connection:
            return series_with_states(connection, self.monitor.name, self.configuration)

    @cached_property
    def _kept_just_before(self) -> dict[tuple[str, str], PriorState]:
        """States of the last earlier window that is mature by now, from one query."""
        grid = self.monitor.windows
        last = grid.containing(min(self.pane.window.start, self._windows.mature_until))
        with self.ledger.database.reading() as connection:
            found = prior_states_at(
                connection, self.monitor.name, self.configuration, grid.previous(last).start
            )
        return {(one.segment, one.model_version): one for one in found}

    def _founded(self, segment: str, model_version: str, until: datetime) -> _At | None:
        """Start from windows in the reference, or the first windows if no version was before."""
        period, since, at_least = baseline_period(self.monitor), None, 0
        if period.end is not None:
            end = min(period.end, until)
            inside = self._windows.series(segment, model_version, since=period.start, until=end)
            if inside:
                if until < period.end or self._windows.mature_until < period.end:
                    return None
                since = period.start
                at_least = sum(one.state != "provisional" for one in inside)
        if since is None and self._windows.predecessor(segment, model_version) is not None:
            return None
        windows = self._windows.mature_series(segment, model_version, since=since, until=until)
        number = founding_windows([*map(rows_without_table, windows)], at_least=at_least)
        if number is None:
            return None
        rows = [*map(self._windows.rows, windows[:number])]
        index = self._index_of(rows, windows[number - 1])
        origin = self._levels.of(rows, windows[0], index=index)
        if origin is None:
            return None
        prior = FollowedPrior.founded(rows, origin, label_purity=self._levels.purity, index=index)
        found = _At(windows[number - 1].window.start, prior)
        self._keep(segment, model_version, found)
        return found

    def _index_of(self, rows: Sequence[WindowRows], last: StoredSeries) -> Index:
        """Score from which a series starts: the auxiliary score needs enough windows."""
        if self._windows.index_at(last) == "score":
            return "score"
        seen = [one for one in rows if one.auxiliary is not None or one.table is None]
        return "auxiliary" if len(seen) == len(rows) else "score"

    def _after(self, prior: FollowedPrior, stored: StoredSeries, rows: WindowRows) -> FollowedPrior:
        """State after one more window, with a given class prior or a new scale of scores."""
        prior = prior.after(rows)
        if prior.summariser is None and stored.state != "provisional":
            before = self._windows.mature_series(
                stored.segment, stored.model_version, until=stored.window.start
            )
            own = [*before, stored]
            if founding_windows([*map(rows_without_table, own)]) is not None:
                prior = prior.founded_again([*map(self._windows.rows, own)])
        elif prior.index == "score" and stored.state != "provisional":
            prior = self._by_auxiliary(prior, stored, rows)
        given = self._levels.given_of(stored)
        if given is not None and prior.told["source"] != "given":
            estimate, start, end = given
            if stored.window.end >= end:
                prior = prior.told_of(estimate, start=start, end=end)
        return prior

    def _by_auxiliary(
        self, prior: FollowedPrior, stored: StoredSeries, rows: WindowRows
    ) -> FollowedPrior:
        """From an auxiliary score that was trained since: on windows that it has seen."""
        if self._windows.index_at(stored) == "score" or rows.auxiliary is None:
            return prior
        before = self._windows.mature_series(
            stored.segment, stored.model_version, until=stored.window.start
        )
        own = [*map(self._windows.rows, before), rows]
        seen = [one for one in own if one.auxiliary is not None]
        if founding_windows(seen) is None:
            return prior
        return prior.founded_again(seen, index="auxiliary")

    def _keep(self, segment: str, model_version: str, found: _At) -> None:
        place = self._place(segment, model_version)
        self.memory.keep(place, found.start, self._windows.known(found.start), found.prior)

    def _place(self, segment: str, model_version: str) -> _Place:
        return self.monitor.name, self.configuration, segment, model_version
