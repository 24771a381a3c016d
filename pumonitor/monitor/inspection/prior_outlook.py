"""Report of `check` on a class prior: its source, and how much an audit would narrow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from pumonitor.errors import PumonitorError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.prior_of_period import PriorOfPeriod
from pumonitor.monitor.config.sections.rules import MetricRule
from pumonitor.monitor.rules.labels.confirmed_share import ConfirmedShare, confirmed_beyond
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.monitor.windows.evaluation.seeds import seed_of
from pumonitor.monitor.windows.evaluation.series_tables import SeriesTable, tables_of
from pumonitor.ports import CountRequest, Pane, PredictionSource, SourceDescription, Window
from pumonitor.prior.followed.founding import WindowRows
from pumonitor.prior.followed.worth_of_audits import Worth, worth_of_audits
from pumonitor.text import day_text, given_text, number_text, with_interval

__all__ = ["impossible_prior", "prior_notes", "prior_outlook", "prior_warnings"]

_MOST_WINDOWS: Final = 30
_LEVEL: Final = 0.001


def prior_notes(monitor: Monitor) -> Iterator[str]:
    """Notes on the source of a class prior that is given or assumed."""
    known = monitor.prior_of_period
    if known is not None:
        yield f"Class prior: given, {known.said()}; it is followed from that period on"
    elif monitor.is_prior_assumed:
        yield (
            f"Class prior: {assumed_words(monitor.class_prior)} is assumed for all windows, and a "
            "change of it is not detected; if it is the share of one period, give of: {start: ..., "
            "end: ...} beside value, low and high, and the class prior is followed from that "
            "period on"
        )
        if monitor.predictions.segments:
            yield (
                "Class prior: what is assumed for all rows is used for each segment as well, whose "
                "own is not known; class_prior: auto estimates that of each segment"
            )


def prior_warnings(monitor: Monitor, description: SourceDescription | None) -> Iterator[str]:
    """Warnings about a class prior that is given or assumed."""
    if monitor.is_prior_assumed:
        for rule in monitor.rules:
            if isinstance(rule, MetricRule) and rule.metric == "class_prior":
                yield (
                    f"rule {rule.name or rule.metric!r} tests the class prior, which is assumed "
                    "and not estimated, so the rule never fires; write class_prior: auto, or give "
                    "the period that the share is of (of: {start: ..., end: ...})"
                )
    known = monitor.prior_of_period
    if known is None or description is None or description.first is None:
        return
    start, end = known.span(monitor.zone)
    if end <= description.first:
        yield (
            f"class_prior is given for {known.start} to {known.end}, before the first prediction "
            f"of {day_text(description.first)}: it is used as if it were still right on that day; "
            "give the share of a period with predictions if you can"
        )
    elif description.last is not None and start > description.last:
        yield (
            f"class_prior is given for {known.start} to {known.end}, after the last prediction of "
            f"{day_text(description.last)}: until then auto estimates it"
        )


def assumed_words(given: str | float | tuple[float, ...] | PriorOfPeriod) -> str:
    """Format an assumed class prior and its interval.

    Examples
    --------
    >>> assumed_words(0.03), assumed_words((0.02, 0.04)), assumed_words((0.03, 0.02, 0.04))
    ('0.03', '[0.02, 0.04]', '0.03 [0.02, 0.04]')
    """
    if not isinstance(given, tuple):
        return f"{given:g}" if isinstance(given, float) else str(given)
    *value, low, high = (f"{one:g}" for one in given)
    return " ".join([*value, f"[{low}, {high}]"])


def prior_outlook(
    monitor: Monitor, source: PredictionSource, description: SourceDescription, *, now: datetime
) -> list[Worth]:
    """`worth_of_audits` for the windows of the reference, or else the first ones, from one query.

    Empty if the class prior is known already or not followed, if no window is mature, or if its
    rows cannot be counted or do not allow an estimate.
    """
    if not monitor.is_prior_followed or monitor.prior_of_period is not None:
        return []
    windows = _windows(monitor, description, now=now)
    if not windows:
        return []
    series = _largest(_counted(monitor, source, windows[0].start, windows[-1].end, now=now))
    if series is None:
        return []
    method, purity = monitor.assumed_prior, monitor.label_purity
    return worth_of_audits(
        WindowRows(
            start=windows[0].start,
            end=windows[-1].end,
            table=series.table,
            rows=series.predictions,
            confirmed=series.labeled,
        ),
        windows=len(windows),
        method=method if isinstance(method, str) else "auto",
        label_purity=1.0 if isinstance(purity, str) else purity,
        rng=seed_of(None, model_version=series.model_version, segment=""),
    )


def impossible_prior(monitor: Monitor, source: PredictionSource, *, now: datetime) -> Iterator[str]:
    """Warning if more rows of the given period are confirmed than its class prior allows."""
    known, purity = monitor.prior_of_period, monitor.label_purity
    if known is None:
        return
    tables = _counted(monitor, source, *known.span(monitor.zone), now=now)
    whole = [one for one in tables if one.segment == ""]
    share = ConfirmedShare(
        labeled=sum(one.labeled for one in whole), rows=sum(one.predictions for one in whole)
    )
    high = known.high / (1.0 if isinstance(purity, str) else purity)
    if share.rows and confirmed_beyond(share, high) < _LEVEL:
        yield (
            "class_prior is given as "
            f"{with_interval(known.value, known.low, known.high, as_text=given_text)} for "
            f"{known.start} to {known.end}, and {share.labeled:,} of {share.rows:,} rows of that "
            f"period are confirmed ({number_text(share.labeled / share.rows)}), which is more than "
            "this share of positives: check the share, its period, and that it is the share among "
            "the rows that are scored"
        )


def _counted(
    monitor: Monitor, source: PredictionSource, start: datetime, end: datetime, *, now: datetime
) -> tuple[SeriesTable, ...]:
    """Rows of a period as of now, from one query; none where they cannot be counted."""
    window = Window(start=start, end=end, index=0)
    pane = Pane(window=window, number=0, state="mature", as_of=now)
    request = CountRequest(window=window, as_of=(now,), threshold=monitor.threshold)
    try:
        return tables_of(source.counts(request), [pane], threshold=monitor.threshold)
    except PumonitorError:
        return ()  # reported where the rows are read


def _windows(monitor: Monitor, description: SourceDescription, *, now: datetime) -> list[Window]:
    """Mature windows with predictions: those of the reference, or else the first ones."""
    first, last = description.first, description.last
    if first is None or last is None:
        return []
    mature = min(last, now - monitor.maturity)
    if mature <= first:
        return []
    whole = [
        one
        for one in monitor.windows.between(first, mature)
        if first <= one.start and one.end <= mature
    ]
    period = baseline_period(monitor)
    if period.start is not None and period.end is not None:
        inside = [one for one in whole if period.start <= one.start and one.end <= period.end]
        whole = inside or whole
    return whole[:_MOST_WINDOWS]


def _largest(tables: Sequence[SeriesTable]) -> SeriesTable | None:
    """The model version with the most confirmed rows, over all segments."""
    whole = [one for one in tables if one.segment == "" and one.table is not None]
    return max(whole, key=lambda one: (one.labeled, one.model_version), default=None)
