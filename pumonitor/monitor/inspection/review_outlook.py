"""What reviews and complaints of one window come to: what `check` says of them before any run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.windows.evaluation.reviewed_tables import HowReviewed
from pumonitor.monitor.windows.evaluation.series_tables import tables_of
from pumonitor.ports import (
    CountRequest,
    Pane,
    PredictionSource,
    SourceDescription,
    WindowCounts,
)
from pumonitor.text import moment_text

_SHOWN: Final = 5


def review_outlook(
    monitor: Monitor, source: PredictionSource, description: SourceDescription, *, now: datetime
) -> tuple[list[str], list[str]]:
    """Warnings and notes about the newest mature window, or the first if none is mature.

    Nothing for monitors without reviews, nor of counts that a job made at moments of its own.
    """
    reviews = HowReviewed.of(monitor)
    if description.engine == "counts":
        return [], []
    if reviews is None or description.first is None or description.last is None:
        return [], []
    pane = _pane(monitor, description.first, description.last, now)
    counts = source.counts(
        CountRequest(window=pane.window, as_of=(pane.as_of,), threshold=monitor.threshold)
    )
    warnings = list(_action_warnings(reviews, counts))
    tables = tables_of(counts, [pane], threshold=monitor.threshold, reviews=reviews)
    whole = [series for series in tables if not series.segment]
    if not whole:
        return warnings, []
    largest = max(whole, key=lambda series: series.predictions)
    of_window = f"the window from {moment_text(pane.window.start)}"
    if largest.table is None:
        return [*warnings, f"{of_window} has no estimates: {largest.undefined_reason}"], []
    reading = reviews.read(largest.table, threshold=monitor.threshold)
    rows = reading.counts.totals()
    undecided = int(reading.counts.undecided.sum())
    # Rows drawn with unequal chances are weighted, and stand among those that are known.
    weighted = 0 if reading.counts.odds is None else int(reading.counts.odds[0].sum())
    reviewed = int(reading.counts.reviewed.sum()) + undecided + weighted
    by_rule = rows["known_positive"] + rows["known_negative"] - weighted
    notes = [
        f"In {of_window}, of {largest.predictions:,} rows {reviewed:,} were reviewed by score or "
        f"chance ({undecided:,} undecided), {by_rule:,} by a rule or because of a complaint, "
        f"{rows['stopped']:,} stopped unseen; {rows['open_complained']:,} others complained"
    ]
    for finding in reading.findings:
        told = warnings if finding.severity == "warning" else notes
        if finding.name != "reviewed_by_rules":
            told.append(f"{of_window}: {finding.sentence}")
    return warnings, notes


def _pane(monitor: Monitor, first: datetime, last: datetime, now: datetime) -> Pane:
    """The mature pane of the newest window that has one by now, else of the first window."""
    schedule = monitor.pane_schedule

    def mature(pane_of: datetime) -> Pane:
        return schedule.panes(monitor.windows.containing(pane_of))[schedule.mature]

    pane = mature(last)
    while pane.as_of > now and pane.window.start > first:
        pane = mature(monitor.windows.previous(pane.window).start)
    return pane


def _action_warnings(reviews: HowReviewed, counts: WindowCounts) -> Iterator[str]:
    if reviews.action is None:
        return
    held: Counter[str] = Counter()
    for word, rows in zip(
        counts.segments[reviews.action].tolist(), counts.rows.tolist(), strict=True
    ):
        held[word] += rows
    missing = [word for word in reviews.stopped if word not in held]
    if len(missing) == len(reviews.stopped):
        shown = ", ".join(f"{word!r} {rows:,}" for word, rows in held.most_common(_SHOWN))
        yield (
            f"no row has {' or '.join(map(repr, missing))} in {reviews.action!r}, the words of "
            f"stopped in predictions.action; its words are {shown}"
        )
