"""What counting the windows of a monitor reads and how long it takes, told before it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any, Final

from pumonitor.errors import InputError, PumonitorError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.windows.collect import request_at
from pumonitor.ports import PredictionSource
from pumonitor.scans import Scan, TellsScan
from pumonitor.text import moment_text, size_text, span_text

_MOST_WINDOWS: Final = 30
"""Of the past: what a window took months ago says little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastReadings:
    """What windows took that were counted before.

    Attributes
    ----------
    readings : int
        From how many it is known.
    engine, version : str
        That read the newest.
    seconds : float
        Median for one window.
    read : float or None
        Median of bytes for one window; None where none were told.
    """

    readings: int
    engine: str
    version: str
    seconds: float
    read: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCost:
    """What the windows of a monitor cost.

    Attributes
    ----------
    window : datetime
        Start of the window that was looked at.
    scan : Scan or None
        What counting it would read; None where the source does not tell.
    whole : Scan or None
        What looking at all rows would read.
    unknown : str
        Why it is not known, where the source could not be asked.
    past : PastReadings or None
    seconds : float or None
        For one window: of past ones, or by the rate at which all rows were read.
    by_rate : float or None
        That rate in bytes per second, where seconds come from it.
    every : str
        Length of a window.
    ages : tuple of str
        At which a window is counted: once each within this length.
    max_bytes : int or None
        The limit of the configuration.
    """

    window: datetime
    scan: Scan | None
    whole: Scan | None
    unknown: str = ""
    past: PastReadings | None
    seconds: float | None
    by_rate: float | None
    every: str
    ages: tuple[str, ...]
    max_bytes: int | None

    @property
    def said(self) -> tuple[str, ...]:
        """Sentences for people."""
        start = moment_text(self.window)
        reads = f"What counting a window reads is not known: {self._why_unknown}"
        if self.scan is not None:
            reads = f"Counting the window from {start} reads {self.scan.said}"
        said = [reads, self._round]
        if self.whole is not None:
            said.append(f"Looking at all rows, as check does, reads {self.whole.said}")
        return tuple(said)

    @property
    def warning(self) -> str:
        """That the limit will refuse windows; "" if it will not."""
        if self.max_bytes is None or self.unknown:
            return ""
        if self.scan is None:
            return (
                f"max_bytes is {size_text(self.max_bytes)}, and this source does not tell what a "
                "statement would read: no window will be counted; leave max_bytes out, and set a "
                "limit where the rows are"
            )
        if self.scan.read <= self.max_bytes:
            return ""
        return (
            f"counting the window from {moment_text(self.window)} would read "
            f"{self.scan.said}, and max_bytes is {size_text(self.max_bytes)}: it will be refused; "
            "partition or sort the table by time, make windows shorter, or raise max_bytes"
        )

    def to_dict(self) -> dict[str, Any]:
        """In JSON types, for one window and for one round."""
        scan, past, number = self.scan, self.past, len(self.ages)
        return {
            "window": self.window.isoformat(),
            "bytes": None if scan is None else scan.read,
            "at_most": None if scan is None else scan.is_most,
            "parts": []
            if scan is None
            else [{"named": one.named, "read": one.read, "of": one.of} for one in scan.parts],
            "bytes_of_all_rows": None if self.whole is None else self.whole.read,
            "unknown": self.unknown or None,
            "seconds": self.seconds,
            "windows_a_round": number,
            "seconds_a_round": None if self.seconds is None else number * self.seconds,
            "bytes_a_round": None if scan is None else number * scan.read,
            "past": None
            if past is None
            else {
                "readings": past.readings,
                "engine": past.engine,
                "version": past.version,
                "seconds": past.seconds,
                "bytes": past.read,
            },
            "max_bytes": self.max_bytes,
        }

    @property
    def _why_unknown(self) -> str:
        return self.unknown or "the source does not tell"

    @property
    def _round(self) -> str:
        number = len(self.ages)
        windows = "1 window" if number == 1 else f"{number} windows"
        said = f"For every {self.every} rounds count {windows}"
        if number > 1:
            said += f", of the ages {', '.join(self.ages[:-1])} and {self.ages[-1]}"
        read: float | None = None if self.past is None else self.past.read
        if self.scan is not None:
            read = self.scan.read
        parts = [] if read is None else [f"about {size_text(number * read)}"]
        if self.seconds is None:
            return f"{said}: {', '.join([*parts, 'how long it takes is not known'])}"
        parts.append(span_text(timedelta(seconds=number * self.seconds)))
        return f"{said}: {' and '.join(parts)}, {self._by}"

    @property
    def _by(self) -> str:
        past = self.past
        if past is not None:
            last = "the last one" if past.readings == 1 else f"the last {past.readings}"
            return f"as {last} took ({past.engine} {past.version})"
        return f"at the rate at which all rows were read now ({size_text(self.by_rate or 0)}/s)"


def past_readings(ledger: LedgerReader, monitor: str) -> PastReadings | None:
    """What the newest windows took, as it was stored with them; None of none.

    Parameters
    ----------
    ledger : LedgerReader
    monitor : str
        Its name.
    """
    records, _ = ledger.windows_before(None, monitor=monitor, limit=_MOST_WINDOWS)
    # What was collected together was read once, and the same is stored with each pane.
    told: dict[tuple[object, ...], Mapping[str, str]] = {}
    for record in records:
        for pane in record.panes:
            read_by = ((pane.counts or {}).get("versions") or {}).get("read_by") or {}
            if "seconds" in read_by:
                told.setdefault((record.window_key, *sorted(read_by.items())), read_by)
    if not told:
        return None
    newest = next(iter(told.values()))
    sizes = [_each(one, "bytes") for one in told.values() if one.get("bytes")]
    return PastReadings(
        readings=len(told),
        engine=newest.get("engine", ""),
        version=newest.get("version", ""),
        seconds=median(_each(one, "seconds") for one in told.values()),
        read=median(sizes) if sizes else None,
    )


def planned_cost(
    monitor: Monitor,
    ledger: LedgerReader,
    *,
    open_source: Callable[[Monitor], PredictionSource],
    now: datetime,
    mask: Callable[[str], str],
) -> ExpectedCost | None:
    """What the newest window with predictions would read now, without looking at any row.

    Parameters
    ----------
    monitor : Monitor
    ledger : LedgerReader
    open_source : callable
        Opens the monitor's tables; where it cannot, it is told why.
    now : datetime
    mask : callable
        Hides secrets in a message.
    """
    past = past_readings(ledger, monitor.name)
    records, _ = ledger.windows_before(None, monitor=monitor.name, limit=_MOST_WINDOWS)
    ends = [
        record.window.end
        for record in records
        if any((pane.counts or {}).get("predictions") for pane in record.panes)
    ]
    # Some time after that window, so that it is the last whole one.
    known: dict[str, Any] = {"last": ends[0] if ends else None, "now": now, "past": past}
    try:
        source = open_source(monitor)
    except PumonitorError as error:
        return expected_cost(monitor, None, unknown=mask(str(error)), **known)
    try:
        return expected_cost(monitor, source, mask=mask, **known)
    finally:
        source.close()


def _each(read_by: Mapping[str, str], name: str) -> float:
    return float(read_by[name]) / int(read_by.get("windows", 1))


def expected_cost(
    monitor: Monitor,
    source: PredictionSource | None,
    *,
    last: datetime | None,
    now: datetime,
    past: PastReadings | None,
    seconds_of_all: float | None = None,
    mask: Callable[[str], str] = str,
    unknown: str = "",
) -> ExpectedCost | None:
    """What the last whole window, and a round, would read and take.

    Parameters
    ----------
    monitor : Monitor
    source : PredictionSource or None
        None if it could not be opened.
    last : datetime or None
        Time of the last prediction; None if it is not known.
    now : datetime
    past : PastReadings or None
    seconds_of_all : float, optional
        How long it took to look at all rows.
    mask : callable
        Hides secrets in a message.
    unknown : str
        Why there is no source.

    Returns
    -------
    ExpectedCost or None
        None of a source that reads no rows.
    """
    window = monitor.windows.previous(monitor.windows.containing(min(last or now, now)))
    request = request_at(monitor, window, now)
    scan = whole = None
    if source is not None and not isinstance(source, TellsScan):
        return None
    if isinstance(source, TellsScan) and request.as_of:
        try:
            scan, whole = source.scan(request), source.scan_of_all()
        except InputError:
            # Rows that cannot be used: whoever reads them says so.
            unknown = "the source could not be asked"
        except PumonitorError as error:
            unknown = mask(str(error))
    rate = None
    if seconds_of_all and whole is not None and whole.read > 0:
        rate = whole.read / seconds_of_all
    by_rate = rate if past is None and scan is not None and rate else None
    seconds = None if past is None else past.seconds
    if by_rate is not None and scan is not None:
        seconds = scan.read / by_rate
    return ExpectedCost(
        window=window.start,
        scan=scan,
        whole=whole,
        unknown=unknown,
        past=past,
        seconds=seconds,
        by_rate=by_rate,
        every=monitor.window,
        ages=tuple(shown_duration(one) for one in monitor.pane_schedule.ages),
        max_bytes=monitor.predictions.max_bytes,
    )
