"""What early looks at the windows of a period said, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.names import title
from pumonitor.report.numbers import percent

__all__ = ["ArrivedByAge", "ExpectedAndRealised", "arrived_by_age", "expected_and_realised"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedAndRealised:
    """How often a mature value lay in the interval that an early look had expected.

    Attributes
    ----------
    title, age : str
        Of the metric, and after the end of the window.
    windows, inside : int
    mean_difference : str
        Realised less expected.
    """

    title: str
    age: str
    windows: int
    inside: int
    mean_difference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivedByAge:
    """Confirmations that had arrived at an age, of those that the mature windows have.

    Attributes
    ----------
    age : str
    windows, arrived, mature : int
    share, lowest, highest : str
        Of all windows together, and of single ones.
    """

    age: str
    windows: int
    arrived: int
    mature: int
    share: str
    lowest: str
    highest: str


_Place = tuple[datetime, str]


def expected_and_realised(
    rows: Sequence[PublishedResult], metrics: Iterable[str]
) -> list[ExpectedAndRealised]:
    """Compare expected with mature values; windows that are not mature are left out.

    Parameters
    ----------
    rows : sequence of PublishedResult
        All revisions, of all rows.
    metrics : iterable of str
    """
    found = []
    for metric in metrics:
        realised = _mature(rows, metric)
        by_age: dict[timedelta, list[tuple[bool, float]]] = {}
        for (place, age), row in _provisional(rows, f"{metric}_expected").items():
            value = realised.get(place)
            if value is None or row.value is None or row.low is None or row.high is None:
                continue
            by_age.setdefault(age, []).append((row.low <= value <= row.high, value - row.value))
        for age, pairs in sorted(by_age.items()):
            mean = sum(apart for _, apart in pairs) / len(pairs)
            found.append(
                ExpectedAndRealised(
                    title=title(metric),
                    age=shown_duration(age) or "0d",
                    windows=len(pairs),
                    inside=sum(is_inside for is_inside, _ in pairs),
                    mean_difference=f"{round(mean, 3) + 0.0:+.3f}",
                )
            )
    return found


def arrived_by_age(rows: Sequence[PublishedResult]) -> list[ArrivedByAge]:
    """Confirmations by age, of windows that are mature by now."""
    mature = _mature(rows, "labeled_positives")
    by_age: dict[timedelta, list[tuple[float, float]]] = {}
    for (place, age), row in _provisional(rows, "labeled_positives").items():
        total = mature.get(place)
        if total and row.value is not None:
            by_age.setdefault(age, []).append((row.value, total))
    found = []
    for age, pairs in sorted(by_age.items()):
        arrived, total = sum(one for one, _ in pairs), sum(all_of for _, all_of in pairs)
        shares = [one / all_of for one, all_of in pairs]
        found.append(
            ArrivedByAge(
                age=shown_duration(age) or "0d",
                windows=len(pairs),
                arrived=round(arrived),
                mature=round(total),
                share=percent(arrived / total),
                lowest=percent(min(shares)),
                highest=percent(max(shares)),
            )
        )
    return found


def _mature(rows: Sequence[PublishedResult], metric: str) -> dict[_Place, float]:
    """The value of each window when its labels were mature, of its last revision."""
    newest: dict[_Place, PublishedResult] = {}
    for row in rows:
        if row.metric == metric and row.state == "mature" and not row.infeasible_reason:
            place = (row.window_start, row.model_version)
            if place not in newest or row.revision > newest[place].revision:
                newest[place] = row
    return {place: row.value for place, row in newest.items() if row.value is not None}


def _provisional(
    rows: Sequence[PublishedResult], metric: str
) -> dict[tuple[_Place, timedelta], PublishedResult]:
    """The value of each early look, of its last revision."""
    newest: dict[tuple[_Place, timedelta], PublishedResult] = {}
    for row in rows:
        if row.metric == metric and row.state == "provisional":
            key = ((row.window_start, row.model_version), row.as_of - row.window_end)
            if key not in newest or row.revision > newest[key].revision:
                newest[key] = row
    return newest
