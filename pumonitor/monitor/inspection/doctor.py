"""Find what is late, stuck or unreachable, with remedies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from pumonitor.errors import PumonitorError
from pumonitor.monitor.app import open_ledger, shared_clock
from pumonitor.monitor.config.changes import changes_between
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.file import configuration_hash
from pumonitor.monitor.config.sections.destinations import Tracking
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.text.problems import shown_place
from pumonitor.monitor.inspection.complaint import Complaint
from pumonitor.monitor.inspection.conditions import read_conditions
from pumonitor.monitor.inspection.connections import check_tracking
from pumonitor.monitor.inspection.delivery_complaints import lease_complaints, outbox_complaints
from pumonitor.monitor.inspection.outcomes import tried
from pumonitor.monitor.inspection.unnotified import unsent_notes
from pumonitor.monitor.inspection.window_complaints import (
    class_prior_complaints,
    feature_complaints,
    set_aside_complaints,
    window_complaints,
)
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.standings import Standing
from pumonitor.monitor.ledger.uses import left_note
from pumonitor.monitor.views.condition import condition_text
from pumonitor.monitor.windows.due.settled import files_digest, may_be_read
from pumonitor.monitor.windows.opening import open_monitor_source
from pumonitor.ports import PredictionSource
from pumonitor.text import moment_text

_COMPLAINED_OF: Final = ("source unreachable", "late", "no data", "no results yet")
"""Conditions that are not said more closely of windows or alerts."""


def missing_secrets(configuration: Configuration) -> list[Complaint]:
    """Complaints about secrets whose environment variables are not set."""
    return [
        Complaint(
            severity="warning",
            what=f"{shown_place(problem.place)} {problem.message}",
            remedy="set it where pumonitor run or serve is started; commands that only read work "
            "without it",
        )
        for problem in configuration.missing
    ]


def examine(
    configuration: Configuration,
    *,
    now: datetime,
    open_source: Callable[[Monitor], PredictionSource] = open_monitor_source,
) -> list[Complaint]:
    """Check the state database, windows, tables, the outbox and the tracking server for problems.

    Tables are opened to see whether they can be read, files only if they have changed since the
    last round did so.

    Checks that need a secret that is not set are left out: `missing_secrets` reports it.

    Parameters
    ----------
    configuration : Configuration
    now : datetime
    open_source : callable
        Opens a monitor's tables.
    """
    complaints: list[Complaint] = []
    try:
        ledger = open_ledger(configuration)
    except PumonitorError as error:
        return [
            Complaint(
                severity="error",
                what=f"the state database cannot be used: {error}",
                remedy="no window is evaluated until it can be used; check its address and that "
                "its server is running",
            )
        ]
    with ledger:
        problem = shared_clock(ledger).problem()
        if problem is not None:
            remedy = "set the clock; pumonitor doctor --accept-clock where it is right now"
            complaints.append(Complaint(severity="error", what=problem, remedy=remedy))
        if (file := ledger.database.readable_by_others) is not None:
            what = (
                f"every user of this machine can read the state database {file}, which holds keys"
            )
            remedy = f"chmod o= {file}*"
            complaints.append(Complaint(severity="warning", what=what, remedy=remedy))
        complaints += _of_uses(ledger, configuration)
        for monitor in configuration.monitors.values():
            complaints += _of_monitor(
                ledger, monitor, mask=configuration.mask, open_source=open_source, now=now
            )
        complaints += lease_complaints(ledger)
        unnotified = [
            one for one in ledger.alerts.unnotified() if one.monitor in configuration.monitors
        ]
        complaints += [
            Complaint(severity="warning", what=what, remedy=how)
            for what, how in unsent_notes(unnotified)
        ]
        complaints += outbox_complaints(ledger)
    return complaints + _of_tracking(configuration.tracking)


def _of_uses(ledger: Ledger, configuration: Configuration) -> Iterator[Complaint]:
    """Complaints about configurations that take turns, and monitors that are gone."""
    for monitor in configuration.monitors.values():
        if (other_turn := ledger.turns(monitor.name)) is not None:
            other, at = other_turn
            stored = ledger.configurations(monitor.name)
            present = ledger.configuration(monitor.name)
            changes = changes_between(stored.get(other, {}), stored.get(present or "", {}))
            yield Complaint(
                severity="error",
                what=f"{monitor.name}: two configurations take turns on this state database; the "
                f"other one (hash {other[:8]}) last had its turn at {moment_text(at)} "
                f"({'; '.join(changes)})",
                remedy="stop whoever uses the one that is not wanted, or give one of them another "
                "name or state database; pumonitor run --take-over puts this file's to use",
            )
    for name, place in ledger.left_monitors(configuration.monitors).items():
        note = left_note(name, place=place, own=configuration.place)
        if note is not None:
            yield Complaint(severity="warning", what=note[0], remedy=note[1])


def _of_tracking(tracking: Tracking | None) -> list[Complaint]:
    """Complaints about the MLflow server, and the registry where it is elsewhere."""
    if tracking is None or any(secret.missing() for secret in tracking.secrets):
        return []
    asked = [
        (
            tracking.address,
            "MLflow",
            "evaluation continues; results wait in the outbox until MLflow answers",
        )
    ]
    if tracking.registry is not None:
        asked.append(
            (
                tracking.registry_address,
                "MLflow's registry",
                "evaluation continues; challengers of the registry are not scored, and nothing is "
                "promoted, until it answers",
            )
        )
    complaints = []
    for address, what, remedy in asked:
        try:
            check_tracking(address)
        except PumonitorError as error:
            complaints.append(Complaint(severity="error", what=f"{what}: {error}", remedy=remedy))
    return complaints


def _of_monitor(
    ledger: Ledger,
    monitor: Monitor,
    *,
    mask: Callable[[str], str],
    open_source: Callable[[Monitor], PredictionSource],
    now: datetime,
) -> list[Complaint]:
    """Complaints about a monitor's windows, class prior, features and tables."""
    complaints = [
        *window_complaints(ledger, monitor.name, monitor),
        *class_prior_complaints(ledger, monitor.name),
        *feature_complaints(ledger, monitor),
        *_challenger_complaints(ledger, monitor),
    ]
    of_tables: list[Complaint] = []
    standing = ledger.standings.all().get(monitor.name)
    if not monitor.missing and not _are_as_last_read(monitor, standing):
        of_tables = _of_tables(monitor, mask=mask, open_source=open_source)
        complaints += of_tables
    elif standing is not None:
        complaints += set_aside_complaints(monitor.name, standing.set_aside)
    # Tables that cannot be read, or are empty, are why there are no newer windows.
    if not any(one.severity == "error" for one in of_tables):
        (condition,) = read_conditions(ledger, {monitor.name: monitor}, now=now)
        if condition.condition in _COMPLAINED_OF:
            said = condition_text(condition, moment_text)
            complaints.append(
                Complaint(
                    severity="warning", what=f"{monitor.name}: {said}", remedy=condition.remedy
                )
            )
    return complaints


def _challenger_complaints(ledger: Ledger, monitor: Monitor) -> Iterator[Complaint]:
    known = monitor.challengers.models if monitor.challengers is not None else {}
    for name, (windows, error) in ledger.challengers.failing(monitor.name).items():
        if name in known:
            yield Complaint(
                severity="warning",
                what=f"{monitor.name}: challenger {name} has not scored {windows} "
                f"window{'s' * (windows != 1)}: {error}",
                remedy="repair the cause; rounds try again after a wait that doubles, and "
                f"pumonitor challenge {monitor.name} at once",
            )


def _of_tables(
    monitor: Monitor,
    *,
    mask: Callable[[str], str],
    open_source: Callable[[Monitor], PredictionSource],
) -> list[Complaint]:
    """Complaints about tables that cannot be read or have no predictions.

    No rows are read.
    """
    spans = []
    left_out: list[str] = []

    def read() -> str:
        source = open_source(monitor)
        try:
            spans.append(source.span())
            left_out.extend(source.set_aside())
        finally:
            source.close()
        return ""

    outcome = tried(monitor.name, read, mask)
    if outcome.failure is not None:
        remedy = {
            "input": "repair the tables or their entries in the configuration",
            "operation": "check that their server is running and accepts connections from this "
            "machine, and that the driver that reads them is installed",
        }
        return [
            Complaint(
                severity="error",
                what=f"{monitor.name}: its tables cannot be read: {outcome.message}",
                remedy=f"{remedy[outcome.failure]}; pumonitor check shows whether it worked, "
                "and the next run evaluates the windows that are missing",
            )
        ]
    if spans == [None]:
        return [
            Complaint(
                severity="error",
                what=f"{monitor.name}: there are no predictions in "
                f"{monitor.predictions.source.name}",
                remedy="no window is planned until there is one; check that it is the right table "
                "and that the job that fills it has run",
            )
        ]
    return set_aside_complaints(monitor.name, left_out)


def _are_as_last_read(monitor: Monitor, standing: Standing | None) -> bool:
    """Whether a monitor's files are those in which the last round found predictions.

    They are then not opened again, which takes longer than all else that is looked at.
    """
    if standing is None or standing.last_prediction is None or standing.files is None:
        return False
    return (
        standing.configuration == configuration_hash(monitor)
        and standing.files == files_digest(monitor)
        and may_be_read(monitor)
    )
