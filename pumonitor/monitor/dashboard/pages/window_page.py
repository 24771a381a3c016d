"""A window: its estimates, what is doubtful, what it was made from, and its revisions."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from pumonitor.errors import InputError
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.values.durations import shown_duration
from pumonitor.monitor.dashboard.pages.how_computed import how_computed
from pumonitor.monitor.dashboard.pages.window_changes import changes_said
from pumonitor.monitor.dashboard.pages.window_drawings import WindowDrawings, window_drawings
from pumonitor.monitor.dashboard.pages.window_inputs import (
    configuration_said,
    counted_rows,
    made_with_said,
)
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.inspection.insights import doubts_in, findings_in, prior_said
from pumonitor.monitor.inspection.label_outlook import assumption_of_window
from pumonitor.monitor.inspection.read_by import newest_counts, read_by_said
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.results import PublishedResult, StoredEvaluation
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.page_addresses import version_read, version_written
from pumonitor.monitor.reports.window_curves import window_curves
from pumonitor.monitor.reports.window_files import window_files_of
from pumonitor.monitor.reports.window_problem import window_problem
from pumonitor.names import COUNTS, GROUPS, MEANING, UNCORRECTED_OF, title
from pumonitor.views.model import write_views_csv

_MOST_NOTES: Final = 40
_AN_INSTANT: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFound:
    """One series of a window in one revision, as an address names it.

    Attributes
    ----------
    record : WindowRecord
    version, segment : str
    versions : sequence of str
        Model versions with results.
    revisions : sequence of StoredEvaluation
        Of the series, in order.
    chosen, before : StoredEvaluation or None
        The revision, and the one before it.
    rows, rows_before : mapping of str to PublishedResult
        Their results by metric.
    """

    record: WindowRecord
    version: str
    segment: str
    versions: Sequence[str]
    revisions: Sequence[StoredEvaluation]
    chosen: StoredEvaluation | None
    before: StoredEvaluation | None
    rows: Mapping[str, PublishedResult]
    rows_before: Mapping[str, PublishedResult]


def window_page(
    site: Site, name: str, start: datetime, query: Mapping[str, str]
) -> dict[str, Any] | None:
    """What the page of a window shows; None if there is no such window or revision.

    Parameters
    ----------
    site : Site
    name : str
    start : datetime
    query : mapping of str to str
        ``version``, ``segment`` and ``revision``.

    Raises
    ------
    InputError
        If the revision is no number.
    """
    with site.at_once() as ledger:
        found = window_found(ledger, name, start, query)
        if found is None:
            return None
        chosen, before, zone = found.chosen, found.before, site.zone(name)
        drawings = None if chosen is None else _drawings(site, ledger, chosen, found.rows)
        configuration = configuration_said(ledger, found.record)
        said_of_prior = "" if chosen is None else prior_said(ledger, chosen)
        during = found.record.window
        notes = ledger.notes.all(name, since=during.start, until=during.end, limit=_MOST_NOTES)
    pane = next((one for one in found.record.panes if chosen and one.number == chosen.number), None)
    return {
        "monitor": name,
        "zone": zone,
        "now": site.clock(),
        "record": found.record,
        "version": found.version,
        "versions": found.versions,
        "segment": found.segment,
        "chosen": chosen,
        "revisions": found.revisions,
        "state": next(iter(found.rows.values())).state if found.rows else None,
        "ends_mature": _why_never_final(site.monitors[name], found.record),
        "groups": _groups(
            found.rows, found.rows_before, {} if chosen is None else chosen.evaluation
        ),
        "counts": {COUNTS[one]: found.rows[one] for one in COUNTS if one in found.rows},
        "before": before,
        "changes": []
        if chosen is None or before is None
        else changes_said(chosen, found.rows, before, found.rows_before, zone=zone),
        "doubts": () if chosen is None else doubts_in(chosen.evaluation),
        "assumption": ""
        if chosen is None
        else assumption_of_window(site.monitors[name], chosen.evaluation, found.rows.values()),
        "findings": () if chosen is None else findings_in(chosen.evaluation),
        "class_prior_said": said_of_prior,
        "drawings": drawings,
        "counted": counted_rows(None if pane is None else pane.counts),
        "read_by": read_by_said(newest_counts(found.record) if pane is None else pane.counts),
        "made_with": [] if chosen is None else made_with_said(chosen),
        "configuration": configuration,
        "query": _query(found),
        "notes": notes,
    }


def _why_never_final(monitor: Monitor, record: WindowRecord) -> str:
    """Why the mature results of a window are its last; "" if a final look is planned."""
    keeps = monitor.source_keeps
    if keeps is None or not monitor.maturity or record.panes[-1].state == "final":
        return ""
    return (
        f"No final look is planned: the tables keep rows for {shown_duration(keeps)} "
        "(source_keeps), so the mature results stay."
    )


def window_csv(site: Site, name: str, start: datetime, query: Mapping[str, str]) -> str | None:
    """The results of one revision, with the columns of ``pumonitor results``; None without any.

    Raises
    ------
    InputError
        If the revision is no number.
    """
    with site.at_once() as ledger:
        found = window_found(ledger, name, start, query)
    if found is None or found.chosen is None:
        return None
    file = io.StringIO()
    write_views_csv(found.rows.values(), file, model=PublishedResult)
    return file.getvalue()


def window_report_html(
    site: Site, name: str, start: datetime, query: Mapping[str, str]
) -> str | None:
    """The report of one revision, made now from the stored counts; None if there are none.

    Raises
    ------
    InputError
        If the revision is no number.
    """
    with site.at_once() as ledger:
        found = window_found(ledger, name, start, query)
        if found is None or found.chosen is None or "made_with" not in found.chosen.evaluation:
            return None
        chosen = found.chosen
        files = window_files_of(
            site.monitors,
            ledger,
            {
                "window_key": chosen.window_key,
                "revision": chosen.revision,
                "model_version": chosen.model_version,
                "segment": chosen.segment,
            },
        )
    return files.get("report.html")


def window_found(
    ledger: Ledger, name: str, start: datetime, query: Mapping[str, str]
) -> WindowFound | None:
    """What an address names; None if there is no such window or revision.

    Raises
    ------
    InputError
        If the revision is no number.
    """
    segment, version = query.get("segment", ""), version_read(query.get("version"))
    wanted = _revision(query.get("revision"))
    records = ledger.windows(name, since=start, until=start + _AN_INSTANT)
    if not records:
        return None
    record = records[-1]
    evaluations = ledger.evaluations(name, start=start, segment=segment, revisions="all")
    versions = sorted({one.model_version for one in evaluations})
    of_window: dict[str, Any] = {"since": start, "until": record.window.end, "segment": segment}
    if version is None:
        counted = ledger.results(name, **of_window, metrics=["predictions"])
        most = max(counted, key=lambda row: row.value or 0.0, default=None)
        version = "" if most is None else most.model_version
    own = [one for one in evaluations if one.model_version == version]
    of_revision = [one for one in own if wanted in (None, one.revision)]
    if own and not of_revision:
        return None
    chosen = of_revision[-1] if of_revision else None
    before = _before(own, chosen)
    rows = ledger.results(name, **of_window, model_version=version, revisions="all")
    return WindowFound(
        record=record,
        version=version,
        segment=segment,
        versions=versions,
        revisions=own,
        chosen=chosen,
        before=before,
        rows={} if chosen is None else _of_revision(rows, chosen),
        rows_before={} if before is None else _of_revision(rows, before),
    )


def _drawings(
    site: Site, ledger: Ledger, chosen: StoredEvaluation, rows: Mapping[str, PublishedResult]
) -> WindowDrawings | None:
    """Drawn once for each revision; None where nothing was estimated."""

    def draw() -> WindowDrawings | None:
        problem = window_problem(chosen, ledger)
        return None if problem is None else window_drawings(window_curves(problem), rows)

    key = (chosen.window_key, chosen.revision, chosen.model_version, chosen.segment)
    found: WindowDrawings | None = site.kept.get(("window", *key), draw)
    return found


def _query(found: WindowFound) -> dict[str, Any]:
    """What an address says beside the window, to come back to what is shown."""
    return {
        "version": version_written(found.version),
        "segment": found.segment or None,
        "revision": None if found.chosen is None else found.chosen.revision,
    }


def _of_revision(
    rows: tuple[PublishedResult, ...], chosen: StoredEvaluation
) -> dict[str, PublishedResult]:
    return {row.metric: row for row in rows if row.revision == chosen.revision}


def _before(
    own: list[StoredEvaluation], chosen: StoredEvaluation | None
) -> StoredEvaluation | None:
    """The revision before, whose numbers have changed since."""
    earlier = [one for one in own if chosen is not None and one.revision < chosen.revision]
    return earlier[-1] if earlier else None


def _groups(
    found: Mapping[str, PublishedResult],
    before: Mapping[str, PublishedResult],
    evaluation: Mapping[str, Any],
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Estimates under their headings, each with its uncorrected one and what it was before."""
    groups = []
    for heading, names in GROUPS.items():
        lines = [
            {
                "name": one,
                "title": title(one, evaluation.get("settings", {})),
                "meaning": MEANING.get(one, ""),
                "row": found[one],
                "uncorrected": found.get(UNCORRECTED_OF.get(one, "")),
                "before": before.get(one),
                "computed": how_computed(one, evaluation),
            }
            for one in names
            if one in found
        ]
        if lines and not heading.startswith("Uncorrected"):
            groups.append((heading, lines))
    return groups


def _revision(given: str | None) -> int | None:
    if given in (None, ""):
        return None
    if not (given.isascii() and given.isdecimal() and len(given) < 9):
        msg = "revision must be a whole number"
        raise InputError(msg)
    return int(given)
