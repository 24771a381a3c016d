"""Queries on the ledger that the commands, pages and the exporter share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pumonitor.monitor.inspection.held_up import hold_up_notes
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.results import (
    MetricResult,
    PublishedResult,
    StoredEvaluation,
)
from pumonitor.monitor.ledger.records.windows import Backlog
from pumonitor.monitor.ledger.results.read_results import Revisions
from pumonitor.monitor.views.condition import MonitorCondition
from pumonitor.monitor.windows.input_findings import findings_of_counts, summed_up
from pumonitor.monitor.windows.messages.window_messages import verdict_of
from pumonitor.plain_text import one_line
from pumonitor.ports import State
from pumonitor.results import Finding
from pumonitor.text import moment_cell

SHOWN: Final = ("class_prior", "aul", "auc", "precision", "recall", "f1")
_RECENT: Final = timedelta(days=400)
_FEW: Final = 30
_PARTS: Final = ("aul_change_prior", "aul_change_ranking")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A value with its interval; all None where it is undefined.

    Attributes
    ----------
    value, low, high : float or None
    infeasible_reason : str or None
        Why the number cannot be right.
    assumed : bool
        Whether it was assumed in the configuration and not estimated.
    """

    value: float | None
    low: float | None
    high: float | None
    infeasible_reason: str | None = None
    assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowInsight:
    """Estimates, doubts and comparison with the reference of one window of one series.

    Attributes
    ----------
    start, end : datetime
    model_version, segment : str
    state : {"provisional", "mature", "final"}
    predictions, labeled_positives : int or None
    label_maturity : Number
        Share of the expected confirmations that have arrived.
    estimates, expected, changes : mapping of str to Number
        Estimates now, those expected when all labels have arrived, and changes from the reference.
    verdict : str
        "degraded", "level" or "unknown".
    doubts : tuple of str
        Evidence against an assumed class prior.
    class_prior_said : str
        Source of a followed class prior, changes since the reference, and what remains unknown; ""
        if it is not followed.
    """

    start: datetime
    end: datetime
    model_version: str
    segment: str
    state: State
    predictions: int | None
    labeled_positives: int | None
    label_maturity: Number
    estimates: dict[str, Number]
    expected: dict[str, Number]
    changes: dict[str, Number]
    verdict: str
    doubts: tuple[str, ...] = ()
    class_prior_said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """Present state of a monitor: its newest windows, what is late, and what is doubtful.

    Attributes
    ----------
    monitor : str
    backlog : Backlog
    latest : tuple of WindowInsight
        The newest window with predictions that is mature, and the newest of all with predictions
        if that is another, by series.
    findings : tuple of str
        Findings about the rows of the windows in the 400 days up to the newest.
    evaluated : int
        Number of evaluated windows, including those without predictions.
    condition : MonitorCondition or None
    waiting : tuple of str
        Which windows wait for which earlier one that cannot be counted, and the remedy.
    """

    monitor: str
    backlog: Backlog
    latest: tuple[WindowInsight, ...]
    findings: tuple[str, ...] = ()
    evaluated: int = 0
    condition: MonitorCondition | None = None
    waiting: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "monitor": self.monitor,
            "backlog": plain(asdict(self.backlog)),
            "latest": [plain(asdict(window)) for window in self.latest],
            "findings": list(self.findings),
            "evaluated": self.evaluated,
            "condition": None if self.condition is None else self.condition.to_dict(),
            "waiting": list(self.waiting),
        }


def results_of(
    ledger: LedgerReader,
    monitor: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    model_version: str | None = None,
    segment: str | None = None,
    metrics: Sequence[str] | None = None,
    states: Sequence[State] | None = None,
    revisions: Revisions = "latest",
) -> list[PublishedResult]:
    """Stored results, one row per window, series and metric."""
    return list(
        ledger.results(
            monitor,
            since=since,
            until=until,
            model_version=model_version,
            segment=segment,
            metrics=metrics,
            states=states,
            revisions=revisions,
        )
    )


def plain_row(row: PublishedResult) -> dict[str, Any]:
    """The fields of `pumonitor results` in their order, times as ISO 8601 in UTC."""
    found: dict[str, Any] = plain(asdict(row))
    return found


def insight_of(
    ledger: Ledger,
    monitor: str,
    *,
    now: datetime,
    condition: MonitorCondition | None = None,
    beginning: str = "",
    end: str = "",
) -> Insight:
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
    """
    backlog = ledger.counts(now=now, monitor=monitor)
    newest = (ledger.newest_with_results(monitor, mature=True), ledger.newest_with_results(monitor))
    chosen = {window.start: window for window in newest if window is not None}
    evaluated = ledger.number_evaluated(monitor)
    latest = max(chosen, default=now)
    counted = ledger.newest_counts(monitor, since=latest - _RECENT)
    insights: list[WindowInsight] = []
    for window in chosen.values():
        rows = ledger.results(monitor, since=window.start, until=window.end)
        by_series: dict[tuple[str, str], list[PublishedResult]] = {}
        for row in rows:
            if row.window_start == window.start:
                by_series.setdefault((row.model_version, row.segment), []).append(row)
        stored = _evaluations(ledger, monitor, window.start)
        for key, some in by_series.items():
            insight = _window_insight(some)
            if key in stored:
                insight = replace(
                    insight,
                    doubts=doubts_in(stored[key].evaluation),
                    class_prior_said=prior_said(ledger, stored[key]),
                )
            insights.append(insight)
    return Insight(
        monitor=monitor,
        backlog=backlog,
        latest=tuple(insights),
        findings=(
            *([beginning] if beginning and evaluated <= _FEW else []),
            *([end] if end else []),
            *summed_up(findings_of_counts(monitor, counted)),
        ),
        evaluated=evaluated,
        condition=condition,
        waiting=tuple(hold_up_notes(ledger.hold_ups(monitor))) if backlog.failing else (),
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
    # It loads what reads audits, which commands that only read do without.
    from pumonitor.monitor.inspection.alerts_shown import alerts_shown, by_urgency
    from pumonitor.monitor.inspection.audits_since import AuditsSince

    shown = alerts_shown(
        ledger.alerts,
        now=stored.as_of,
        monitors=[stored.monitor],
        firing=True,
        audits=AuditsSince(ledger),
    )
    for one in by_urgency(shown):
        began = one.alert.firing_since or one.alert.window_start
        of_series = (one.alert.model_version, one.alert.segment) == (
            stored.model_version,
            stored.segment,
        )
        if of_series and one.names_cause and began is not None and began <= stored.window.start:
            return one.cause
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


def _window_insight(rows: Sequence[PublishedResult]) -> WindowInsight:
    first = rows[0]
    numbers = {
        row.metric: Number(
            value=row.value,
            low=row.low,
            high=row.high,
            infeasible_reason=row.infeasible_reason,
            assumed=row.assumed,
        )
        for row in rows
    }
    nothing = Number(value=None, low=None, high=None)

    def some(names: Sequence[str], ending: str = "") -> dict[str, Number]:
        return {name: numbers[name + ending] for name in names if name + ending in numbers}

    def count(name: str) -> int | None:
        value = numbers.get(name, nothing).value
        return None if value is None else round(value)

    return WindowInsight(
        start=first.window_start,
        end=first.window_end,
        model_version=first.model_version,
        segment=first.segment,
        state=first.state,
        predictions=count("predictions"),
        labeled_positives=count("labeled_positives"),
        label_maturity=numbers.get("label_maturity", nothing),
        estimates=some(SHOWN),
        expected=some(SHOWN, "_expected"),
        changes={**some(SHOWN, "_change"), **some(_PARTS)},
        verdict="unknown" if first.state == "provisional" else _verdict(rows),
    )


def _verdict(rows: Sequence[PublishedResult]) -> str:
    """How the window compares with the reference, in a word."""
    return verdict_of(
        [
            MetricResult(
                metric=row.metric,
                value=row.value,
                low=row.low,
                high=row.high,
                infeasible_reason=row.infeasible_reason,
            )
            for row in rows
        ]
    )


def plain(value: Any) -> Any:
    """Values as JSON takes them: times as ISO 8601 in UTC."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value
