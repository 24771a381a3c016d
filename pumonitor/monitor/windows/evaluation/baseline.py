"""Choose the windows to compare with: those of the reference, or else the first ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.ledger.results.mature_series import (
    MatureSeries,
    mature_series,
    mature_versions,
)
from pumonitor.ports import Window

_WITHOUT_REFERENCE: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselinePeriod:
    """The windows of a monitor that are taken to be without a change.

    These are the windows of the reference, whose results rules read as a `KnownReference`. Without
    a reference they are the first windows, which class priors, causes and shifts start from.

    Attributes
    ----------
    start, end : datetime or None
        Of the whole windows in the reference; None for a monitor without one.
    windows : int
        Their number; without a reference the first 30 windows are compared with.
    """

    start: datetime | None
    end: datetime | None
    windows: int

    def chosen(self, windows: Sequence[Window]) -> list[Window]:
        """The windows to compare with, of those that there are.

        Parameters
        ----------
        windows : sequence of Window
            In order of time.
        """
        if self.start is None or self.end is None:
            return list(windows[: self.windows])
        return [one for one in windows if self.start <= one.start and one.end <= self.end]


def baseline_period(monitor: Monitor) -> BaselinePeriod:
    """The period that windows of a monitor are compared with.

    A window of which a part is outside the reference does not count.
    """
    if monitor.reference is None:
        return BaselinePeriod(start=None, end=None, windows=_WITHOUT_REFERENCE)
    start, end = monitor.reference.span(monitor.zone)
    whole = [
        window
        for window in monitor.windows.between(start, end)
        if start <= window.start and window.end <= end
    ]
    return BaselinePeriod(
        start=whole[0].start if whole else start,
        end=whole[-1].end if whole else start,
        windows=len(whole),
    )


def version_to_compare_with(model_version: str, sizes: Mapping[str, int]) -> str | None:
    """The same model version if the baseline has it, or else the one with most predictions in it.

    Parameters
    ----------
    model_version : str
    sizes : mapping of str to int
        Number of predictions in the baseline by version.

    Examples
    --------
    >>> version_to_compare_with("2", {"1": 30, "2": 4}), version_to_compare_with("3", {"1": 30})
    ('2', '1')
    """
    if model_version in sizes:
        return model_version
    return max(sizes, key=lambda one: (sizes[one], one), default=None)


def baseline_series(
    ledger: LedgerReader,
    monitor: Monitor,
    configuration: str,
    *,
    model_version: str,
    segment: str,
    before: datetime,
    as_of: datetime,
) -> tuple[StoredSeries, ...]:
    """Counts of the windows to compare with, as they were known as of a moment, in order of time.

    The query selects them by time, so that later windows cannot displace them.

    Parameters
    ----------
    ledger : LedgerReader
    monitor : Monitor
    configuration : str
        Its hash.
    model_version, segment : str
        Of the windows that are compared.
    before : datetime
        Windows that start then or later are not compared with.
    as_of : datetime

    Returns
    -------
    tuple of StoredSeries
        Mature, with a table, all of one model version.
    """
    period = baseline_period(monitor)
    asked = MatureSeries(
        monitor=monitor.name,
        configuration=configuration,
        segment=segment,
        since=period.start,
        until=before if period.end is None else min(period.end, before),
        as_of=as_of,
    )
    with ledger.database.reading() as connection:
        version = version_to_compare_with(model_version, mature_versions(connection, asked))
        if version is None:
            return ()
        # Without a reference no more is read than is needed: a ledger holds years.
        return mature_series(
            connection,
            replace(asked, model_version=version),
            most=period.windows if period.end is None else None,
        )
