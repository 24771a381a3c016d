"""The windows of a monitor's series as they were known at the moment of a pane."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import accumulate
from typing import Final

from pumonitor import __version__
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.ledger.results.auxiliary import AuxiliarySeries
from pumonitor.monitor.ledger.results.prior_states import (
    SeriesAsked,
    first_seen,
    followed_series,
    versions_before,
    windows_known,
)
from pumonitor.monitor.rules.labels.maturity import ShareKnown
from pumonitor.monitor.windows.auxiliary.auxiliary import AuxiliaryScores, PaneAuxiliary
from pumonitor.monitor.windows.class_prior.arrivals import Arrivals
from pumonitor.monitor.windows.evaluation.series_tables import counts_of
from pumonitor.ports import Pane, State
from pumonitor.prior.followed.followed_prior import KIND_OF_STATE
from pumonitor.prior.followed.founding import MOST_FOUNDING, Index, WindowRows

_NOT_TRAINED: Final = "it was not trained yet"


@dataclass(kw_only=True, eq=False)
class KnownWindows:
    """Reads a monitor's series from the ledger, as known at the moment of a pane.

    Attributes
    ----------
    monitor : Monitor
    configuration : str
    pane : Pane
    ledger : LedgerReader
    auxiliary : AuxiliaryScores
    """

    monitor: Monitor
    configuration: str
    pane: Pane
    ledger: LedgerReader
    auxiliary: AuxiliaryScores

    def __post_init__(self) -> None:
        # Before any window is read: one that is collected again in between is then seen to be.
        _ = self._moments

    # -- which windows there are --------------------------------------------------------------

    def predecessor(self, segment: str, model_version: str) -> tuple[str, datetime] | None:
        """The version with the most predictions before this one began, and when this one began."""
        seen = self._first_seen.get(segment, {})
        first = seen.get(model_version)
        if first is None or min(seen.values()) == first:
            return None
        with self.ledger.database.reading() as connection:
            sizes = versions_before(connection, self.asked(segment), until=first)
        if not sizes:
            return None
        return max(sizes, key=lambda one: (sizes[one], one)), first

    @cached_property
    def _first_seen(self) -> dict[str, dict[str, datetime]]:
        with self.ledger.database.reading() as connection:
            return first_seen(connection, self.asked(segment=""))

    def mature_series(
        self, segment: str, model_version: str, *, since: datetime | None = None, until: datetime
    ) -> Sequence[StoredSeries]:
        """The first mature windows of a series, at most as many as a start of following needs."""
        found = self.series(
            segment,
            model_version,
            since=since,
            until=min(until, self.mature_until),
            most=MOST_FOUNDING,
        )
        return [one for one in found if one.state != "provisional"]

    def series(
        self,
        segment: str,
        model_version: str,
        *,
        until: datetime,
        since: datetime | None = None,
        most: int | None = None,
        newest: bool = False,
    ) -> tuple[StoredSeries, ...]:
        """Windows of a series that start in a period, each with its newest pane known by then."""
        first = self._first_seen.get(segment, {}).get(model_version)
        if first is None or until <= first:
            return ()
        with self.ledger.database.reading() as connection:
            return followed_series(
                connection,
                self.asked(segment),
                model_version=model_version,
                since=since,
                until=until,
                most=most,
                newest=newest,
            )

    def asked(self, segment: str) -> SeriesAsked:
        """Series and moment of the query."""
        return SeriesAsked(
            monitor=self.monitor.name,
            configuration=self.configuration,
            segment=segment,
            mature=self.monitor.pane_schedule.mature,
            as_of=self.pane.as_of,
        )

    @cached_property
    def mature_until(self) -> datetime:
        """Windows that start earlier were mature at the pane's moment."""
        return self.monitor.windows.containing(self.pane.as_of - self.monitor.maturity).start

    def known(self, start: datetime) -> str:
        """What was known of the windows up to one, by which version and kind of states.

        States of another kind are not read: their series are followed from the beginning again.
        """
        number = bisect_right(self._moments, start, key=lambda one: one[0])
        latest = self._moments[number - 1][1].isoformat() if number else ""
        trained = self._scored.stored
        auxiliary = "" if trained is None else trained.hash
        return f"{__version__} {KIND_OF_STATE} {number} {latest} {auxiliary}"

    @cached_property
    def _moments(self) -> list[tuple[datetime, datetime]]:
        """Starts of the windows with a mature pane, and the time of the last such pane."""
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

    # -- the rows of one ----------------------------------------------------------------------

    def rows(self, stored: StoredSeries) -> WindowRows:
        """A window's table and counts, with the share of its labels that has arrived."""
        confirmed, rows = counts_of(stored)
        share = self._share(stored.state, stored.number, stored.model_version, stored.segment)
        arrived, variance = arrived_of(share, confirmed)
        return WindowRows(
            start=stored.window.start,
            end=stored.window.end,
            table=stored.table(),
            rows=rows,
            confirmed=confirmed,
            arrived=arrived,
            arrived_variance=variance,
            auxiliary=self._auxiliary_of(stored).table,
        )

    def _auxiliary_of(self, stored: StoredSeries) -> AuxiliarySeries:
        """The auxiliary table of a series."""
        return self._scored.of_series(stored)

    def why_not_by_auxiliary(self, stored: StoredSeries) -> str | None:
        """Why a series has no auxiliary table; None if it has one, or none is configured."""
        reason = self._auxiliary_of(stored).reason
        if not reason:
            return None
        # A later call knows more of the score, but the reason must stay the same.
        is_early = stored.state != "provisional" and self.index_at(stored) == "score"
        trained = self._scored.stored is not None
        return _NOT_TRAINED if self._scored.waits or (trained and is_early) else reason

    def index_at(self, stored: StoredSeries) -> Index:
        """Score that is used for a mature window: the auxiliary score once it is trained."""
        trained = self._scored.stored
        if trained is None or stored.window.start < trained.last_start:
            return "score"
        matured = stored.window.end + self.monitor.maturity
        return "auxiliary" if trained.as_of <= matured else "score"

    @cached_property
    def _scored(self) -> PaneAuxiliary:
        return self.auxiliary.of_pane(self.monitor, self.configuration, self.pane)

    def _share(self, state: State, number: int, model_version: str, segment: str) -> ShareKnown:
        if state != "provisional":
            return ShareKnown.all_known()
        return self.arrivals.share_known(model_version, segment, number=number)

    @cached_property
    def arrivals(self) -> Arrivals:
        """How labels arrive, from what was known at the pane's moment."""
        return Arrivals.as_of(self.monitor, self.configuration, self.ledger, self.pane)


def rows_without_table(stored: StoredSeries) -> WindowRows:
    """Counts without tables, so that no table is decompressed."""
    confirmed, rows = counts_of(stored)
    window = stored.window
    return WindowRows(
        start=window.start, end=window.end, table=None, rows=rows, confirmed=confirmed
    )


def arrived_of(share: ShareKnown, confirmed: float) -> tuple[float, float]:
    """Share of the expected labels that has arrived, and the variance of its logarithm."""
    if share.undefined_reason is not None or not share.value > 0:
        return 0.5, 4.0
    if share.low == share.high == 1.0:
        return 1.0, 0.0
    low = max(share.low, 1e-3)
    learned = (math.log(max(share.high, low)) - math.log(low)) / (2 * 1.96)
    # Beyond the chance by which each label has arrived or has not, which the count has already.
    apart = (share.dispersion - 1) * (1 - share.value) / max(confirmed, 1.0)
    return min(max(share.value, 1e-3), 1.0), learned**2 + apart
