"""State of a followed class prior after the windows before one: kept, stored, or from its start."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.collected import PriorState, StoredSeries
from pumonitor.monitor.ledger.results.prior_states import (
    newest_prior_state,
    prior_states_at,
    series_with_states,
)
from pumonitor.monitor.windows.class_prior.known_windows import KnownWindows, rows_without_table
from pumonitor.monitor.windows.class_prior.levels import Levels
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.prior.followed.followed_prior import FollowedPrior
from pumonitor.prior.followed.founding import Index, WindowRows, founding_windows

_KEPT: Final = 600
_Place = tuple[str, str, str, str]


class KeptStates:
    """States of monitors' series in memory, so that nothing begins again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[_Place, datetime], tuple[str, FollowedPrior]] = OrderedDict()

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
class StateAt:
    """A series' state after a window.

    Attributes
    ----------
    start : datetime
        Of the window.
    prior : FollowedPrior
    """

    start: datetime
    prior: FollowedPrior


@dataclass(kw_only=True, eq=False)
class EarlierStates:
    """States of a monitor's series after earlier windows, as known at the moment of a pane.

    Attributes
    ----------
    windows : KnownWindows
    levels : Levels
    ledger : LedgerReader
    kept : KeptStates
    """

    windows: KnownWindows
    levels: Levels
    ledger: LedgerReader
    kept: KeptStates

    def __post_init__(self) -> None:
        self.monitor, self.pane = self.windows.monitor, self.windows.pane
        self.configuration = self.windows.configuration

    def before(self, segment: str, model_version: str, until: datetime) -> StateAt | None:
        """State after the last window of a version that starts earlier; None before its start."""
        ahead: list[tuple[str, datetime]] = []
        wanted: tuple[str, datetime] | None = (model_version, until)
        found = None
        while wanted is not None:
            ahead.append(wanted)
            found = self._kept_state(segment, *wanted) or self._founded(segment, *wanted)
            wanted = None if found is not None else self.windows.predecessor(segment, wanted[0])
        if found is None:
            return None
        before, end = ahead.pop()
        found = self._advanced(found, segment, before, end)
        for version, end in reversed(ahead):
            # None of its scores is known: what is known of another version goes on.
            found = StateAt(found.start, found.prior.on_another_scale(before))
            before = version
            found = self._advanced(found, segment, version, end)
        return found

    def _advanced(
        self, found: StateAt, segment: str, model_version: str, until: datetime
    ) -> StateAt:
        """State after all windows of a version that start earlier."""
        since = self.monitor.windows.containing(found.start).end
        if since >= until:
            return found
        for stored in self.windows.series(segment, model_version, since=since, until=until):
            if stored.state == "provisional" and self.pane.state != "provisional":
                continue  # its mature pane was given up
            found = StateAt(
                stored.window.start, self.after(found.prior, stored, self.windows.rows(stored))
            )
            if stored.state != "provisional":
                self.keep(segment, model_version, found)
        return found

    def _kept_state(self, segment: str, model_version: str, until: datetime) -> StateAt | None:
        """Newest kept state of windows that are mature by now, if it is still valid."""
        place, before = self._place(segment, model_version), min(until, self.windows.mature_until)
        for start in self.kept.newest(place, before):
            known, prior = self.kept.state(place, start)
            if known == self.windows.known(start):
                return StateAt(start, prior)
        kept = self._kept_just_before.get((segment, model_version))
        if kept is None and (segment, model_version) not in self._with_states:
            return None
        if kept is None or kept.window_start >= before:
            with self.ledger.database.reading() as connection:
                kept = newest_prior_state(
                    connection,
                    self.windows.asked(segment),
                    model_version=model_version,
                    before=before,
                )
        if kept is None or kept.known != self.windows.known(kept.window_start):
            return None
        return StateAt(kept.window_start, FollowedPrior.from_bytes(kept.state))

    @cached_property
    def _with_states(self) -> set[tuple[str, str]]:
        """Series of which any state was stored: small segments have none for months."""
        with self.ledger.database.reading() as connection:
            return series_with_states(connection, self.monitor.name, self.configuration)

    @cached_property
    def _kept_just_before(self) -> dict[tuple[str, str], PriorState]:
        """States of the last earlier window that is mature by now, from one query."""
        grid = self.monitor.windows
        last = grid.containing(min(self.pane.window.start, self.windows.mature_until))
        with self.ledger.database.reading() as connection:
            found = prior_states_at(
                connection, self.monitor.name, self.configuration, grid.previous(last).start
            )
        return {(one.segment, one.model_version): one for one in found}

    def _founded(self, segment: str, model_version: str, until: datetime) -> StateAt | None:
        """Start from windows in the reference, or the first windows if no version was before."""
        period, since, at_least = baseline_period(self.monitor), None, 0
        if period.end is not None:
            end = min(period.end, until)
            inside = self.windows.series(segment, model_version, since=period.start, until=end)
            if inside:
                if until < period.end or self.windows.mature_until < period.end:
                    return None
                since = period.start
                at_least = sum(one.state != "provisional" for one in inside)
        if since is None and self.windows.predecessor(segment, model_version) is not None:
            return None
        windows = self.windows.mature_series(segment, model_version, since=since, until=until)
        number = founding_windows([*map(rows_without_table, windows)], at_least=at_least)
        if number is None:
            return None
        rows = [*map(self.windows.rows, windows[:number])]
        index = self._index_of(rows, windows[number - 1])
        origin = self.levels.of(rows, windows[0], index=index)
        if origin is None:
            return None
        prior = FollowedPrior.founded(rows, origin, label_purity=self.levels.purity, index=index)
        found = StateAt(windows[number - 1].window.start, prior)
        self.keep(segment, model_version, found)
        return found

    def _index_of(self, rows: Sequence[WindowRows], last: StoredSeries) -> Index:
        """Score from which a series starts: the auxiliary score needs enough windows."""
        if self.windows.index_at(last) == "score":
            return "score"
        seen = [one for one in rows if one.auxiliary is not None or one.table is None]
        return "auxiliary" if len(seen) == len(rows) else "score"

    def after(self, prior: FollowedPrior, stored: StoredSeries, rows: WindowRows) -> FollowedPrior:
        """State after one more window, with a given class prior or a new scale of scores."""
        prior = prior.after(rows)
        if prior.summariser is None and stored.state != "provisional":
            before = self.windows.mature_series(
                stored.segment, stored.model_version, until=stored.window.start
            )
            own = [*before, stored]
            if founding_windows([*map(rows_without_table, own)]) is not None:
                prior = prior.founded_again([*map(self.windows.rows, own)])
        elif prior.index == "score" and stored.state != "provisional":
            prior = self._by_auxiliary(prior, stored, rows)
        given = self.levels.given_of(stored)
        if given is not None and prior.told["source"] != "given":
            estimate, start, end = given
            if stored.window.end >= end:
                prior = prior.told_of(estimate, start=start, end=end)
        return prior

    def _by_auxiliary(
        self, prior: FollowedPrior, stored: StoredSeries, rows: WindowRows
    ) -> FollowedPrior:
        """From an auxiliary score that was trained since: on windows that it has seen."""
        if self.windows.index_at(stored) == "score" or rows.auxiliary is None:
            return prior
        before = self.windows.mature_series(
            stored.segment, stored.model_version, until=stored.window.start
        )
        own = [*map(self.windows.rows, before), rows]
        seen = [one for one in own if one.auxiliary is not None]
        if founding_windows(seen) is None:
            return prior
        return prior.founded_again(seen, index="auxiliary")

    def keep(self, segment: str, model_version: str, found: StateAt) -> None:
        """Keep a series' state in memory."""
        place = self._place(segment, model_version)
        self.kept.keep(place, found.start, self.windows.known(found.start), found.prior)

    def _place(self, segment: str, model_version: str) -> _Place:
        return self.monitor.name, self.configuration, segment, model_version
