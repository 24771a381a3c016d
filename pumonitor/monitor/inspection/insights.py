"""Queries on the ledger that the commands, pages and the exporter share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from pumonitor.monitor.inspection.held_up import hold_up_notes
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.results import PublishedResult, StoredEvaluation
from pumonitor.monitor.views.alerts import by_urgency
from pumonitor.monitor.views.condition import MonitorCondition
from pumonitor.monitor.views.insights import EstimateOfWindowView, InsightView, WindowInsightView
from pumonitor.monitor.views.labels import LabelsView
from pumonitor.monitor.views.windows import WorkView
from pumonitor.monitor.windows.input_findings import findings_of_counts, summed_up
from pumonitor.monitor.windows.messages.window_messages import verdict_of
from pumonitor.plain_text import one_line
from pumonitor.results import Finding
from pumonitor.text import moment_cell

SHOWN: Final = ("class_prior", "aul", "auc", "precision", "recall", "f1")
_RECENT: Final = timedelta(days=400)
_FEW: Final = 30
_PARTS: Final = ("aul_change_prior", "aul_change_ranking")


def insight_of(
    ledger: Ledger,
    monitor: str,
    *,
    now: datetime,
    condition: MonitorCondition | None = None,
    beginning: str = "",
    end: str = "",
    labels: LabelsView | None = None,
    page: str | None = None,
) -> InsightView:
    """The newest mature window, the newest window, and the work that is left.

    Parameters
    ----------
    ledger : Ledger
    monitor : str
    now : datetime
    condition : MonitorCondition, optional
    beginning : str
        Note on the first window, shown while there are few windows.
    end : str
        Note on the last window with predictions.
    labels : LabelsView, optional
    page : str, optional
        Address of its page.
    """
    backlog = ledger.counts(now=now, monitor=monitor)
    newest = (ledger.newest_with_results(monitor, mature=True), ledger.newest_with_results(monitor))
    chosen = {window.start: window for window in newest if window is not None}
    evaluated = ledger.number_evaluated(monitor)
    latest = max(chosen, default=now)
    counted = ledger.newest_counts(monitor, since=latest - _RECENT)
    insights: list[WindowInsightView] = []
    for window in chosen.values():
        by_series: dict[tuple[str, str], list[PublishedResult]] = {}
        for row in ledger.results(monitor, since=window.start, until=window.end):
            if row.window_start == window.start:
                by_series.setdefault((row.model_version, row.segment), []).append(row)
        stored = _evaluations(ledger, monitor, window.start)
        insights += [
            _window_insight(ledger, rows, stored.get(series)) for series, rows in by_series.items()
        ]
    return InsightView(
        monitor=monitor,
        backlog=WorkView.from_record(backlog, monitor=monitor),
        latest=insights,
        findings=[
            *([beginning] if beginning and evaluated <= _FEW else []),
            *([end] if end else []),
            *summed_up(findings_of_counts(monitor, counted)),
        ],
        evaluated=evaluated,
        condition=condition,
        waiting=list(hold_up_notes(ledger.hold_ups(monitor))) if backlog.failing else [],
        labels=labels,
        page=page,
    )


def _evaluations(
    ledger: LedgerReader, monitor: str, start: datetime
) -> dict[tuple[str, str], StoredEvaluation]:
    """One evaluation for each series of a window."""
    return {
        (one.model_version, one.segment): one for one in ledger.evaluations(monitor, start=start)
    }


def doubts_in(evaluation: Mapping[str, Any]) -> tuple[str, ...]:
    """Reasons to doubt a class prior."""
    from pumonitor.monitor.windows.class_prior.stored_findings import stored_findings

    return tuple(map(str, stored_findings(evaluation)))


def findings_in(evaluation: Mapping[str, Any]) -> tuple[Finding, ...]:
    """What diagnostics and reviews found about a window, warnings first; without `doubts_in`."""
    doubts = doubts_in(evaluation)
    findings = [Finding(**stored) for stored in evaluation.get("warnings", ())]
    return tuple(
        sorted(
            (finding for finding in findings if str(finding) not in doubts),
            key=lambda finding: finding.severity != "warning",
        )
    )


def finding_notes(
    ledger: Ledger, rows: Sequence[PublishedResult], *, segment: str = ""
) -> list[str]:
    """Findings of the newest mature window among results, and what the newest one adds to them."""
    notes: dict[str, str] = {}
    for states in (("mature", "final"), ("provisional", "mature", "final")):
        newest = max(
            (row for row in rows if row.segment == segment and row.state in states),
            key=lambda row: (row.window_start, row.model_version, row.revision),
            default=None,
        )
        if newest is None:
            continue
        stored = ledger.evaluation_behind(newest)
        when = moment_cell(newest.window_start)
        for finding in () if stored is None else findings_in(stored.evaluation):
            said = f"{finding.severity.capitalize()}, {when}: {finding}"
            notes.setdefault(finding.name, said)
    return list(notes.values())


def undefined_notes(rows: Sequence[PublishedResult]) -> list[str]:
    """Windows of which no metric has a value, with the reason, a line for each reason."""
    by_window: dict[tuple[datetime, str, str], list[PublishedResult]] = {}
    for row in rows:
        key = row.window_start, row.model_version, row.segment
        by_window.setdefault(key, []).append(row)
    without: dict[str, list[datetime]] = {}
    for (start, _, _), of_window in by_window.items():
        if all(row.value is None for row in of_window):
            reason = of_window[0].undefined_reason or "no reason is known"
            without.setdefault(reason, []).append(start)
    notes = []
    for reason, starts in without.items():
        when = moment_cell(max(starts))
        others = len(set(starts)) - 1
        more = f" and {others} other window{'s' if others > 1 else ''}" if others else ""
        notes.append(f"No numbers, {when}{more}: {reason}")
    return notes


def _evaluation(
    ledger: LedgerReader, monitor: str, start: datetime, version: str
) -> Mapping[str, Any]:
    """That of all rows of a window; empty if there is none."""
    stored = _evaluations(ledger, monitor, start).get((version, ""))
    return {} if stored is None else stored.evaluation


def prior_said(ledger: Ledger, stored: StoredEvaluation) -> str:
    """Sentences on the source of a followed class prior, on what changed and what is unknown of it.

    What changed has one answer: where an alert fires, its cause says it.
    """
    evaluation = stored.evaluation
    audit = evaluation.get("made_with", {}).get("audit")
    if audit is not None:
        from pumonitor.monitor.windows.evaluation.audited_windows import which_windows

        of = which_windows(audit)
        comma = "," if "," in of else ""
        return (
            f"The class prior comes from the audit {audit['audit']} of {of}{comma} and the "
            "confirmations of this one."
        )
    over_time = _over_time(evaluation)
    if over_time is None:
        return ""
    from pumonitor.prior.followed.in_words import prior_origin, prior_sentences

    cause = _cause_now(ledger, stored)
    return f"{prior_origin(over_time)} {cause}" if cause else prior_sentences(over_time)


def _cause_now(ledger: Ledger, stored: StoredEvaluation) -> str:
    """Cause of the most urgent alert that fires since a window or before; "" if none does."""
    # It loads templates of messages, which commands that only read do without.
    from pumonitor.monitor.inspection.alerts_shown import alert_views

    alerts = alert_views(
        ledger, now=stored.as_of, monitors=[stored.monitor], firing=True, in_full=True
    )
    for alert in by_urgency(alerts):
        began = alert.firing_since or alert.window_start
        of_series = (alert.model_version, alert.segment) == (stored.model_version, stored.segment)
        if of_series and alert.names_cause and began is not None and began <= stored.window.start:
            return alert.cause
    return ""


def _over_time(evaluation: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The stored details of a class prior that is followed."""
    made_with = evaluation.get("made_with", {})
    stored = None if "audit" in made_with else made_with.get("class_prior")
    found: Mapping[str, Any] | None = (stored or {}).get("diagnostics", {}).get("over_time")
    return found


def doubts_of(ledger: LedgerReader, monitor: str) -> tuple[str, ...]:
    """Reasons to doubt the class prior of the newest mature window of all rows."""
    found = [
        said
        for (version, segment), start in ledger.newest_mature(monitor).items()
        if segment == ""
        for said in doubts_in(_evaluation(ledger, monitor, start, version))
    ]
    return tuple(dict.fromkeys(found))


def features_left_out(ledger: LedgerReader, monitor: str) -> list[tuple[datetime, str]]:
    """Newest mature window of all rows whose class prior goes without features, and why."""
    found = []
    for (version, segment), start in ledger.newest_mature(monitor).items():
        if segment == "":
            reason = (_over_time(_evaluation(ledger, monitor, start, version)) or {}).get(
                "index_reason"
            )
            found += [(start, str(reason))] if reason else []
    return found


def prior_notes(ledger: Ledger, rows: Sequence[PublishedResult], *, segment: str = "") -> list[str]:
    """Sentences on the class priors of the newest window among results.

    Parameters
    ----------
    ledger : Ledger
    rows : sequence of PublishedResult
        Of one monitor.
    segment : str
    """
    newest = max((row.window_start for row in rows), default=None)
    notes = []
    of_window = (row for row in rows if (row.window_start, row.segment) == (newest, segment))
    for row in {row.model_version: row for row in of_window}.values():
        stored = ledger.evaluation_behind(row)
        said = "" if stored is None else prior_said(ledger, stored)
        if said:
            version = f", version {one_line(row.model_version)}" if row.model_version else ""
            when = moment_cell(row.window_start)
            notes.append(f"class_prior of {when}{version}: {said}")
    return notes


def _window_insight(
    ledger: Ledger, rows: Sequence[PublishedResult], stored: StoredEvaluation | None
) -> WindowInsightView:
    first = rows[0]
    numbers = {row.metric: EstimateOfWindowView.model_validate(row) for row in rows}
    nothing = EstimateOfWindowView()

    def some(names: Sequence[str], ending: str = "") -> dict[str, EstimateOfWindowView]:
        return {name: numbers[name + ending] for name in names if name + ending in numbers}

    def count(name: str) -> int | None:
        value = numbers.get(name, nothing).value
        return None if value is None else round(value)

    return WindowInsightView.from_record(
        first,
        start=first.window_start,
        end=first.window_end,
        predictions=count("predictions"),
        labeled_positives=count("labeled_positives"),
        label_maturity=numbers.get("label_maturity", nothing),
        estimates=some(SHOWN),
        expected=some(SHOWN, "_expected"),
        changes={**some(SHOWN, "_change"), **some(_PARTS)},
        verdict="unknown" if first.state == "provisional" else verdict_of(rows),
        doubts=[] if stored is None else list(doubts_in(stored.evaluation)),
        class_prior_said="" if stored is None else prior_said(ledger, stored),
    )
