"""History of the metrics up to a window, as known when that window was evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.results import PublishedResult, StoredEvaluation
from pumonitor.names import title
from pumonitor.report.history_chart import HistoryPoint

_WINDOWS: Final = 60
_FEWEST: Final = 2
_HEADLINES: Final = ("aul", "auc", "class_prior", "precision", "recall", "f1")


def newest_known(rows: Iterable[PublishedResult], *, as_of: datetime) -> list[PublishedResult]:
    """The newest result of each window and metric known at a moment, in order of time."""
    newest: dict[tuple[datetime, str], PublishedResult] = {}
    for row in rows:
        if row.as_of <= as_of:
            place = (row.window_start, row.metric)
            kept = newest.get(place)
            if kept is None or (row.as_of, row.revision) > (kept.as_of, kept.revision):
                newest[place] = row
    return [row for _, row in sorted(newest.items())]


def window_history(
    found: StoredEvaluation, ledger: LedgerReader
) -> dict[str, tuple[HistoryPoint, ...]]:
    """Headline metrics of the last 60 windows of a series up to one, by their titles.

    Numbers that came out impossible are left out, and metrics that were known in fewer than two
    windows or are assumed.
    """
    window = found.window
    rows = newest_known(
        ledger.results(
            found.monitor,
            since=window.start - (_WINDOWS - 1) * (window.end - window.start),
            until=window.end,
            model_version=found.model_version,
            segment=found.segment,
            metrics=_HEADLINES,
            revisions="all",
        ),
        as_of=found.as_of,
    )
    history = {
        title(name): tuple(_point(row) for row in rows if row.metric == name and not row.assumed)
        for name in _HEADLINES
    }
    return {
        heading: points
        for heading, points in history.items()
        if sum(one.value is not None for one in points) >= _FEWEST
    }


def _point(row: PublishedResult) -> HistoryPoint:
    if not row.is_evidence:
        return HistoryPoint(start=row.window_start, value=None, low=None, high=None)
    return HistoryPoint(start=row.window_start, value=row.value, low=row.low, high=row.high)
