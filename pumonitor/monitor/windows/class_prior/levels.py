"""Level from which a class prior is followed: given for one period, or estimated from scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.windows.evaluation.seeds import seed_of
from pumonitor.prior.followed.founding import Index, WindowRows
from pumonitor.prior.followed.level import LevelOrigin, estimated_levels, given_level
from pumonitor.results import ClassPriorEstimate


@dataclass(eq=False)
class Levels:
    """Levels of the class prior that a monitor's configuration gives or has estimated.

    Attributes
    ----------
    monitor : Monitor
    """

    monitor: Monitor

    def of(
        self, windows: Sequence[WindowRows], stored: StoredSeries, *, index: Index = "score"
    ) -> LevelOrigin | None:
        """The given level, if its period is not later than these windows; else one from scores."""
        return self.of_several([(windows, stored)], index=index)[0]

    def of_several(
        self,
        series: Sequence[tuple[Sequence[WindowRows], StoredSeries]],
        *,
        index: Index = "score",
    ) -> list[LevelOrigin | None]:
        """The level of each series from its windows: those from scores are read together."""
        found = [self._given_before(*one) for one in series]
        unknown = [place for place, level in enumerate(found) if level is None]
        method = self.monitor.assumed_prior
        assert isinstance(method, str)  # noqa: S101 (it is followed)
        estimated = estimated_levels(
            [series[place][0] for place in unknown],
            method=method,
            label_purity=self.purity,
            index=index,
            seeds=[_seed_of(series[place][1]) for place in unknown],
        )
        for place, level in zip(unknown, estimated, strict=True):
            found[place] = level
        return found

    def _given_before(
        self, windows: Sequence[WindowRows], stored: StoredSeries
    ) -> LevelOrigin | None:
        given = self.given_of(stored)
        if given is None or given[1] >= windows[-1].end:
            return None
        estimate, start, end = given
        return given_level(estimate, windows, start=start, end=end, label_purity=self.purity)

    def given_of(
        self, stored: StoredSeries
    ) -> tuple[ClassPriorEstimate, datetime, datetime] | None:
        """The given level of all rows; that of a segment is unknown."""
        return None if stored.segment else self._given

    @cached_property
    def _given(self) -> tuple[ClassPriorEstimate, datetime, datetime] | None:
        prior = self.monitor.prior_of_period
        if prior is None:
            return None
        start, end = prior.span(self.monitor.zone)
        return ClassPriorEstimate.given((prior.value, prior.low, prior.high)), start, end

    @cached_property
    def purity(self) -> float:
        """P(y = 1 given labeled); 1 where it is estimated."""
        purity = self.monitor.label_purity
        return 1.0 if isinstance(purity, str) else float(purity)


def _seed_of(stored: StoredSeries) -> int:
    return seed_of(None, model_version=stored.model_version, segment=stored.segment)
