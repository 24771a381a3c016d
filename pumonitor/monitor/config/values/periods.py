"""Periods in a configuration, in the time zone of the monitor."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from zoneinfo import ZoneInfo

from pydantic import ValidationInfo, field_validator

from pumonitor.monitor.config.values.kinds import Moment, Part
from pumonitor.monitor.rules.windows.windows import WindowGrid


class Period(Part):
    """A period from start up to but excluding end.

    Attributes
    ----------
    start : date or datetime
        Start of the period; a date, or a time, in the monitor's zone.
    end : date or datetime
        End of the period, which is itself not part of it.
    """

    start: Moment
    end: Moment

    @field_validator("end")
    @classmethod
    def _after_start(cls, end: date, info: ValidationInfo) -> date:
        start = info.data.get("start")
        if start is not None and _in_zone(end, UTC) <= _in_zone(start, UTC):
            msg = f"must be after start, got end {end} and start {start}: the end is not included"
            raise ValueError(msg)
        return end

    def span(self, zone: str) -> tuple[datetime, datetime]:
        """Start and end in UTC; dates and times without a zone are the monitor's.

        Examples
        --------
        >>> july = Period(start=date(2026, 7, 1), end=date(2026, 8, 1))
        >>> july.span("Europe/Berlin")[0].isoformat()
        '2026-06-30T22:00:00+00:00'
        """
        return span_of(self.start, self.end, zone=zone)


def span_of(start: date, end: date, *, zone: str) -> tuple[datetime, datetime]:
    """Start and end in UTC; dates and times without a zone are in `zone`."""
    place = ZoneInfo(zone)
    return _in_zone(start, place), _in_zone(end, place)


def check_span(span: tuple[datetime, datetime], *, zone: str) -> None:
    """Check that a period ends after it starts, once both times have a zone.

    Raises
    ------
    ValueError
        If it does not.
    """
    start, end = span
    if end <= start:
        msg = (
            f"must end after it starts, but in {zone} it is from {start.isoformat()} to "
            f"{end.isoformat()}: write both times with their zone"
        )
        raise ValueError(msg)


def holds_window(span: tuple[datetime, datetime], windows: WindowGrid) -> bool:
    """Whether the period contains a whole window."""
    start, end = span
    return any(
        start <= window.start and window.end <= end for window in windows.between(start, end)
    )


def _in_zone(moment: date, zone: tzinfo) -> datetime:
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 (zone follows)
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
