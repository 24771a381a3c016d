"""Model versions and segments of a monitor beside each other, in the windows that both have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pumonitor.monitor.dashboard.address import SeriesAddress
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.columns import ResultColumns
from pumonitor.monitor.reports.metric_over_windows import MetricOverWindows
from pumonitor.monitor.reports.paired_windows import PairedWindows, paired_windows
from pumonitor.names import COUNTS

__all__ = ["Beside", "segments_beside", "signed", "values_beside", "versions_beside"]

_MOST_VERSIONS: Final = 6
_MOST_SEGMENTS: Final = 40

Values = Mapping[tuple[str, str], Mapping[datetime, float]]
"""Values of mature windows, by model version and segment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A series beside another.

    Attributes
    ----------
    metric, name, other : str
        Names of what is compared: model versions or segments.
    found : PairedWindows
    """

    metric: str
    name: str
    other: str
    found: PairedWindows

    @property
    def difference(self) -> str:
        """The difference with its sign."""
        return signed(self.metric, self.found.difference)

    @property
    def interval(self) -> str:
        """Its interval; "" without one."""
        if self.found.why_no_interval:
            return ""
        low, high = (signed(self.metric, end) for end in (self.found.low, self.found.high))
        return f"{low} to {high}"

    @property
    def said(self) -> str:
        """What it tells."""
        if self.found.why_no_interval:
            return self.found.why_no_interval
        if not self.found.is_known:
            return "cannot be told apart"
        return "higher" if self.found.difference > 0 else "lower"


def values_beside(ledger: Ledger, monitor: str, at: SeriesAddress, *, since: datetime) -> Values:
    """Values of all series of a monitor in mature windows, by one read."""
    return _by_series(
        ledger.series_of(
            [at.metric],
            monitors=[monitor],
            since=since,
            until=at.until,
            segment=None,
            as_of=at.as_of,
        )
    )


def versions_beside(values: Values, at: SeriesAddress) -> list[Beside]:
    """The last model version beside those that came before, of the segment on the page."""
    series = {version: of for (version, segment), of in values.items() if segment == at.segment}
    begins = {version: min(of) for version, of in series.items()}
    if len(begins) < 2:
        return []
    *earlier, last = sorted(begins, key=lambda version: (begins[version], version))
    return [
        Beside(
            metric=at.metric,
            name=last,
            other=one,
            found=paired_windows(series[last], series[one]),
        )
        for one in reversed(earlier[-_MOST_VERSIONS:])
    ]


def segments_beside(values: Values, at: SeriesAddress, shown: MetricOverWindows) -> list[Beside]:
    """Each segment beside all rows, of the model version that the page shows of each window."""
    version_of = dict(zip(shown.starts, shown.model_versions, strict=True))
    found: dict[str, dict[datetime, float]] = {}
    for (version, segment), series in values.items():
        for start, value in series.items():
            if version_of.get(start) == version:
                found.setdefault(segment, {})[start] = value
    everything = found.pop("", {})
    beside = [
        Beside(
            metric=at.metric,
            name=segment,
            other="all rows",
            found=paired_windows(found[segment], everything),
        )
        for segment in sorted(found)
    ]
    # Those whose interval is farthest from no difference come first.
    beside.sort(key=lambda one: -_distance(one.found))
    return beside[:_MOST_SEGMENTS]


def _distance(found: PairedWindows) -> float:
    return max(found.low, -found.high) if not found.why_no_interval else -math.inf


def _by_series(columns: ResultColumns) -> Values:
    found: dict[tuple[str, str], dict[datetime, float]] = {}
    rows = zip(
        columns.model_version,
        columns.segment,
        columns.window_start,
        columns.state,
        columns.value,
        strict=True,
    )
    for version, segment, start, state, value in rows:
        if state != "provisional" and value is not None:
            found.setdefault((version, segment), {})[start] = value
    return found


def signed(metric: str, value: float) -> str:
    """A difference with its sign.

    Examples
    --------
    >>> signed("f1", -0.0312), signed("predictions", 1204.0)
    ('-0.031', '+1,204')
    """
    if not math.isfinite(value):
        return "–"
    # What is rounded to nothing has no sign.
    return f"{value:+,.0f}" if metric in COUNTS else f"{round(value, 3) + 0.0:+.3f}"
