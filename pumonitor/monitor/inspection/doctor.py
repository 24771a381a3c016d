"""Find what is late, stuck or unreachable, and say what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pumonitor.errors import PumonitorError
from pumonitor.monitor.app import open_ledger
from pumonitor.monitor.config.configuration import Configuration, Monitor
from pumonitor.monitor.config.left_unread import monitors_unread
from pumonitor.monitor.config.text.problems import Problem, shown_place
from pumonitor.monitor.inspection.configuration_changes import stored_hash
from pumonitor.monitor.inspection.connections import check_tracking
from pumonitor.monitor.inspection.held_up import dates_of, until_given_up
from pumonitor.monitor.inspection.insights import features_left_out
from pumonitor.monitor.inspection.outcomes import tried
from pumonitor.monitor.inspection.unnotified import unsent_notes
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.outbox import Waiting
from pumonitor.monitor.ledger.records.windows import WindowRecord
from pumonitor.monitor.windows.auxiliary.auxiliary import has_auxiliary
from pumonitor.monitor.windows.due.due_windows import have_stopped
from pumonitor.monitor.windows.input_findings import WindowFinding, findings_of_windows, summed_up
from pumonitor.monitor.windows.opening import open_monitor_source
from pumonitor.ports import PredictionSource

__all__ = ["Complaint", "examine", "unread_complaints"]

Severity = Literal["error", "warning"]
_LATE = timedelta(days=1)
_UNDELIVERED = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """One problem with its severity and its remedy.

    Attributes
    ----------
    severity : {"error", "warning"}
    what : str
    remedy : str
    """

    severity: Severity
    what: str
    remedy: str


def unread_complaints(unread: Iterable[Problem]) -> list[Complaint]:
    """Complaints about environment variables that the configuration needs and that are not set."""
    return [
        Complaint(
            severity="warning",
            what=f"{shown_place(problem.place)} {problem.message}",
            remedy="set it where pumonitor run or serve is started; commands that only read "
            "do not need it",
        )
        for problem in unread
    ]


def examine(
    configuration: Configuration,
    *,
    now: datetime,
    unread: Iterable[Problem] = (),
    open_source: Callable[[Monitor], PredictionSource] = open_monitor_source,
) -> list[Complaint]:
    """Check the state database, windows, tables, the outbox and the tracking server for problems.

    Parameters
    ----------
    configuration : Configuration
    now : datetime
    unread : iterable of Problem
        Variables that are not set: tables whose address is not known are not opened.
    open_source : callable
        Opens a monitor's tables.
    """
    complaints: list[Complaint] = []
    closed = monitors_unread(unread)
    try:
        ledger = open_ledger(configuration)
    except PumonitorError as error:
        return [
            Complaint(
                severity="error",
                what=f"the state database cannot be used: {error}",
                remedy="nothing is evaluated until it can be used; check its address and that "
                "it is up",
            )
        ]
    with ledger:
        for name, monitor in configuration.monitors.items():
            complaints += _of_monitor(ledger, name, monitor, now=now)
            complaints += _of_class_prior(ledger, name)
            complaints += _of_features(ledger, monitor)
            of_tables: list[Complaint] = []
            last = _last_known(ledger, name)
            if name not in closed:
                of_tables, found = _of_tables(
                    monitor, mask=configuration.mask, open_source=open_source
                )
                complaints += of_tables
                last = found or last
            # Tables that cannot be read, or are empty, are why there are no newer windows.
            if not of_tables:
                complaints += _of_time_since(ledger, monitor, last, now=now)
        complaints += _of_leases(ledger)
        unnotified = [
            one for one in ledger.alerts.unnotified() if one.monitor in configuration.monitors
        ]
        complaints += [
            Complaint(severity="warning", what=what, remedy=how)
            for what, how in unsent_notes(unnotified)
        ]
        complaints += _of_outbox(ledger)
    if configuration.tracking is not None:
        try:
            check_tracking(configuration.tracking.address)
        except PumonitorError as error:
            complaints.append(
                Complaint(
                    severity="error",
                    what=f"MLflow: {error}",
                    remedy="evaluation goes on; results wait in the outbox until it answers",
                )
            )
    return complaints


def _of_monitor(ledger: Ledger, name: str, monitor: Monitor, *, now: datetime) -> list[Complaint]:
    found: list[Complaint] = []
    registered = ledger.configuration(name)
    if registered is None:
        return [
            Complaint(
                severity="warning",
                what=f"{name} has never run",
                remedy=f"pumonitor run {name}, or pumonitor backfill {name} --from ... --to ...",
            )
        ]
    if registered != stored_hash(ledger, monitor):
        found.append(
            Complaint(
                severity="warning",
                what=f"the configuration of {name} has changed in meaning since it last ran",
                remedy="the next run evaluates all its windows anew under the new configuration",
            )
        )
    windows = ledger.windows(name)
    found += _of_rows(name, windows)
    failing = [one for one in windows if one.last_error and one.attempts]
    hold_ups = ledger.hold_ups(name) if failing else ()
    waits = {one.window.start: f"; {until_given_up(one)}" for one in hold_ups}
    for one in failing[:5]:
        again = "" if one.not_before is None else f", next try {one.not_before:%Y-%m-%d %H:%M} UTC"
        again += waits.get(one.window.start, "")
        found.append(
            Complaint(
                severity="error",
                what=f"{name}: the window of {one.window.start:%Y-%m-%d %H:%M} failed "
                f"{one.attempts} times{again}: {one.last_error}",
                remedy=f"repair the cause, then pumonitor backfill {name} --reprocess failed "
                f"{dates_of([one.window])}",
            )
        )
    if len(failing) > 5:
        found.append(
            Complaint(
                severity="error",
                what=f"{name}: {len(failing) - 5} further windows fail",
                remedy="pumonitor results shows which are missing",
            )
        )
    # A run catches up with neither what fails nor what waits for it, of which all is said above.
    excused = {key for one in hold_ups for key in one.waiting}
    excused |= {one.window_key for one in failing}
    return [*found, *_of_lateness(name, windows, excused, now=now)]


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


def _of_lateness(
    name: str, windows: Sequence[WindowRecord], excused: Collection[str], *, now: datetime
) -> list[Complaint]:
    due = [
        min(left)
        for one in windows
        if one.window_key not in excused
        and (
            left := [
                pane.as_of for pane in one.panes if pane.status != "evaluated" and pane.as_of <= now
            ]
        )
    ]
    if not due or now - min(due) <= _LATE:
        return []
    count = len(due)
    return [
        Complaint(
            severity="warning",
            what=f"{name}: {count} window{' is' if count == 1 else 's are'} late, the oldest was "
            f"due {min(due):%Y-%m-%d %H:%M} UTC",
            remedy="is pumonitor run in cron, or pumonitor serve up? pumonitor run catches up",
        )
    ]


def _of_class_prior(ledger: Ledger, name: str) -> list[Complaint]:
    """Complaint about a class prior that is impossible in the newest mature windows."""
    rows = ledger.results(name, segment="", metrics=["class_prior"], states=["mature", "final"])
    known = [row for row in rows if row.value is not None]
    doubted = [row for row in known if row.impossible]
    if not doubted or doubted[-1].window_start != known[-1].window_start:
        return []
    newest = doubted[-1]
    remedy = "see whether the confirmed positives are a fair sample of the positives"
    if newest.assumed:
        remedy = f"correct class_prior of {name}, or let class_prior: auto measure it; or {remedy}"
    number = len({row.window_start for row in doubted})
    of_all = len({row.window_start for row in known})
    return [
        Complaint(
            severity="warning",
            what=f"{name}: the class prior is impossible in {number} of {of_all} mature "
            f"window{'' if of_all == 1 else 's'}, last in that of "
            f"{newest.window_start:%Y-%m-%d %H:%M} UTC: {newest.infeasible_reason}",
            remedy=f"{remedy}. Until then every estimate computed with it is unusable, and "
            "rules on such estimates neither fire nor resolve",
        )
    ]


def _of_features(ledger: Ledger, monitor: Monitor) -> list[Complaint]:
    """Reason why the newest mature window's class prior goes without the configured features."""
    if not has_auxiliary(monitor):
        return []
    return [
        Complaint(
            severity="warning",
            what=f"{monitor.name}: the class prior goes by the model's score and not by the "
            f"features, last in the window of {start:%Y-%m-%d %H:%M} UTC: {reason}",
            remedy="repair the columns, or their list under predictions: features:; pumonitor "
            f"run {monitor.name} --refresh-auxiliary trains the auxiliary score anew",
        )
        for start, reason in features_left_out(ledger, monitor.name)
    ]


def _of_tables(
    monitor: Monitor,
    *,
    mask: Callable[[str], str],
    open_source: Callable[[Monitor], PredictionSource],
) -> tuple[list[Complaint], datetime | None]:
    """Complaints about tables that cannot be read or have no recent predictions.

    Rows are not gone through.
    """
    spans = []

    def read() -> str:
        source = open_source(monitor)
        try:
            spans.append(source.span())
        finally:
            source.close()
        return ""

    outcome = tried(monitor.name, read, mask)
    if outcome.failure is not None:
        remedy = {
            "input": "repair the tables or their entries in the configuration",
            "operation": "check that their server is up and admits this machine, and that the "
            "driver that reads them is installed",
        }
        return [
            Complaint(
                severity="error",
                what=f"{monitor.name}: its tables cannot be read: {outcome.message}",
                remedy=f"{remedy[outcome.failure]}; pumonitor check shows whether it worked, "
                "and the next run evaluates the windows that are missing",
            )
        ], None
    if spans == [None]:
        return [
            Complaint(
                severity="error",
                what=f"{monitor.name}: there is no prediction in {monitor.predictions.source.name}",
                remedy="no window is planned until there is one; is it the right place, and "
                "has the job that fills it run?",
            )
        ], None
    return [], next((span[1] for span in spans if span is not None), None)


def _last_known(ledger: Ledger, name: str) -> datetime | None:
    """Time of the last prediction, as the last round stored it."""
    standing = ledger.standings.all().get(name)
    return None if standing is None else standing.last_prediction


def _of_time_since(
    ledger: Ledger, monitor: Monitor, last: datetime | None, *, now: datetime
) -> list[Complaint]:
    """Complaint that no newer windows exist: predictions stopped, or no run plans windows."""
    if ledger.configuration(monitor.name) is None:
        return []
    newest = max((one.window.end for one in ledger.windows(monitor.name)), default=None)
    stopped = last is not None and have_stopped(monitor, last, now=now)
    since = last if stopped else newest
    if since is None or now - since <= 2 * _longest_gap(monitor, since) + _LATE:
        return []
    if stopped:
        return [
            Complaint(
                severity="warning",
                what=f"{monitor.name}: no predictions since {since:%Y-%m-%d %H:%M} UTC",
                remedy="no window is due until new ones arrive in "
                f"{monitor.predictions.source.name}; has the job that fills it run?",
            )
        ]
    return [
        Complaint(
            severity="warning",
            what=f"{monitor.name}: no window was planned since {since:%Y-%m-%d %H:%M} UTC",
            remedy="is pumonitor run in cron, or pumonitor serve up? pumonitor run catches up",
        )
    ]


def _longest_gap(monitor: Monitor, moment: datetime) -> timedelta:
    window = monitor.windows.containing(moment)
    return window.end - window.start


def _of_leases(ledger: Ledger) -> Iterator[Complaint]:
    """Leases held by processes of other machines, which may be dead without a sign."""
    held = [("windows", one) for one in ledger.holders()]
    for name, waiting in ledger.outbox.waiting().items():
        held += [(f"messages to {name}", one) for one in waiting.holders]
    for what, holder in held:
        if not holder.lives_here:
            yield Complaint(
                severity="warning",
                what=f"{holder.held} {what} held by {holder.name} until "
                f"{holder.until:%H:%M:%S} UTC",
                remedy="nothing while that process works and renews it; if it is dead, the next "
                "run after that time takes over",
            )


def _of_outbox(ledger: Ledger) -> list[Complaint]:
    found = []
    for name, waiting in ledger.outbox.waiting().items():
        # What was last said of the destination is of those that wait, where any of them was tried.
        because = f": {waiting.last_error}" if waiting.last_error else ""
        if waiting.set_aside:
            found.append(
                Complaint(
                    severity="error",
                    what=f"{name}: {waiting.set_aside} messages were refused and set aside"
                    f"{'' if waiting.failed else because}",
                    remedy=f"repair the cause, then pumonitor doctor --take-up {name}",
                )
            )
        if waiting.failed or (waiting.messages and waiting.oldest > _UNDELIVERED):
            count = waiting.messages
            found.append(
                Complaint(
                    severity="error" if waiting.failed else "warning",
                    what=f"{name}: {count} message{' waits' if count == 1 else 's wait'}, "
                    f"the oldest {_ago(waiting.oldest)}{because if waiting.failed else ''}",
                    remedy=_remedy_of(name, waiting),
                )
            )
    return found


def _ago(waited: timedelta) -> str:
    minutes = waited.total_seconds() / 60
    return f"{minutes:.0f} min" if minutes < 60 else f"{minutes / 60:.0f} h"


def _remedy_of(name: str, waiting: Waiting) -> str:
    if waiting.next_try is None:
        return "sent by the next run once the destination answers"
    return (
        f"see that the destination answers; the first run after {waiting.next_try:%Y-%m-%d %H:%M} "
        f"UTC tries again, or the next one after pumonitor doctor --take-up {name}"
    )
