"""Make the report files of a window from the ledger, on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from pumonitor.audit.estimates import AuditedEstimates, EstimatesByBin
from pumonitor.audit.fairness import check_fairness
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.ledger.results.prior_states import class_priors_over_windows
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.reports.region_over_windows import no_pure_region_in_windows
from pumonitor.monitor.reports.window_history import window_history
from pumonitor.monitor.reports.window_report import window_files
from pumonitor.monitor.windows.class_prior.by_audits import past_audit
from pumonitor.monitor.windows.class_prior.stored_findings import stored_findings
from pumonitor.monitor.windows.evaluation.audited_windows import read_again
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_from_json
from pumonitor.monitor.windows.input_findings import findings_of
from pumonitor.names import title
from pumonitor.plain_text import one_line
from pumonitor.ports import Window
from pumonitor.report.prior_chart import PriorHistory, PriorLevel, PriorPoint
from pumonitor.results import ClassPriorEstimate, Finding
from pumonitor.tables import ScoreTable
from pumonitor.text import moment_text, window_text

_WINDOWS: Final = 60
_FEWEST: Final = 2


def window_files_of(
    monitors: Mapping[str, Monitor],
    ledger: LedgerReader,
    asked: Mapping[str, Any],
    *,
    pages: PageAddresses | None = None,
) -> dict[str, str]:
    """`report.html` and `evaluation.json` of one series of a pane; none if it has no numbers.

    Parameters
    ----------
    monitors : mapping of str to Monitor
    ledger : LedgerReader
    asked : mapping
        The pane and series, as `pumonitor.monitor.windows.messages.window_messages` stores them.
    pages : PageAddresses, optional
        Of the pages that the report links to.
    """
    found = ledger.evaluation_of(
        asked["window_key"],
        revision=asked["revision"],
        model_version=asked["model_version"],
        segment=asked["segment"],
    )
    if found is None or found.monitor not in monitors:
        return {}
    monitor = monitors[found.monitor]
    made_with = found.evaluation["made_with"]
    table = next(
        (
            one.table()
            for one in ledger.series(found.window_key, found.number)
            if (one.model_version, one.segment) == (found.model_version, found.segment)
        ),
        None,
    )
    if table is None or found.evaluation["undefined_reason"]:
        return {}
    reading = reading_of_window(found, table, ledger)
    prior = (
        class_prior_from_json(made_with["class_prior"]) if reading is None else reading.class_prior
    )
    if prior is None:
        return {}
    priors, history = prior_history(found, ledger), window_history(found, ledger)
    if priors is not None:
        history.pop(title("class_prior"), None)  # it has a picture of its own
    return window_files(
        table,
        prior,
        threshold=monitor.threshold,
        title=found.monitor,
        context=_context(found, ledger, pages),
        findings=[
            *stored_findings(found.evaluation),
            *_of_windows(found, monitor, prior, ledger),
        ],
        history=history,
        prior_history=priors,
        label_purity=monitor.label_purity,
        label_origin=monitor.label_origin,
        rng=made_with["seed"],
        audit=reading,
    )


def _of_windows(
    found: StoredEvaluation,
    monitor: Monitor,
    class_prior: ClassPriorEstimate,
    ledger: LedgerReader,
) -> list[Finding]:
    """Warning about the class prior that needs the labels of many windows."""
    return [
        finding
        for record in _records(found, ledger)
        for finding in no_pure_region_in_windows(
            ledger,
            class_prior,
            monitor=found.monitor,
            configuration=record.configuration,
            series=(found.model_version, found.segment),
            until=found.window.end,
            as_of=found.as_of,
            label_purity=monitor.label_purity,
        )
    ]


def _records(found: StoredEvaluation, ledger: LedgerReader) -> list[WindowRecord]:
    """The stored window under its configuration."""
    start = found.window.start
    records = ledger.windows(found.monitor, since=start, until=start + timedelta.resolution)
    return [record for record in records if record.window_key == found.window_key]


def _context(
    found: StoredEvaluation, ledger: LedgerReader, pages: PageAddresses | None
) -> dict[str, str]:
    window = found.window
    context = {
        "Window": window_text(window.start, window.end),
        "Known as of": f"{moment_text(found.as_of)} ({found.state})",
    }
    if found.model_version:
        context["Model version"] = one_line(found.model_version)
    if pages is not None:
        context["Page"] = pages.window(
            found.monitor, found.window.start, found.model_version, found.segment
        )
    context |= _notes(found, ledger)
    return context


def _notes(found: StoredEvaluation, ledger: LedgerReader) -> dict[str, str]:
    """Notes on problems with the rows of the window."""
    said = [
        one.sentence
        for record in _records(found, ledger)
        for pane in record.panes
        if pane.number == found.number and pane.counts is not None
        for one in findings_of(
            ledger,
            found.monitor,
            record.configuration,
            found.window,
            pane.counts,
            as_of=found.as_of,
        )
    ]
    return {
        "Rows" if len(said) == 1 else f"Rows ({place})": sentence
        for place, sentence in enumerate(said, start=1)
    }


def prior_history(found: StoredEvaluation, ledger: LedgerReader) -> PriorHistory | None:
    """Class priors of the last 60 windows of a series up to one, as they were known then.

    Where another model version was followed before, its windows come first. None where the class
    prior is not followed, comes from an audit, or is known of fewer than two windows.
    """
    made_with = found.evaluation.get("made_with", {})
    last = _over_time(made_with.get("class_prior"))
    if last is None or "audit" in made_with:
        return None
    window = found.window
    with ledger.database.reading() as connection:
        stored = class_priors_over_windows(
            connection,
            found,
            predecessor=last["predecessor"],
            since=window.start - (_WINDOWS - 1) * (window.end - window.start),
        )
    followed = [one for one in stored if _over_time(one[2]) is not None]
    if len(followed) < _FEWEST:
        return None
    own = [of.start for of, version, _ in followed if version == found.model_version]
    return PriorHistory(
        points=[_point(of, class_prior) for of, _, class_prior in followed],
        level=_level(last["level"]),
        version=(own[0], one_line(found.model_version)) if len(own) < len(followed) else None,
    )


def _over_time(class_prior: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = (class_prior or {}).get("diagnostics", {}).get("over_time")
    return found


def _point(window: Window, class_prior: Mapping[str, Any]) -> PriorPoint:
    over_time = class_prior["diagnostics"]["over_time"]
    own = over_time.get("own")
    return PriorPoint(
        start=window.start,
        end=window.end,
        value=class_prior["value"],
        low=class_prior["low"],
        high=class_prior["high"],
        own=None if own is None else own["value"],
        changes=over_time["changes"],
    )


def _level(level: Mapping[str, Any]) -> PriorLevel:
    return PriorLevel(
        start=datetime.fromisoformat(level["start"]),
        end=datetime.fromisoformat(level["end"]),
        value=level["value"],
        low=level["low"],
        high=level["high"],
        given=level["source"] == "given",
    )


def reading_of_window(
    found: StoredEvaluation, table: ScoreTable | None, ledger: LedgerReader
) -> EstimatesByBin | None:
    """What audits, with the check of fair labels, or reviews said of the window; None for neither.

    The check is of the audit over all of its windows. It is left out where verdicts have come
    since the window was evaluated, and where the audit is of another model version, whose scores
    are others.
    """
    audit = read_again(found.evaluation, table)
    if not isinstance(audit, AuditedEstimates):
        return audit
    used = {(one["audit"], one["digest"]) for one in found.evaluation["made_with"]["audits"]}
    for one in ledger.audits_as_read(found.monitor):
        is_of_window = one.name == audit.name and one.model_version == found.model_version
        if is_of_window and (one.name, one.digest) in used:
            return replace(audit, fairness=check_fairness(past_audit(one).counts))
    return audit
