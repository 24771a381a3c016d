"""The class prior of each series of a window, followed from its first windows to this one."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import accumulate
from typing import Final

from pumonitor import __version__
from pumonitor.monitor.config.configuration import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.collected import PriorState, StoredSeries
from pumonitor.monitor.ledger.results.auxiliary import AuxiliaryLook
from pumonitor.monitor.ledger.results.prior_states import (
    SeriesAsked,
    first_seen,
    followed_series,
    newest_prior_state,
    prior_states_at,
    stored_class_priors,
    versions_before,
    windows_known,
)
from pumonitor.monitor.rules.labels.maturity import ShareKnown
from pumonitor.monitor.windows.auxiliary.auxiliary import AuxiliaryScores, PaneAuxiliary
from pumonitor.monitor.windows.class_prior.arrivals import Arrivals
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_from_json
from pumonitor.monitor.windows.evaluation.series_tables import counts_of
from pumonitor.monitor.windows.evaluation.window_evaluation import seed_of
from pumonitor.ports import Pane, State
from pumonitor.prior.followed.followed_prior import FollowedPrior, of_level, of_window
from pumonitor.prior.followed.founding import MOST_FOUNDING, Index, WindowRows, founding_windows
from pumonitor.prior.followed.level import LevelOrigin, estimated_level, given_level
from pumonitor.results import ClassPriorEstimate

__all__ = ["FollowedPriors", "PanePriors"]

_KEPT: Final = 600
_MOST_UNFOUNDED: Final = 30
_NOT_TRAINED: Final = "it was not trained yet"
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
        self._kept: OrderedDict[tuple[_Place, datetime], tuple[str, FollowedPrior]] = OrderedDict()

    def of_pane(self, monitor: Monitor, configuration: str, pane: Pane) -> PanePriors:
        """Those of a look at a window, as they were known at its moment."""
        return PanePriors(
            monitor=monitor,
            configuration=configuration,
            pane=pane,
            ledger=self._ledger,
            memory=self,
        )

    # -- what was followed before, so that nothing begins again -------------------------------

    def keep(self, place: _Place, start: datetime, known: str, found: FollowedPrior) -> None:
        """Remember a series' state after the window that starts then."""
        self._kept[place, start] = known, found
        self._kept.move_to_end((place, start))
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def newest(self, place: _Place, before: datetime) -> list[datetime]:
        """Starts of the windows whose states are remembered, the newest first."""
        return sorted(
            (start for where, start in self._kept if where == place and start < before),
            reverse=True,
        )

    def state(self, place: _Place, start: datetime) -> tuple[str, FollowedPrior]:
        """One of them, and what was known by then."""
        return self._kept[place, start]


@dataclass(frozen=True, slots=True)
class _At:
    """A series' state after a window."""

    start: datetime
    prior: FollowedPrior


@dataclass(kw_only=True, eq=False)
class PanePriors:
    """The class priors of the series of one look at a window.

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
        # Before any of them is read: one that is collected again in between is then seen to be.
        _ = self._windows_known

    def of(self, stored: StoredSeries) -> ClassPriorEstimate | None:
        """The class prior of a series of the window; None where nothing tells it."""
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

    # -- this window --------------------------------------------------------------------------

    def _followed_to(self, stored: StoredSeries) -> ClassPriorEstimate | None:
        start, rows = self.pane.window.start, self._rows(stored)
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
                    known=self._known(start),
                    state=prior.to_bytes(),
                )
            )
        return prior.estimate()

    def _unfounded(self, stored: StoredSeries, rows: WindowRows) -> ClassPriorEstimate | None:
        """From the windows of the series so far taken together."""
        before = self._series(
            stored.segment,
            stored.model_version,
            until=self.pane.window.start,
            most=_MOST_UNFOUNDED - 1,
            newest=True,
        )
        origin = self._level([*map(self._rows, before), rows], stored)
        if origin is None:
            return None
        end = baseline_period(self.monitor).end
        if end is not None and min(self.pane.window.start, self._mature_until) >= end:
            end = None
        return of_level(origin, label_purity=self._purity, reference_end=end)

    def _of_mature(self, stored: StoredSeries) -> ClassPriorEstimate | None:
        """That of the window's mature look: labels that came later are no part of it."""
        series = stored.model_version, stored.segment
        if series in self._mature_priors:
            return self._mature_priors[series]
        looks = self._series(
            stored.segment,
            stored.model_version,
            since=self.pane.window.start,
            until=self.pane.window.end,
        )
        if not looks or looks[0].state == "provisional":
            return None
        prior = self._followed_to(looks[0])
        return None if prior is None else self._of_window(prior, looks[0])

    @cached_property
    def _mature_priors(self) -> dict[tuple[str, str], ClassPriorEstimate]:
        """Those that were stored with results."""
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
        told = prior.diagnostics["over_time"]
        return of_window(
            prior,
            class_prior_from_json(stored.class_prior),
            confirmed_share=self._purity * confirmed / rows if rows else 0.0,
            index_reason=told.get("index_reason")
            if stored.state == "final"
            else self._why_not_by_auxiliary(stored),
        )

    # -- the windows before it ----------------------------------------------------------------

    def _before(self, segment: str, model_version: str, until: datetime) -> _At | None:
        """After the last window of a version that starts before then; None: not founded yet."""
        ahead: list[tuple[str, datetime]] = []
        wanted: tuple[str, datetime] | None = (model_version, until)
        found = None
        while wanted is not None:
            ahead.append(wanted)
            found = self._kept_state(segment, *wanted) or self._founded(segment, *wanted)
            wanted = None if found is not None else self._predecessor(segment, wanted[0])
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
        """After all windows of a version that start before then."""
        since = self.monitor.windows.containing(found.start).end
        if since >= until:
            return found
        for stored in self._series(segment, model_version, since=since, until=until):
            if stored.state == "provisional" and self.pane.state != "provisional":
                continue  # its mature look was given up
            found = _At(stored.window.start, self._after(found.prior, stored, self._rows(stored)))
            if stored.state != "provisional":
                self._keep(segment, model_version, found)
        return found

    def _kept_state(self, segment: str, model_version: str, until: datetime) -> _At | None:
        """The newest that was kept of windows that are mature by now, and still holds."""
        place, before = self._place(segment, model_version), min(until, self._mature_until)
        for start in self.memory.newest(place, before):
            known, prior = self.memory.state(place, start)
            if known == self._known(start):
                return _At(start, prior)
        kept = self._kept_just_before.get((segment, model_version))
        if kept is None or kept.window_start >= before:
            with self.ledger.database.reading() as connection:
                kept = newest_prior_state(
                    connection, self._asked(segment), model_version=model_version, before=before
                )
        if kept is None or kept.known != self._known(kept.window_start):
            return None
        return _At(kept.window_start, FollowedPrior.from_bytes(kept.state))

    @cached_property
    def _kept_just_before(self) -> dict[tuple[str, str], PriorState]:
        """Those of the last window that is mature by now and comes before, read at once."""
        grid = self.monitor.windows
        last = grid.containing(min(self.pane.window.start, self._mature_until))
        with self.ledger.database.reading() as connection:
            found = prior_states_at(
                connection, self.monitor.name, self.configuration, grid.previous(last).start
            )
        return {(one.segment, one.model_version): one for one in found}

    def _founded(self, segment: str, model_version: str, until: datetime) -> _At | None:
        """On its windows in the reference, or on the first there are if no other came before."""
        period, since, at_least = baseline_period(self.monitor), None, 0
        if period.end is not None:
            end = min(period.end, until)
            inside = self._series(segment, model_version, since=period.start, until=end)
            if inside:
                if until < period.end or self._mature_until < period.end:
                    return None
                since = period.start
                at_least = sum(one.state != "provisional" for one in inside)
        if since is None and self._predecessor(segment, model_version) is not None:
            return None
        windows = self._mature_series(segment, model_version, since=since, until=until)
        number = founding_windows([*map(_bare, windows)], at_least=at_least)
        if number is None:
            return None
        rows = [*map(self._rows, windows[:number])]
        index = self._index_of(rows, windows[number - 1])
        origin = self._level(rows, windows[0], index=index)
        if origin is None:
            return None
        prior = FollowedPrior.founded(rows, origin, label_purity=self._purity, index=index)
        found = _At(windows[number - 1].window.start, prior)
        self._keep(segment, model_version, found)
        return found

    def _index_of(self, rows: Sequence[WindowRows], last: StoredSeries) -> Index:
        """By which score a series is founded: what the auxiliary one has seen must be enough."""
        if self._index_at(last) == "score":
            return "score"
        seen = [one for one in rows if one.auxiliary is not None or one.table is None]
        return "auxiliary" if len(seen) == len(rows) else "score"

    def _predecessor(self, segment: str, model_version: str) -> tuple[str, datetime] | None:
        """The version with most predictions before this one came, and when it came."""
        asked = self._asked(segment)
        with self.ledger.database.reading() as connection:
            first = first_seen(connection, asked, model_version=model_version)
            sizes = {} if first is None else versions_before(connection, asked, until=first)
        if first is None or not sizes:
            return None
        return max(sizes, key=lambda one: (sizes[one], one)), first

    def _after(self, prior: FollowedPrior, stored: StoredSeries, rows: WindowRows) -> FollowedPrior:
        """With another window; what was known of it from elsewhere, and of a new scale."""
        prior = prior.after(rows)
        if prior.summariser is None and stored.state != "provisional":
            before = self._mature_series(
                stored.segment, stored.model_version, until=stored.window.start
            )
            own = [*before, stored]
            if founding_windows([*map(_bare, own)]) is not None:
                prior = prior.founded_again([*map(self._rows, own)])
        elif prior.index == "score" and stored.state != "provisional":
            prior = self._by_auxiliary(prior, stored, rows)
        given = self._given_of(stored)
        if given is not None and prior.told["source"] != "given":
            estimate, start, end = given
            if stored.window.end >= end:
                prior = prior.told_of(estimate, start=start, end=end)
        return prior

    def _by_auxiliary(
        self, prior: FollowedPrior, stored: StoredSeries, rows: WindowRows
    ) -> FollowedPrior:
        """From an auxiliary score that was trained since: on windows that it has seen."""
        if self._index_at(stored) == "score" or rows.auxiliary is None:
            return prior
        before = self._mature_series(
            stored.segment, stored.model_version, until=stored.window.start
        )
        own = [*map(self._rows, before), rows]
        seen = [one for one in own if one.auxiliary is not None]
        if founding_windows(seen) is None:
            return prior
        return prior.founded_again(seen, index="auxiliary")

    def _mature_series(
        self, segment: str, model_version: str, *, since: datetime | None = None, until: datetime
    ) -> Sequence[StoredSeries]:
        found = self._series(
            segment,
            model_version,
            since=since,
            until=min(until, self._mature_until),
            most=MOST_FOUNDING,
        )
        return [one for one in found if one.state != "provisional"]

    def _series(
        self,
        segment: str,
        model_version: str,
        *,
        until: datetime,
        since: datetime | None = None,
        most: int | None = None,
        newest: bool = False,
    ) -> tuple[StoredSeries, ...]:
        with self.ledger.database.reading() as connection:
            return followed_series(
                connection,
                self._asked(segment),
                model_version=model_version,
                since=since,
                until=until,
                most=most,
                newest=newest,
            )

    # -- level --------------------------------------------------------------------------------

    def _level(
        self, windows: Sequence[WindowRows], stored: StoredSeries, *, index: Index = "score"
    ) -> LevelOrigin | None:
        """Given once, where that is of these windows or earlier ones; else what the scores say."""
        given = self._given_of(stored)
        if given is not None and given[1] < windows[-1].end:
            estimate, start, end = given
            return given_level(estimate, windows, start=start, end=end, label_purity=self._purity)
        method = self.monitor.assumed_prior
        assert isinstance(method, str)  # noqa: S101 (it is followed)
        return estimated_level(
            windows,
            method=method,
            label_purity=self._purity,
            index=index,
            rng=seed_of(
                self.monitor.name, model_version=stored.model_version, segment=stored.segment
            ),
        )

    def _given_of(
        self, stored: StoredSeries
    ) -> tuple[ClassPriorEstimate, datetime, datetime] | None:
        """Of all rows; the share of one segment may be any other."""
        return None if stored.segment else self._given

    @cached_property
    def _given(self) -> tuple[ClassPriorEstimate, datetime, datetime] | None:
        prior = self.monitor.prior_of_period
        if prior is None:
            return None
        start, end = prior.span(self.monitor.zone)
        return ClassPriorEstimate.given((prior.value, prior.low, prior.high)), start, end

    @cached_property
    def _purity(self) -> float:
        purity = self.monitor.label_purity
        return 1.0 if isinstance(purity, str) else float(purity)

    # -- what is read -------------------------------------------------------------------------

    def _asked(self, segment: str) -> SeriesAsked:
        return SeriesAsked(
            monitor=self.monitor.name,
            configuration=self.configuration,
            segment=segment,
            mature=self.monitor.pane_schedule.mature,
            as_of=self.pane.as_of,
        )

    def _rows(self, stored: StoredSeries) -> WindowRows:
        confirmed, rows = counts_of(stored)
        share = self._share(stored.state, stored.number, stored.model_version, stored.segment)
        arrived, variance = _arrived(share, confirmed)
        return WindowRows(
            start=stored.window.start,
            end=stored.window.end,
            table=stored.table(),
            rows=rows,
            confirmed=confirmed,
            arrived=arrived,
            arrived_variance=variance,
            auxiliary=self._look(stored).table,
        )

    def _look(self, stored: StoredSeries) -> AuxiliaryLook:
        """What the auxiliary score sees of a series."""
        return self._auxiliary.look(stored)

    def _why_not_by_auxiliary(self, stored: StoredSeries) -> str | None:
        """What is said of a window whose rows the auxiliary score does not see."""
        reason = self._look(stored).reason
        if not reason:
            return None
        # Whoever asks later knows more of the score, and must not say something else.
        is_early = stored.state != "provisional" and self._index_at(stored) == "score"
        trained = self._auxiliary.stored is not None
        return _NOT_TRAINED if self._auxiliary.waits or (trained and is_early) else reason

    def _index_at(self, stored: StoredSeries) -> Index:
        """By which score a mature window is read: the auxiliary one as soon as it was trained."""
        trained = self._auxiliary.stored
        if trained is None or stored.window.start < trained.last_start:
            return "score"
        matured = stored.window.end + self.monitor.maturity
        return "auxiliary" if trained.as_of <= matured else "score"

    @cached_property
    def _auxiliary(self) -> PaneAuxiliary:
        return self.memory.auxiliary.of_pane(self.monitor, self.configuration, self.pane)

    def _share(self, state: State, number: int, model_version: str, segment: str) -> ShareKnown:
        if state != "provisional":
            return ShareKnown.all_known()
        return self.arrivals.share_known(model_version, segment, number=number)

    @cached_property
    def arrivals(self) -> Arrivals:
        """How labels arrive, as it was known at the pane's moment."""
        return Arrivals.as_of(self.monitor, self.configuration, self.ledger, self.pane)

    @cached_property
    def _mature_until(self) -> datetime:
        """Windows that start earlier had their mature look by the pane's moment."""
        return self.monitor.windows.containing(self.pane.as_of - self.monitor.maturity).start

    def _keep(self, segment: str, model_version: str, found: _At) -> None:
        place = self._place(segment, model_version)
        self.memory.keep(place, found.start, self._known(found.start), found.prior)

    def _place(self, segment: str, model_version: str) -> _Place:
        return self.monitor.name, self.configuration, segment, model_version

    def _known(self, start: datetime) -> str:
        """What was known of the windows up to one, by this version of the library."""
        number = bisect_right(self._windows_known, start, key=lambda one: one[0])
        latest = self._windows_known[number - 1][1].isoformat() if number else ""
        trained = self._auxiliary.stored
        return f"{__version__} {number} {latest} {'' if trained is None else trained.hash}"

    @cached_property
    def _windows_known(self) -> list[tuple[datetime, datetime]]:
        """Starts of the windows whose mature look is there, and when the last of them was made."""
        with self.ledger.database.reading() as connection:
            found = windows_known(
                connection,
                self.monitor.name,
                self.configuration,
                mature=self.monitor.pane_schedule.mature,
                until=self.pane.window.end,
            )
        made = accumulate((at for _, at in found), max)
        return [(start, at) for (start, _), at in zip(found, made, strict=True)]


def _bare(stored: StoredSeries) -> WindowRows:
    """Counts alone, for which no table is unpacked."""
    confirmed, rows = counts_of(stored)
    window = stored.window
    return WindowRows(
        start=window.start, end=window.end, table=None, rows=rows, confirmed=confirmed
    )


def _arrived(share: ShareKnown, confirmed: float) -> tuple[float, float]:
    """Share of the labels to come that has arrived, and the variance of its logarithm."""
    if share.undefined_reason is not None or not share.value > 0:
        return 0.5, 4.0
    if share.low == share.high == 1.0:
        return 1.0, 0.0
    low = max(share.low, 1e-3)
    learned = (math.log(max(share.high, low)) - math.log(low)) / (2 * 1.96)
    # Beyond the chance by which each label has arrived or has not, which the count has already.
    apart = (share.dispersion - 1) * (1 - share.value) / max(confirmed, 1.0)
    return min(max(share.value, 1e-3), 1.0), learned**2 + apart
