"""One metric of one series over windows, in columns, as charts and tables show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pumonitor._arrays import FloatArray
from pumonitor.monitor.charts.time_series import Drawn
from pumonitor.monitor.ledger.records.columns import ResultColumns
from pumonitor.ports import State

COUNTED: Final = ("predictions", "labeled_positives", "label_maturity")
_EXPECTED: Final = "_expected"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetricOverWindows(Drawn):
    """A metric, window after window: what is drawn of it, and more.

    Attributes
    ----------
    as_of : sequence of datetime
    states : sequence of str
    revisions : sequence of int
    reasons : sequence of str
        Why a value is undefined or cannot be right, or what impossible number it is computed
        with; "" otherwise.
    infeasible : ndarray of shape (windows,)
        Whether a value cannot be right, or stands on a class prior that cannot.
    expected, expected_low, expected_high : ndarray of shape (windows,)
        What provisional values are expected to become.
    counted : mapping of str to ndarray
        Values of `COUNTED`.
    is_cut : bool
        Whether the ledger has more results than were read.
    """

    as_of: Sequence[datetime]
    states: Sequence[State]
    revisions: Sequence[int]
    reasons: Sequence[str]
    infeasible: NDArray[np.bool_]
    expected: FloatArray
    expected_low: FloatArray
    expected_high: FloatArray
    counted: dict[str, FloatArray]
    is_cut: bool

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def first_windows(self) -> dict[str, datetime]:
        """Each model version and its first window, in order of time."""
        found: dict[str, datetime] = {}
        for version, start in zip(self.versions, self.starts, strict=True):
            found.setdefault(version, start)
        return found


def metrics_read(metric: str) -> list[str]:
    """What must be read to show a metric."""
    return list(dict.fromkeys([metric, metric + _EXPECTED, *COUNTED]))


def metric_over_windows(
    columns: ResultColumns, metric: str, *, windows: int | None = None
) -> MetricOverWindows:
    """The metric in columns that have `metrics_read` of one monitor and one segment.

    Of a window with several model versions the one with most predictions is shown.

    Parameters
    ----------
    columns : ResultColumns
    metric : str
    windows : int, optional
        Only so many, the newest ones.
    """
    rows: dict[tuple[datetime, str], dict[str, int]] = {}
    series = zip(columns.window_start, columns.model_version, columns.metric, strict=True)
    for place, (start, version, name) in enumerate(series):
        rows.setdefault((start, version), {})[name] = place
    chosen: dict[datetime, tuple[float, str]] = {}
    for (start, version), places in rows.items():
        counted = places.get("predictions")
        many = -1.0 if counted is None else columns.value[counted] or 0.0
        if start not in chosen or many > chosen[start][0]:
            chosen[start] = many, version
    keys = [(start, version) for start, (_, version) in chosen.items()]
    if columns.is_cut:
        # Of the oldest window some results may be missing.
        keys = keys[1:]
    keys = keys[-windows:] if windows else keys
    shown = [rows[key] for key in keys]
    some = [next(iter(places.values())) for places in shown]
    own = [places.get(metric) for places in shown]
    later = [places.get(metric + _EXPECTED) for places in shown]
    return MetricOverWindows(
        starts=[start for start, _ in keys],
        ends=[columns.window_end[place] for place in some],
        as_of=[columns.as_of[place] for place in some],
        states=[columns.state[place] for place in some],
        provisional=np.array([columns.state[place] == "provisional" for place in some], dtype=bool),
        versions=[version for _, version in keys],
        revisions=[columns.revision[place] for place in some],
        value=_at(columns.value, own),
        low=_at(columns.low, own),
        high=_at(columns.high, own),
        reasons=[_reason(columns, place) for place in own],
        infeasible=np.array([_is_infeasible(columns, place) for place in own], dtype=bool),
        expected=_at(columns.value, later),
        expected_low=_at(columns.low, later),
        expected_high=_at(columns.high, later),
        counted={
            name: _at(columns.value, [places.get(name) for places in shown]) for name in COUNTED
        },
        is_cut=columns.is_cut,
    )


def _at(values: Sequence[float | None], places: Sequence[int | None]) -> FloatArray:
    return np.array([np.nan if place is None else values[place] for place in places], dtype=float)


def _is_infeasible(columns: ResultColumns, place: int | None) -> bool:
    return place is not None and (columns.infeasible[place] or columns.impossible[place])


def _reason(columns: ResultColumns, place: int | None) -> str:
    if place is None:
        return "this window has no such metric"
    return columns.undefined_reason[place] or columns.infeasible_reason[place] or ""
