"""Complaints about the windows of a monitor and their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.inspection.complaint import Complaint
from pumonitor.monitor.inspection.configuration_changes import stored_hash
from pumonitor.monitor.inspection.held_up import dates_of, until_given_up
from pumonitor.monitor.inspection.insights import features_left_out
from pumonitor.monitor.ledger.claims.held_up import HoldUp
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.ledger.results.looks import RefusedLook
from pumonitor.monitor.windows.auxiliary.configured import has_auxiliary
from pumonitor.monitor.windows.input_findings import WindowFinding, findings_of_windows, summed_up
from pumonitor.text import moment_text

_MOST_FAILURES: Final = 5


def window_complaints(ledger: Ledger, name: str, monitor: Monitor) -> list[Complaint]:
    """Complaints about a configuration that has changed, and windows that failed or lost rows."""
    found: list[Complaint] = []
    registered = ledger.configuration(name)
    if registered is None:
        return []
    if registered != stored_hash(ledger, monitor):
        found.append(
            Complaint(
                severity="warning",
                what=f"the configuration of {name} has changed since the last run in a way that "
                "changes its results",
                remedy="the next run evaluates all windows again under the new configuration",
            )
        )
    windows = ledger.windows(name)
    found += _of_rows(name, windows)
    failing = [one for one in windows if one.last_error and one.attempts]
    hold_ups = ledger.hold_ups(name) if failing else ()
    refused = ledger.refused_looks(name)
    found += _of_losses(name, refused)
    lossy = {one.window_key for one in refused}
    found += _of_failures(name, [one for one in failing if one.window_key not in lossy], hold_ups)
    return found


def _of_failures(
    name: str, failing: Sequence[WindowRecord], hold_ups: Sequence[HoldUp]
) -> Iterator[Complaint]:
    """Windows whose last attempt failed, with the next try and what waits for them."""
    waits = {one.window.start: f"; {until_given_up(one)}" for one in hold_ups}
    for one in failing[:_MOST_FAILURES]:
        again = "" if one.not_before is None else f", next try {moment_text(one.not_before)}"
        again += waits.get(one.window.start, "")
        yield Complaint(
            severity="error",
            what=f"{name}: the window of {moment_text(one.window.start)} failed "
            f"{one.attempts} times{again}: {one.last_error}",
            remedy=f"repair the cause, then pumonitor backfill {name} --reprocess failed "
            f"{dates_of([one.window])}",
        )
    if len(failing) > _MOST_FAILURES:
        yield Complaint(
            severity="error",
            what=f"{name}: {len(failing) - _MOST_FAILURES} further windows fail",
            remedy="pumonitor results shows which windows are missing",
        )


def _of_losses(name: str, refused: Sequence[RefusedLook]) -> Iterator[Complaint]:
    """Windows of which rows are gone that were counted."""
    for look in refused[:_MOST_FAILURES]:
        yield Complaint(
            severity="error",
            what=f"{name}, window of {moment_text(look.window.start)}, since "
            f"{moment_text(look.since)}: {look.error}",
            remedy="bring the rows back; pumonitor run then takes the new look by itself",
        )
    if len(refused) > _MOST_FAILURES:
        yield Complaint(
            severity="error",
            what=f"{name}: {len(refused) - _MOST_FAILURES} further windows have lost rows, up to "
            f"that of {moment_text(refused[-1].window.start)}",
            remedy="their earlier results stay",
        )


def _of_rows(name: str, windows: Sequence[WindowRecord]) -> Iterator[Complaint]:
    """Problems with the rows of windows, such as repeated ids, and how to count them again."""
    by_kind: dict[str, list[WindowFinding]] = {}
    for one in findings_of_windows(windows):
        by_kind.setdefault(one.kind, []).append(one)
    for some in by_kind.values():
        starts = {one.start for one in some}
        concerned = [one.window for one in windows if one.window.start in starts]
        for said in summed_up(some):
            yield Complaint(
                severity="warning",
                what=said,
                remedy=f"repair the job that writes the tables, then pumonitor backfill {name} "
                f"--reprocess all {dates_of(concerned)} counts the windows again",
            )


def set_aside_complaints(name: str, set_aside: Sequence[str]) -> list[Complaint]:
    """Complaints about what is left out of a monitor's tables."""
    return [
        Complaint(
            severity="warning",
            what=f"{name}: {what}",
            remedy="repair or drop it; pumonitor run then counts it by itself",
        )
        for what in set_aside
    ]


def class_prior_complaints(ledger: Ledger, name: str) -> list[Complaint]:
    """Complaint about a class prior that is impossible in the newest mature windows."""
    rows = ledger.results(name, segment="", metrics=["class_prior"], states=["mature", "final"])
    known = [row for row in rows if row.value is not None]
    doubted = [row for row in known if row.impossible]
    if not doubted or doubted[-1].window_start != known[-1].window_start:
        return []
    newest = doubted[-1]
    remedy = "check whether the confirmed positives are a fair sample of the positives"
    if newest.assumed:
        remedy = f"correct class_prior of {name}, or let class_prior: auto measure it; or {remedy}"
    number = len({row.window_start for row in doubted})
    of_all = len({row.window_start for row in known})
    return [
        Complaint(
            severity="warning",
            what=f"{name}: the class prior is impossible in {number} of {of_all} mature "
            f"window{'' if of_all == 1 else 's'}, most recently in the window of "
            f"{moment_text(newest.window_start)}: {newest.infeasible_reason}",
            remedy=f"{remedy}. Until then every estimate computed with it is unusable, and "
            "rules on such estimates neither fire nor resolve",
        )
    ]


def feature_complaints(ledger: Ledger, monitor: Monitor) -> list[Complaint]:
    """Reason why the newest mature window's class prior goes without the configured features."""
    if not has_auxiliary(monitor):
        return []
    return [
        Complaint(
            severity="warning",
            what=f"{monitor.name}: the class prior is followed with the model's score and not with "
            f"the features, most recently in the window of {moment_text(start)}: "
            f"{reason}",
            remedy="repair the columns, or their list under predictions: features:; pumonitor run "
            f"{monitor.name} --refresh-auxiliary trains the auxiliary score again",
        )
        for start, reason in features_left_out(ledger, monitor.name)
    ]
