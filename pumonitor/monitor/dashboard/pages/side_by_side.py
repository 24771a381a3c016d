"""Model versions and segments of a monitor beside each other, in the windows that both have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.dashboard.address import SeriesAddress
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.columns import ResultColumns
from pumonitor.monitor.reports.metric_over_windows import MetricOverWindows
from pumonitor.monitor.reports.paired_windows import (
    PairedWindows,
    WindowValue,
    paired_windows,
)
from pumonitor.names import COUNTS
from pumonitor.text import count_text, number_text, signed_text

_MOST_VERSIONS: Final = 6
_MOST_SEGMENTS: Final = 40

_NO_PRIOR: Final = frozenset({"predicted_positive_rate", "label_maturity", *COUNTS})
_PURE_LABELS: Final = frozenset({"aul", "recall", "recall_at_k", "lift_at_k", "ll_score"})
_OTHER_SHARE: Final = "the class prior is assumed for all rows, and a segment's own is not known"
_OTHER_ROWS: Final = "the class prior is assumed, and the versions did not predict the same rows"


class OfWindow(NamedTuple):
    """A value of a window, and how many rows it is of: labeled and unlabeled ones."""

    value: WindowValue
    rows: tuple[int | None, int | None]


Values = Mapping[tuple[str, str], Mapping[datetime, OfWindow]]
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


def versions_beside(values: Values, at: SeriesAddress, monitor: Monitor) -> list[Beside]:
    """The last model version beside those that came before, of the segment on the page.

    Under an assumed class prior two versions are told apart only where they have the same numbers
    of rows in each window, and so predicted the same rows: the share of positives is one then.
    """
    series = {version: of for (version, segment), of in values.items() if segment == at.segment}
    begins = {version: min(of) for version, of in series.items()}
    if len(begins) < 2:
        return []
    uses_prior = _uses_prior(at.metric, monitor)
    is_assumed = uses_prior and monitor.is_prior_assumed
    *earlier, last = sorted(begins, key=lambda version: (begins[version], version))
    return [
        Beside(
            metric=at.metric,
            name=last,
            other=one,
            found=_paired(
                series[last],
                series[one],
                uses_prior=uses_prior,
                why_not=_why_versions_differ(series[last], series[one], at) if is_assumed else "",
            ),
        )
        for one in reversed(earlier[-_MOST_VERSIONS:])
    ]


def segments_beside(
    values: Values, at: SeriesAddress, shown: MetricOverWindows, monitor: Monitor
) -> list[Beside]:
    """Each segment beside all rows, of the model version that the page shows of each window.

    An assumed class prior is one number for all rows. What it is in a segment nobody has said, so
    no segment is called higher or lower by it.
    """
    version_of = dict(zip(shown.starts, shown.versions, strict=True))
    found: dict[str, dict[datetime, OfWindow]] = {}
    for (version, segment), series in values.items():
        for start, value in series.items():
            if version_of.get(start) == version:
                found.setdefault(segment, {})[start] = value
    everything = found.pop("", {})
    uses_prior = _uses_prior(at.metric, monitor)
    why_not = _OTHER_SHARE if uses_prior and monitor.is_prior_assumed else ""
    beside = [
        Beside(
            metric=at.metric,
            name=segment,
            other="all rows",
            found=_paired(found[segment], everything, uses_prior=uses_prior, why_not=why_not),
        )
        for segment in sorted(found)
    ]
    # Those whose interval is farthest from no difference come first.
    beside.sort(key=lambda one: -_distance(one.found))
    return beside[:_MOST_SEGMENTS]


def _uses_prior(metric: str, monitor: Monitor) -> bool:
    if metric in _NO_PRIOR or metric.endswith("_pu"):
        return False
    return not (metric in _PURE_LABELS and monitor.label_purity == 1.0)


def _why_versions_differ(
    one: Mapping[datetime, OfWindow], other: Mapping[datetime, OfWindow], at: SeriesAddress
) -> str:
    if at.segment:
        return _OTHER_SHARE
    same = all(
        None not in one[start].rows and one[start].rows == other[start].rows
        for start in set(one) & set(other)
    )
    return "" if same else _OTHER_ROWS


def _paired(
    one: Mapping[datetime, OfWindow],
    other: Mapping[datetime, OfWindow],
    *,
    uses_prior: bool,
    why_not: str,
) -> PairedWindows:
    both = ({start: of.value for start, of in series.items()} for series in (one, other))
    found = paired_windows(*both, uses_prior=uses_prior)
    if not why_not or not found.windows:
        return found
    return replace(found, low=math.nan, high=math.nan, why_no_interval=why_not)


def _distance(found: PairedWindows) -> float:
    return max(found.low, -found.high) if not found.why_no_interval else -math.inf


def _by_series(columns: ResultColumns) -> Values:
    found: dict[tuple[str, str], dict[datetime, OfWindow]] = {}
    rows = zip(
        zip(columns.model_version, columns.segment, strict=True),
        columns.window_start,
        columns.state,
        zip(columns.value, columns.low, columns.high, strict=True),
        zip(columns.n_labeled, columns.n_unlabeled, strict=True),
        strict=True,
    )
    for series, start, state, numbers, counted in rows:
        if state != "provisional" and numbers[0] is not None:
            value = WindowValue(*(math.nan if one is None else one for one in numbers))
            found.setdefault(series, {})[start] = OfWindow(value, counted)
    return found


def signed(metric: str, value: float) -> str:
    """A difference with its sign.

    Examples
    --------
    >>> signed("f1", -0.0312), signed("predictions", 1204.0)
    ('-0.0312', '+1,204')
    """
    return signed_text(value, as_text=count_text if metric in COUNTS else number_text)
