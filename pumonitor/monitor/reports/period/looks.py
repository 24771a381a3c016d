"""What early looks at the windows of a period said, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.monitor.ledger.results.read_realised import Realised
from pumonitor.monitor.reports.realised_looks import realised_looks
from pumonitor.names import title
from pumonitor.plain_text import one_line
from pumonitor.text import percent_text, signed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedAndRealised:
    """How often a mature value lay in the interval that an early look had expected.

    Attributes
    ----------
    title, model_version, age : str
        Of the metric, "" if there is one version only, and after the end of the window.
    windows, inside : int
    mean_difference : str
        Realised less expected.
    """

    title: str
    model_version: str
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


def expected_and_realised(found: Mapping[str, Sequence[Realised]]) -> list[ExpectedAndRealised]:
    """Compare expected with mature values, by the counts of the monitor's page.

    Parameters
    ----------
    found : mapping of str to sequence of Realised
        By metric, of all rows, the latest windows first.
    """
    return [
        ExpectedAndRealised(
            title=title(metric),
            model_version=one_line(look.model_version),
            age=shown_duration(look.age) or "0d",
            windows=look.windows,
            inside=look.inside,
            mean_difference=signed_text(look.mean_error),
        )
        for metric, some in found.items()
        for look in realised_looks(some)
    ]


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
                share=percent_text(arrived / total),
                lowest=percent_text(min(shares)),
                highest=percent_text(max(shares)),
            )
        )
    return found


def _mature(rows: Sequence[PublishedResult], metric: str) -> dict[_Place, float]:
    """The value of each window when its labels were mature, of its last revision."""
    newest: dict[_Place, PublishedResult] = {}
    for row in rows:
        if row.metric == metric and row.state == "mature" and row.is_evidence:
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
