"""Which windows of a monitor an audit can be drawn from, and what is known of them today."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from pumonitor.audit.bins import ScoreBins, pooled, score_bins
from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.audits import StoredAudit
from pumonitor.monitor.ledger.records.collected import StoredSeries
from pumonitor.monitor.ledger.records.windows import PaneRecord, WindowRecord
from pumonitor.monitor.rules.windows.named_period import NamedPeriod
from pumonitor.monitor.windows.evaluation.class_priors import own_class_prior
from pumonitor.ports import Pane
from pumonitor.results import ClassPriorEstimate
from pumonitor.tables import ScoreTable
from pumonitor.text import moment_cell, moment_text

_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingWindow:
    """A window that no cases can be drawn from yet.

    Attributes
    ----------
    start : datetime
    mature_at : datetime
        When it can be evaluated as mature.
    """

    start: datetime
    mature_at: datetime

    def __str__(self) -> str:
        return f"{moment_cell(self.start)} (mature on {moment_text(self.mature_at)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowsToAudit:
    """Windows of one model version that cases can be drawn from.

    Attributes
    ----------
    model_version : str
    panes : tuple of Pane
        Of each window the newest that was evaluated, mature or final.
    table : ScoreTable
        Their rows together.
    class_prior : ClassPriorEstimate
        Today's estimate.
    left_out : tuple of str
        Windows with too few confirmed positives to be evaluated, in words.
    waiting : tuple of WaitingWindow
        Others of the period, which are not evaluated as mature yet.
    """

    model_version: str
    panes: tuple[Pane, ...]
    table: ScoreTable
    class_prior: ClassPriorEstimate
    left_out: tuple[str, ...]
    waiting: tuple[WaitingWindow, ...] = ()

    def bins(self, threshold: float) -> ScoreBins:
        """Score bins of their rows."""
        return score_bins(self.table, threshold=threshold)


def windows_to_audit(
    ledger: LedgerReader,
    monitor: Monitor,
    configuration: str,
    period: NamedPeriod,
    *,
    model_version: str | None = None,
) -> WindowsToAudit:
    """Find the windows of a period whose labels have come, and name those that wait for them.

    Raises
    ------
    InputError
        If there are none, none is mature and evaluated yet, they have several model
        versions and none is chosen, or their rows cannot be audited.
    """
    if monitor.reviews:
        msg = (
            "reviews tell the positives of this monitor: put the drawn cases into the queue, and "
            "name them audit in chosen_by of its reviews"
        )
        raise InputError(msg)
    if monitor.label_purity != 1.0:
        msg = (
            "an audit needs confirmed positives that are positive: leave out label_purity of "
            f"{monitor.name}"
        )
        raise InputError(msg)
    records = ledger.windows(
        monitor.name, since=period.start, until=period.end, configuration=configuration
    )
    if not records:
        msg = f"{monitor.name} has no window that starts in {period.name}"
        raise InputError(msg)
    newest = [_mature(one) for one in records]
    waiting = _waiting(monitor, period, records, newest)
    if not any(newest):
        what = "window is" if len(waiting) == 1 else "windows are"
        msg = (
            f"{len(waiting)} {what} not evaluated as mature yet, from {listed(waiting)}: choose "
            "earlier ones, or wait; pumonitor run evaluates what is due"
        )
        raise InputError(msg)
    found = _of_version(
        [
            [one for one in ledger.series(record.window_key, pane.number) if not one.segment]
            for record, pane in zip(records, newest, strict=True)
            if pane is not None
        ],
        model_version,
    )
    return replace(_together(ledger, monitor, configuration, found), waiting=waiting)


def windows_of_audit(ledger: LedgerReader, monitor: Monitor, audit: StoredAudit) -> WindowsToAudit:
    """The windows that an audit was drawn from, as they are known today.

    Raises
    ------
    InputError
        If they are no longer in the state database.
    """
    starts = {one.start for one in audit.windows}
    found = []
    for record in ledger.windows(
        monitor.name,
        since=audit.window_start,
        until=audit.window_end,
        configuration=audit.configuration,
    ):
        pane = _mature(record)
        if record.window.start in starts and pane is not None:
            found += [
                one
                for one in ledger.series(record.window_key, pane.number)
                if (one.model_version, one.segment) == (audit.model_version, "")
            ]
    return _together(ledger, monitor, audit.configuration, found)


def _together(
    ledger: LedgerReader, monitor: Monitor, configuration: str, found: Sequence[StoredSeries]
) -> WindowsToAudit:
    tables = [one.table() for one in found]
    kept = [(one, table) for one, table in zip(found, tables, strict=True) if table is not None]
    if not kept:
        msg = (
            "no window of these has enough confirmed positives to lay score bins: take a longer "
            "period"
        )
        raise InputError(msg)
    table = pooled([one for _, one in kept], threshold=monitor.threshold)
    return WindowsToAudit(
        model_version=found[0].model_version,
        panes=tuple(_pane(one) for one, _ in kept),
        table=table,
        class_prior=_class_prior(ledger, monitor, configuration, [one for one, _ in kept], table),
        left_out=tuple(
            moment_cell(one.window.start)
            for one, table in zip(found, tables, strict=True)
            if table is None
        ),
    )


def _mature(record: WindowRecord) -> PaneRecord | None:
    """The newest pane that was evaluated; None if its labels are still to come."""
    evaluated = [one for one in record.panes if one.revision is not None]
    return evaluated[-1] if evaluated and evaluated[-1].state != "provisional" else None


def _pane(series: StoredSeries) -> Pane:
    return Pane(window=series.window, number=series.number, state=series.state, as_of=series.as_of)


def _waiting(
    monitor: Monitor,
    period: NamedPeriod,
    records: Sequence[WindowRecord],
    mature: Sequence[PaneRecord | None],
) -> tuple[WaitingWindow, ...]:
    """Windows of the period without labels; the newest are in the ledger only once they are due."""
    last = records[-1].window.start
    found = [one.window for one, pane in zip(records, mature, strict=True) if pane is None]
    found += [one for one in monitor.windows.between(period.start, period.end) if one.start > last]
    return tuple(
        WaitingWindow(start=one.start, mature_at=one.end + monitor.maturity) for one in found
    )


def _of_version(
    by_window: Sequence[Sequence[StoredSeries]], wanted: str | None
) -> list[StoredSeries]:
    versions = sorted({one.model_version for series in by_window for one in series})
    if wanted is None and len(versions) > 1:
        msg = (
            f"these windows have the model versions {listed(versions)}: choose one with "
            "--model-version"
        )
        raise InputError(msg)
    version = wanted if wanted is not None else next(iter(versions), "")
    found = [one for series in by_window for one in series if one.model_version == version]
    if not found:
        msg = f"these windows have no rows of model version {version!r}, but of {listed(versions)}"
        raise InputError(msg)
    return found


def _class_prior(
    ledger: LedgerReader,
    monitor: Monitor,
    configuration: str,
    series: Sequence[StoredSeries],
    table: ScoreTable,
) -> ClassPriorEstimate:
    """The mean of what was published of the windows; else from their rows."""
    starts = {one.window.start for one in series}
    rows = ledger.results(
        monitor.name,
        since=min(starts),
        until=max(one.window.end for one in series),
        model_version=series[0].model_version,
        segment="",
        metrics=["class_prior"],
        configuration=configuration,
    )
    sums = [0.0, 0.0, 0.0, 0.0]
    for row in rows:
        if row.window_start in starts and row.value is not None:
            size = (row.n_labeled or 0) + (row.n_unlabeled or 0)
            low = row.value if row.low is None else row.low
            high = row.value if row.high is None else row.high
            for place, one in enumerate((1.0, row.value, low, high)):
                sums[place] += size * one
    if sums[0] > 0 and sums[1] > 0:
        value, low, high = (one / sums[0] for one in sums[1:])
        return ClassPriorEstimate(value=value, low=low, high=high, method="published")
    found = own_class_prior(table, monitor.assumed_prior)
    if found is None:
        msg = (
            f"the share of positives of {monitor.name} is not known and cannot be estimated from "
            "these windows: take a longer period"
        )
        raise InputError(msg)
    return found


def listed(names: Iterable[object]) -> str:
    """The first few, and how many more there are."""
    found = list(map(str, names))
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"{', '.join(found[:_NAMED])}{more}"
