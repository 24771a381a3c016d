"""Answers about windows and their results."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final

from pumonitor.monitor.dashboard.api.answers import Results, WindowAnswer, Windows
from pumonitor.monitor.dashboard.api.problems import ProblemError
from pumonitor.monitor.dashboard.api.queries import ResultsQuery, WindowQuery, WindowsQuery
from pumonitor.monitor.dashboard.api.reading import Reading, key_asked, next_cursor
from pumonitor.monitor.dashboard.api.values import read_time
from pumonitor.monitor.dashboard.pages.window_page import window_found
from pumonitor.monitor.inspection.insights import doubts_in, findings_in, prior_said
from pumonitor.monitor.page_addresses import version_read
from pumonitor.monitor.views.windows import FindingView, window_view

_SOME_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
_OF_A_RESULT: Final = ("", _SOME_TIME, "", "", "", 0)
_OF_A_WINDOW: Final = ("", _SOME_TIME)


def windows_answer(reading: Reading, path: Mapping[str, str], query: WindowsQuery) -> Windows:
    """Windows of a monitor, the newest first."""
    name = reading.seen(path["monitor"])
    before = key_asked(query, [_SOME_TIME], of=[name])
    found, more = reading.ledger.windows_before(
        None if before is None else before[0],
        monitor=name,
        since=query.moment("since"),
        until=query.moment("until"),
        limit=query.limit,
    )
    return Windows(
        items=[window_view(record) for record in found],
        next=next_cursor(query, [found[-1].window.start] if more else None, of=[name]),
    )


def window_answer(reading: Reading, path: Mapping[str, str], query: WindowQuery) -> WindowAnswer:
    """One window with the results of one series."""
    name, start = reading.seen(path["monitor"]), read_time(path["start"])
    asked = {key: str(value) for key, value in query.model_dump(exclude_none=True).items()}
    found = None if start is None else window_found(reading.ledger, name, start, asked)
    if found is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such window or revision")
    chosen = found.chosen
    return WindowAnswer.from_record(
        window_view(found.record),
        model_version=found.version,
        model_versions=list(found.versions),
        segment=found.segment,
        revision=None if chosen is None else chosen.revision,
        revisions=[one.revision for one in found.revisions],
        results=list(found.rows.values()),
        doubts=[] if chosen is None else list(doubts_in(chosen.evaluation)),
        findings=[]
        if chosen is None
        else [FindingView.model_validate(one) for one in findings_in(chosen.evaluation)],
        class_prior_said="" if chosen is None else prior_said(reading.ledger, chosen),
    )


def results_answer(reading: Reading, path: Mapping[str, str], query: ResultsQuery) -> Results:
    """Results of all monitors, in stretches."""
    monitors = (
        reading.access.visible()
        if query.monitor is None
        else [reading.seen(name) for name in query.monitor]
    )
    key = key_asked(query, _OF_A_RESULT, _OF_A_WINDOW)
    columns, after = reading.ledger.results_after(
        None if key is None else tuple(key),
        monitors=monitors,
        since=query.moment("since"),
        until=query.moment("until"),
        model_version=version_read(query.version),
        segment=query.segment,
        metrics=query.metric,
        states=query.state,
        revisions=query.revisions,
        limit=query.limit,
    )
    return Results(items=columns.results(), next=next_cursor(query, after))
