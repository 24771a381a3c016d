"""How many confirmed positives a monitor needs, from how its windows have varied."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from pumonitor.errors import InputError
from pumonitor.monitoring.planning import Noise, SeenAfter, labels_needed
from pumonitor.ports import Window
from pumonitor.service.baseline import baseline_period, version_to_compare_with
from pumonitor.service.config import Monitor
from pumonitor.service.rule_config import Change
from pumonitor.store.reader import LedgerReader
from pumonitor.store.records import PublishedResult

__all__ = ["LabelPlan", "plan_labels"]

_FEWEST: Final = 5
_DAYS_PER_YEAR: Final = 365.25
_REACH: Final = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPlan:
    """What it takes to see a drop within some days.

    Attributes
    ----------
    monitor, metric : str
    drop, within_days : float
        The drop in the metric's unit.
    windows : int
        Quiet windows that the noise was read off, and that the detector learns from.
    noise : Noise
    labels_now : int
        Confirmed positives of a usual window.
    labels_needed : int or None
        Per window; None where no number that was tried is enough.
    maturity_days : float
        Mature windows are judged, so much later.
    window_days : float
    seen_after : tuple of SeenAfter
        In windows, for each number of confirmed positives.
    """

    monitor: str
    metric: str
    drop: float
    within_days: float
    windows: int
    noise: Noise
    labels_now: int
    labels_needed: int | None
    maturity_days: float
    window_days: float
    seen_after: tuple[SeenAfter, ...]


def plan_labels(
    ledger: LedgerReader,
    monitor: Monitor,
    *,
    metric: str,
    drop: float | Change,
    within_days: float,
    false_alarms_per_year: float = 1.0,
) -> LabelPlan:
    """How many confirmed positives per window show a drop of this size within so many days.

    Days count from the beginning of the change, and what labels take to be mature comes on top. A
    relative drop is a share of what the quiet windows usually have.

    Raises
    ------
    InputError
        If fewer than five quiet windows have an interval of the metric.
    """
    rows = _quiet(ledger, monitor, metric)
    if len(rows) < _FEWEST:
        which, remedy = "mature windows", "pumonitor backfill makes them"
        if monitor.reference is not None:
            which = "windows of the reference"
            remedy = "give the monitor a longer reference, or shorter windows"
        msg = (
            f"{monitor.name} has {len(rows)} {which} with an interval of {metric}, and "
            f"{_FEWEST} are needed to see how much it varies; {remedy}"
        )
        raise InputError(msg)
    values, low, high, labeled = (
        np.array(column, dtype=np.float64)
        for column in zip(
            *((row.value, row.low, row.high, row.n_labeled) for row in rows), strict=True
        )
    )
    amount = drop.amount if isinstance(drop, Change) else drop
    if isinstance(drop, Change) and drop.relative:
        amount *= abs(float(np.median(values)))
    errors = (high - low) / (2 * _REACH)
    noise = Noise.of_windows(values, errors, labeled)
    days = (rows[-1].window_end - rows[-1].window_start).total_seconds() / 86_400
    needed, tried = labels_needed(
        drop=amount,
        noise=noise,
        within=max(within_days / days, 1.0),
        false_alarms_per_year=false_alarms_per_year,
        windows_per_year=_DAYS_PER_YEAR / days,
        reference_windows=len(rows),
    )
    return LabelPlan(
        monitor=monitor.name,
        metric=metric,
        drop=amount,
        within_days=within_days,
        windows=len(rows),
        noise=noise,
        labels_now=round(float(np.median(labeled))),
        labels_needed=needed,
        maturity_days=monitor.maturity.total_seconds() / 86_400,
        window_days=days,
        seen_after=tuple(tried),
    )


def _quiet(ledger: LedgerReader, monitor: Monitor, metric: str) -> list[PublishedResult]:
    """Windows in which nothing had changed, of one model version: the newest if it is there."""
    period = baseline_period(monitor)
    by_version: dict[str, list[PublishedResult]] = defaultdict(list)
    for row in ledger.results(
        monitor.name,
        since=period.start,
        until=period.end,
        segment="",
        metrics=[metric],
        states=["mature", "final"],
    ):
        if row.value is not None and row.low is not None and row.high is not None:
            by_version[row.model_version] += [row] if row.n_labeled else []
    enough = {one: len(rows) for one, rows in by_version.items() if len(rows) >= _FEWEST}
    newest = max(ledger.newest_mature(monitor.name).items(), key=_when, default=None)
    version = version_to_compare_with("" if newest is None else newest[0][0], enough)
    if version is None:
        return max(by_version.values(), key=len, default=[])
    windows = [
        Window(start=row.window_start, end=row.window_end, index=0) for row in by_version[version]
    ]
    chosen = {one.start for one in period.chosen(windows)}
    return [row for row in by_version[version] if row.window_start in chosen]


def _when(series: tuple[tuple[str, str], datetime]) -> tuple[datetime, str]:
    (version, _), start = series
    return start, version
