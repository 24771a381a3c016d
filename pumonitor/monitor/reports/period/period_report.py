"""The report of a period as one page: read from the ledger, worded, drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import numpy as np

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.alerts.alerts import StoredAlerts
from pumonitor.monitor.ledger.notes import StoredNotes
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.columns import ResultColumns
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.reports.metric_over_windows import MetricOverWindows, metric_over_windows
from pumonitor.monitor.reports.period.events import (
    by_window_and_version,
    configurations_said,
    marks_of,
    notes_said,
    numbers_of,
    versions_of,
)
from pumonitor.monitor.reports.period.looks import arrived_by_age, expected_and_realised
from pumonitor.monitor.reports.period.metrics_shown import (
    HEADLINES,
    MOST_DRAWN,
    MetricShown,
    assumed_value,
    metric_shown,
    names_read,
    verdicts,
)
from pumonitor.monitor.rules.windows.named_period import NamedPeriod
from pumonitor.monitor.views.alerts import AlertEventView, alert_event_view
from pumonitor.monitor.windows.class_prior.stored_findings import stored_findings
from pumonitor.monitor.windows.evaluation.baseline import BaselinePeriod, baseline_period
from pumonitor.monitor.windows.input_findings import findings_of_windows, odd_rows, summed_up
from pumonitor.names import title
from pumonitor.plain_text import one_line, series_of
from pumonitor.text import count_text, moment_cell, number_text

if TYPE_CHECKING:
    from jinja2 import Template

_MOST_RESULTS: Final = 300_000
_MOST_EVENTS: Final = 1000
_MOST_ROWS: Final = 400
"""Most windows in the table: a browser takes more, a printer does not."""
_MOST_REASONS: Final = 3
_MOST_NAMED: Final = 4
_MOST_COMPARED: Final = 1000
"""Most windows whose early looks are compared with what became of them."""


def period_report(
    monitor: Monitor,
    ledger: LedgerReader,
    period: NamedPeriod,
    *,
    now: datetime,
    pages: PageAddresses | None = None,
) -> str | None:
    """The report of all rows of a monitor as one HTML page that needs nothing else.

    Windows are shown one by one, with the numbers of ``pumonitor results``. They are not added up
    to one estimate of the period: that needs to know how the errors of their class priors hang
    together, which no window's result says.

    Parameters
    ----------
    monitor : Monitor
    ledger : LedgerReader
    period : NamedPeriod
    now : datetime
    pages : PageAddresses, optional
        Of the pages that the report links to.

    Returns
    -------
    str or None
        None if no window that starts in the period has results.
    """
    zone, name = ZoneInfo(monitor.zone), monitor.name
    columns = ledger.series_of(
        names_read(),
        monitors=[name],
        since=period.start,
        until=period.end,
        limit=_MOST_RESULTS,
    )
    over = metric_over_windows(columns, "predictions")
    if not len(over):
        return None
    records = ledger.windows(name, since=period.start, until=period.end)
    alerts = StoredAlerts(ledger.database)
    before, events = (
        [alert_event_view(one, destinations=(), people=(), pages=pages) for one in stored]
        for stored in (
            alerts.firing_at(name, period.start, limit=_MOST_EVENTS),
            alerts.history(name, windows=(period.start, period.end), limit=_MOST_EVENTS),
        )
    )
    marks = marks_of(events)
    notes = StoredNotes(ledger.database).all(
        name, since=period.start, until=period.end, limit=_MOST_EVENTS
    )
    found = (metric_shown(columns, one, zone=zone, marks=marks) for one in HEADLINES)
    metrics = [one for one in found if one is not None]
    configuration = ledger.configuration(name)
    own = [one for one in records if one.configuration == configuration]
    return _template().render(
        monitor=name,
        period=period.name,
        context=_context(monitor, period, columns, now=now) | _assumed(columns),
        page=None if pages is None else pages.monitor(name),
        lead=_lead(over, before, events, verdicts(columns), reference=baseline_period(monitor)),
        metrics=metrics,
        before=before,
        events=events,
        numbers=numbers_of(events),
        when=partial(moment_cell, zone=zone),
        series_of=series_of,
        one_line=one_line,
        notes=notes_said(notes, zone=zone),
        windows=_windows(name, over, metrics, pages, zone=zone),
        has_marks=any(one.value.endswith("!") for some in metrics for one in some.numbers),
        left_out=max(0, len(over) - _MOST_ROWS),
        versions=versions_of(columns, zone=zone),
        unsure=_unsure(over, metrics, own, _newest(ledger, name, over)),
        refused=[*summed_up(findings_of_windows(own)), *odd_rows(own)],
        configurations=configurations_said(
            records, ledger.configurations(name), current=configuration, zone=zone
        ),
        **_looks(ledger, name, over, period, metrics),
    )


def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("pumonitor.monitor.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("period.html")


def _context(
    monitor: Monitor,
    period: NamedPeriod,
    columns: ResultColumns,
    *,
    now: datetime,
) -> dict[str, str]:
    import pumonitor

    zone = ZoneInfo(monitor.zone)

    predictions, confirmed = (
        count_text(round(sum(by_window_and_version(columns, one).values())))
        for one in ("predictions", "labeled_positives")
    )
    return {
        "Windows that start": f"from {moment_cell(period.start, zone)} to before "
        f"{moment_cell(period.end, zone)} ({monitor.zone})",
        "Length of a window": monitor.window,
        "Predictions": predictions,
        "Confirmed positives": confirmed,
        "Threshold": f"{monitor.threshold:g}",
        "Known by": moment_cell(now, zone),
        "pumonitor": pumonitor.__version__,
    }


def _assumed(columns: ResultColumns) -> dict[str, str]:
    values = {title(name): assumed_value(columns, name) for name in HEADLINES}
    return {
        heading: f"{number_text(value)}, assumed"
        for heading, value in values.items()
        if value is not None
    }


def _lead(
    over: MetricOverWindows,
    before: Sequence[AlertEventView],
    events: Sequence[AlertEventView],
    compared: Mapping[datetime, str],
    *,
    reference: BaselinePeriod,
) -> list[str]:
    """What to know first, in sentences."""
    mature = len(over) - int(over.provisional.sum())
    said = [f"{_counted(len(over), 'window')} with predictions, of which {mature} mature."]
    worse, level = (list(compared.values()).count(one) for one in ("degraded", "level"))
    if worse or level:
        own = sum(
            reference.start is not None
            and reference.start <= start < (reference.end or reference.start)
            for start, early in zip(over.starts, over.provisional, strict=True)
            if not early and compared.get(start) not in ("degraded", "level")
        )
        left = mature - worse - level - own
        said.append(
            f"Compared with the reference, {_counted(worse, 'window')} surely worse and {level} not"
            f"{f'; {own} of the reference itself' if own else ''}"
            f"{f'; {left} could not be compared' if left > 0 else ''}."
        )
    else:
        said.append("No window could be compared with a reference.")
    fired = [event for event in events if event.kind == "fired"]
    if not fired and not before:
        return [*said, "No alert fired."]
    parts = [
        f"{_counted(len(fired), 'alert')} fired{_severities(fired)}" if fired else "No alert fired"
    ]
    if before:
        was = "was" if len(before) == 1 else "were"
        parts.append(f"{len(before)} {was} firing from before{_severities(before)}")
    resolved = sum(event.kind == "resolved" for event in events)
    parts.append(f"{_counted(resolved, 'alert')} ended" if resolved else "none ended")
    return [*said, f"{'; '.join(parts)}."]


def _severities(events: Sequence[AlertEventView]) -> str:
    numbers = Counter(event.severity for event in events)
    return f" ({', '.join(f'{many} {severity}' for severity, many in sorted(numbers.items()))})"


def _windows(
    name: str,
    over: MetricOverWindows,
    metrics: Sequence[MetricShown],
    pages: PageAddresses | None,
    *,
    zone: ZoneInfo,
) -> list[dict[str, Any]]:
    """Lines of the table of all windows, the newest last."""
    found = []
    for place in range(max(0, len(over) - _MOST_ROWS), len(over)):
        start, version = over.starts[place], over.versions[place]
        counts = (float(over.counted[one][place]) for one in ("predictions", "labeled_positives"))
        found.append(
            {
                "when": moment_cell(start, zone),
                "page": None if pages is None else pages.window(name, start, version),
                "state": over.states[place],
                "counts": [count_text(round(one)) if np.isfinite(one) else "–" for one in counts],
                "numbers": [one.numbers[place] for one in metrics],
            }
        )
    return found


def _newest(ledger: LedgerReader, name: str, over: MetricOverWindows) -> StoredEvaluation | None:
    """The evaluation of the newest mature window, whose words on the class prior are shown."""
    places = np.flatnonzero(~over.provisional)
    if not places.size:
        return None
    place = int(places[-1])
    found = ledger.evaluations(
        name,
        start=over.starts[place],
        model_version=over.versions[place],
        segment="",
    )
    return found[-1] if found else None


def _unsure(
    over: MetricOverWindows,
    metrics: Sequence[MetricShown],
    records: Sequence[WindowRecord],
    newest: StoredEvaluation | None,
) -> list[str]:
    """What the reader should not rely on, in sentences."""
    said = []
    if early := int(over.provisional.sum()):
        said.append(
            f"Labels of {_counted(early, 'window')} still arrive: their values are hollow in the "
            "charts, and lowest and highest values leave them out."
        )
    if left := sum(all(pane.revision is None for pane in one.panes) for one in records):
        said.append(f"{_counted(left, 'window')} of the period not evaluated yet.")
    if over.is_cut:
        said.append("The period has more results than were read: its first windows are left out.")
    if len(over) > MOST_DRAWN:
        said.append(
            f"Charts have the newest {count_text(MOST_DRAWN)} of {count_text(len(over))} windows."
        )
    for one in metrics:
        when: dict[str, list[str]] = {}
        for each in one.numbers:
            if each.reason:
                when.setdefault(each.reason, []).append(each.when)
        common = sorted(when.items(), key=lambda found: -len(found[1]))
        said += [
            f"{one.title}, {_windows_of(some)}: {reason}."
            for reason, some in common[:_MOST_REASONS]
        ]
        if more := sum(len(some) for _, some in common[_MOST_REASONS:]):
            said.append(f"{one.title}: {_counted(more, 'further window')} with other such reasons.")
    if newest is not None:
        said += map(str, stored_findings(newest.evaluation))
        said += _of_followed_prior(newest)
    said.append(
        "Windows are not added up to one estimate of the period: the errors of their class priors "
        "hang together, and no window's result says how."
    )
    return said


def _windows_of(starts: Sequence[str]) -> str:
    """Windows by their starts, the newest last."""
    if len(starts) == 1:
        return f"window of {starts[0]}"
    if len(starts) <= _MOST_NAMED:
        return f"windows of {', '.join(starts)}"
    return f"{len(starts)} windows, the newest of {starts[-1]}"


def _of_followed_prior(newest: StoredEvaluation) -> list[str]:
    made_with = newest.evaluation.get("made_with", {})
    prior = ({} if "audit" in made_with else made_with.get("class_prior")) or {}
    over_time = prior.get("diagnostics", {}).get("over_time")
    if over_time is None:
        return []
    from pumonitor.prior.followed.in_words import prior_sentences

    return [f"Class prior of the newest mature window: {prior_sentences(over_time)}"]


def _looks(
    ledger: LedgerReader,
    name: str,
    over: MetricOverWindows,
    period: NamedPeriod,
    metrics: Sequence[MetricShown],
) -> dict[str, Any]:
    since = over.starts[-_MOST_COMPARED:][0]
    counts = ledger.results(
        name,
        since=since,
        until=period.end,
        segment="",
        metrics=["labeled_positives"],
        revisions="all",
    )
    realised = {
        one.name: ledger.realised(name, one.name, since=since, until=period.end) for one in metrics
    }
    return {"expected": expected_and_realised(realised), "arrived": arrived_by_age(counts)}


def _counted(many: int, what: str) -> str:
    return f"{many} {what}{'' if many == 1 else 's'}"
