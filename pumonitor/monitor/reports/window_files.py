"""Make the report files of a window from the ledger, on demand."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.results import StoredEvaluation
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.page_addresses import PageAddresses
from pumonitor.monitor.reports.prior_history import prior_history
from pumonitor.monitor.reports.reading_of_window import reading_of_window
from pumonitor.monitor.reports.region_over_windows import no_pure_region_in_windows
from pumonitor.monitor.reports.window_history import window_history
from pumonitor.monitor.reports.window_report import window_files
from pumonitor.monitor.windows.class_prior.stored_findings import stored_findings
from pumonitor.monitor.windows.evaluation.class_priors import class_prior_from_json
from pumonitor.monitor.windows.input_findings import findings_of
from pumonitor.names import title
from pumonitor.plain_text import one_line
from pumonitor.results import ClassPriorEstimate, Finding


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
        "Window": f"{window.start:%Y-%m-%d %H:%M} to {window.end:%Y-%m-%d %H:%M} UTC",
        "Known as of": f"{found.as_of:%Y-%m-%d %H:%M} UTC ({found.state})",
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
