"""Tries everything a configuration names, without changing or sending anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pumonitor.errors import InputError, PumonitorError
from pumonitor.monitor.alerts.false_alarms import QuietAlarms, rules_on_quiet_windows
from pumonitor.monitor.config.configuration import Configuration, Monitor
from pumonitor.monitor.config.left_unread import monitors_unread
from pumonitor.monitor.config.text.problems import Problem
from pumonitor.monitor.inspection.auxiliary_check import feature_warnings
from pumonitor.monitor.inspection.configuration_changes import (
    OtherConfiguration,
    other_configuration,
    stored_hash,
)
from pumonitor.monitor.inspection.connections import (
    check_destination,
    check_state_database,
    check_tracking,
)
from pumonitor.monitor.inspection.insights import doubts_of
from pumonitor.monitor.inspection.label_plans import rule_sights
from pumonitor.monitor.inspection.prior_outlook import (
    impossible_prior,
    prior_notes,
    prior_outlook,
    prior_warnings,
)
from pumonitor.monitor.inspection.rule_outlook import RuleOutlook, rule_outlooks
from pumonitor.monitor.rules.reference.reference_windows import FEWEST_WINDOWS
from pumonitor.monitor.windows.due.due_windows import end_of_windows, partial_beginning, partial_end
from pumonitor.monitor.windows.evaluation.baseline import baseline_period
from pumonitor.monitor.windows.input_findings import findings_of_windows, summed_up
from pumonitor.ports import Pane, PredictionSource, SourceDescription, Window
from pumonitor.prior.followed.worth_of_audits import Worth

if TYPE_CHECKING:
    from pumonitor.monitor.ledger.reader import LedgerReader

__all__ = [
    "DestinationLook",
    "Due",
    "InLedger",
    "MonitorCheck",
    "Outcome",
    "as_plain",
    "check_configuration",
    "check_monitor",
    "destination_looks",
    "in_the_ledger",
    "tried",
    "unread_outcomes",
    "windows_due",
]

Failure = Literal["input", "operation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one connection did.

    Attributes
    ----------
    what : str
        "state", "tracking", "destinations.oncall".
    message : str
        What was found, or what went wrong, without secrets.
    failure : "input", "operation" or None
        Whether the configuration has to change, or something else does.
    """

    what: str
    message: str
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Windows and panes whose moment has come, and that are not evaluated.

    Attributes
    ----------
    windows, panes, mature : int
        How many; windows with a mature pane.
    evaluated : int
        Panes whose moment has come, and that are.
    first, last : datetime or None
        Start of the first and end of the last window.
    following : Pane or None
        What will be due next.
    """

    windows: int
    panes: int
    mature: int
    evaluated: int = 0
    first: datetime | None
    last: datetime | None
    following: Pane | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorCheck:
    """What was found of one monitor.

    Attributes
    ----------
    name : str
    outcome : Outcome
    description : SourceDescription or None
        None where its tables could not be read.
    due : Due or None
    warnings : tuple of str
    rules : tuple of RuleOutlook
    notes : tuple of str
        What is good to know, and nothing to be done about.
    audits : tuple of Worth
        What an audit would make of a class prior that is measured, beside what is without one.
    """

    name: str
    outcome: Outcome
    description: SourceDescription | None = None
    due: Due | None = None
    warnings: tuple[str, ...] = field(default=())
    rules: tuple[RuleOutlook, ...] = ()
    notes: tuple[str, ...] = ()
    audits: tuple[Worth, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InLedger:
    """What was evaluated of one monitor.

    Attributes
    ----------
    panes : frozenset of (datetime, int)
        Start of the window and number of each pane evaluated as the file says now.
    other : OtherConfiguration or None
        What was evaluated under another configuration.
    doubts : tuple of str
        What speaks against a class prior that is assumed, and what is odd about counted rows.
    quiet : mapping of str to QuietAlarms
        By the rules' keys what they would have done in windows in which nothing had changed.
    sights : mapping of str to str
        By the rules' keys how soon they see a fall.
    """

    panes: frozenset[tuple[datetime, int]] = frozenset()
    other: OtherConfiguration | None = None
    doubts: tuple[str, ...] = ()
    quiet: Mapping[str, QuietAlarms] = field(default_factory=dict)
    sights: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationLook:
    """A destination, and whether what is secret about it is there."""

    name: str
    kind: str
    secrets: str


def check_configuration(configuration: Configuration) -> Iterator[Outcome]:
    """Try the state database, the tracking server and the destinations, one after the other."""
    mask = configuration.mask
    yield tried("state", lambda: check_state_database(configuration.state_address), mask)
    if configuration.tracking is not None:
        address = configuration.tracking.address
        yield tried("tracking", lambda: check_tracking(address), mask)
    for name, destination in configuration.destinations.items():

        def resolve(destination: Any = destination) -> str:
            return check_destination(destination)

        yield tried(f"destinations.{name}", resolve, mask)


def unread_outcomes(unread: Iterable[Problem]) -> Iterator[Outcome]:
    """Destinations and MLflow that could not be tried, since a variable is not set."""
    for problem in unread:
        if problem.place[0] != "monitors":
            what = ".".join(map(str, problem.place[:2])) if len(problem.place) > 2 else "tracking"
            yield Outcome(what=what, message=problem.message, failure="input")


def destination_looks(
    configuration: Configuration, unread: Iterable[Problem]
) -> list[DestinationLook]:
    """All destinations of the file, in its order but for those that could not be read."""
    found = []
    for name, one in configuration.destinations.items():
        secrets = "there"
        if one.kind == "alertmanager":
            secrets = "none needed"
        elif one.kind == "webhook" and one.secret is None:
            secrets = "none: what is sent is not signed"
        found.append(DestinationLook(name=name, kind=one.kind, secrets=secrets))
    missing: dict[str, list[Problem]] = {}
    for problem in unread:
        if problem.place[0] == "destinations":
            missing.setdefault(str(problem.place[1]), []).append(problem)
    for name, problems in missing.items():
        keys = [str(problem.place[2]) for problem in problems if len(problem.place) > 2]
        kind = next((key for key in keys if key != "secret"), "webhook")
        found.append(
            DestinationLook(
                name=name, kind=kind, secrets="; ".join(problem.message for problem in problems)
            )
        )
    return found


def in_the_ledger(configuration: Configuration, *, now: datetime) -> dict[str, InLedger]:
    """By monitor what was evaluated, if the ledger can be asked.

    Nothing is made or brought up to date for that.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from pumonitor.monitor.ledger.database.connections import Database
    from pumonitor.monitor.ledger.reader import LedgerReader

    found: dict[str, InLedger] = {}
    if not _holds_a_ledger(configuration.state_address):
        return found
    try:
        database = Database(configuration.state_address)
        try:
            for name, monitor in configuration.monitors.items():
                ledger = LedgerReader(database)
                key = stored_hash(ledger, monitor)
                found[name] = InLedger(
                    panes=ledger.evaluated_panes(name, key),
                    other=other_configuration(ledger, monitor),
                    doubts=(*doubts_of(ledger, name), *_found_in_rows(ledger, name)),
                    quiet=rules_on_quiet_windows(ledger, monitor, key, now=now),
                    sights=rule_sights(ledger, monitor),
                )
        finally:
            database.close()
    except (PumonitorError, SQLAlchemyError):
        # What is wrong with it is told where it is tried.
        return {}
    return found


def _found_in_rows(ledger: LedgerReader, name: str) -> list[str]:
    """What was found in windows, but for what is told of the tables as a whole."""
    found = findings_of_windows(ledger.windows(name))
    return summed_up(one for one in found if one.kind not in {"refused_labels", "early_labels"})


def _holds_a_ledger(address: str) -> bool:
    """Whether a file of SQLite's is ours: opening another would change how it is written."""
    import sqlite3
    from contextlib import closing

    scheme, _, path = address.partition(":///")
    if not scheme.startswith("sqlite"):
        return True
    file = Path(path.partition("?")[0]).absolute()
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            named = "SELECT count(*) FROM sqlite_master WHERE name IN ('monitors', 'windows')"
            return bool(connection.execute(named).fetchone() == (2,))
    except sqlite3.Error:
        return False


def check_monitor(
    monitor: Monitor,
    *,
    now: datetime,
    mask: Callable[[str], str],
    open_source: Callable[[Monitor], PredictionSource],
    unread: Iterable[Problem] = (),
    other: str = "",
    evaluated: Set[tuple[datetime, int]] = frozenset(),
    doubts: Iterable[str] = (),
    quiet: Mapping[str, QuietAlarms] | None = None,
    sights: Mapping[str, str] | None = None,
) -> MonitorCheck:
    """Read a monitor's tables and say what the next run would do.

    Parameters
    ----------
    monitor : Monitor
    now : datetime
    mask : callable
        Hides secrets in a message.
    open_source : callable
        Opens the monitor's tables.
    unread : iterable of Problem
        Variables that are not set.
    other : str
        What is to be said of windows evaluated under another configuration.
    evaluated : set of (datetime, int)
    doubts : iterable of str
    quiet : mapping of str to QuietAlarms, optional
    sights : mapping of str to str, optional
        As of `InLedger`.
    """
    found: list[SourceDescription] = []
    audits: list[Worth] = []
    impossible: list[str] = []
    unreadable: list[str] = []
    missing = monitors_unread(unread).get(monitor.name, [])

    def describe() -> str:
        if missing:
            raise InputError("; ".join(problem.message for problem in missing))
        source = open_source(monitor)
        try:
            found.append(source.describe())
            audits.extend(prior_outlook(monitor, source, found[0], now=now))
            impossible.extend(impossible_prior(monitor, source, now=now))
            unreadable.extend(feature_warnings(monitor, source, found[0]))
        finally:
            source.close()
        return f"{found[0].predictions:,} predictions, {found[0].labels:,} labels"

    outcome = tried(f"monitors.{monitor.name}", describe, mask)
    said = (*((other,) if other else ()), *doubts)
    warned = (*prior_warnings(monitor, found[0] if found else None), *impossible)
    notes = tuple(prior_notes(monitor))
    if not found:
        return MonitorCheck(
            name=monitor.name,
            outcome=outcome,
            warnings=(*said, *warned),
            notes=notes,
            rules=tuple(rule_outlooks(monitor, first=None, quiet=quiet, sights=sights)),
        )
    description = found[0]
    return MonitorCheck(
        name=monitor.name,
        outcome=outcome,
        description=description,
        due=windows_due(monitor, description, now=now, evaluated=evaluated),
        warnings=(*said, *warned, *unreadable, *_warnings(monitor, description, now=now)),
        notes=notes,
        audits=tuple(audits),
        rules=tuple(rule_outlooks(monitor, first=description.first, quiet=quiet, sights=sights)),
    )


def windows_due(
    monitor: Monitor,
    description: SourceDescription,
    *,
    now: datetime,
    evaluated: Set[tuple[datetime, int]] = frozenset(),
) -> Due:
    """What a run at this moment would find due, but for what was `evaluated` before.

    All windows since the first prediction up to those after the last that rules ask for: one in
    which nothing was predicted is a finding too.
    """
    nothing = Due(windows=0, panes=0, mature=0, first=None, last=None, following=None)
    if description.first is None or description.last is None or description.first > now:
        return nothing
    end = min(now + timedelta.resolution, end_of_windows(monitor, description.last))
    schedule = monitor.pane_schedule
    panes = mature = done = 0
    due: list[Window] = []
    following: list[Pane] = []
    # The window that this moment is in is not due, but may be the next.
    for window in monitor.windows.between(description.first, end):
        ready = schedule.due(window, now)
        left = [pane for pane in ready if (window.start, pane.number) not in evaluated]
        if left:
            due.append(window)
        panes += len(left)
        done += len(ready) - len(left)
        mature += bool(left) and len(ready) > schedule.mature
        following += schedule.panes(window)[len(ready) : len(ready) + 1]
    return Due(
        windows=len(due),
        panes=panes,
        mature=mature,
        evaluated=done,
        first=due[0].start if due else None,
        last=due[-1].end if due else None,
        following=min(following, key=lambda pane: pane.as_of, default=None),
    )


def _warnings(monitor: Monitor, description: SourceDescription, *, now: datetime) -> Iterator[str]:
    first, last = description.first, description.last
    if first is None or last is None:
        yield "there are no predictions yet"
        return
    if last > now:
        yield f"predictions reach into the future, up to {last:%Y-%m-%d %H:%M} UTC: check time_zone"
    window = monitor.windows.containing(last)
    if now - last > 2 * (window.end - window.start):
        yield (
            f"the last prediction is from {last:%Y-%m-%d %H:%M} UTC: no window after "
            f"{end_of_windows(monitor, last):%Y-%m-%d %H:%M} UTC is due before there are others"
        )
    parts = (partial_beginning(monitor, first), partial_end(monitor, last, now=now))
    yield from filter(None, parts)
    yield from _label_warnings(monitor, description)
    if monitor.positives.known_at is None:
        yield (
            "without known_at every label counts at every moment: results for the past are not "
            "what they would have been then"
        )
    if monitor.reference is not None:
        start, end = monitor.reference.span(monitor.zone)
        if end <= first or start > last:
            yield (
                f"the reference has no predictions: they are from {first:%Y-%m-%d} to "
                f"{last:%Y-%m-%d}"
            )
        elif end + monitor.maturity > now:
            yield "the reference is not mature yet: nothing is compared with it before it is"
        yield from _short_reference(baseline_period(monitor).windows)
    slow = description.delay_quantiles.get(0.9)
    if slow is not None and timedelta(seconds=slow) > monitor.maturity:
        yield (
            f"one confirmation in ten comes after more than {slow / 86400:.1f} days: a maturity of "
            f"{monitor.maturity.total_seconds() / 86400:g} days leaves them out"
        )


def _short_reference(windows: int) -> Iterator[str]:
    if windows < FEWEST_WINDOWS:
        holds = {0: "no whole window", 1: "one window"}.get(windows, f"{windows} windows")
        yield (
            f"the reference holds {holds}, and {FEWEST_WINDOWS} are needed to see how much windows "
            "differ by themselves: nothing is compared with it; make it longer, or windows shorter"
        )


def _label_warnings(monitor: Monitor, description: SourceDescription) -> Iterator[str]:
    name = monitor.positives.source.name
    if description.labels == 0:
        yield (
            f"no confirmation was found in {name}: nothing but predictions is counted, and every "
            "estimate is undefined, until it has some; is it the right place?"
        )
        return
    # Delays are those of labels that confirm a prediction; without known_at there are none.
    median = description.delay_quantiles.get(0.5)
    if description.refused:
        share = 100 * description.refused / description.confirmed
        yield (
            f"{description.refused:,} of {description.confirmed:,} confirmed predictions "
            f"({share:.1f}%) were confirmed more than a day before they were made: such labels do "
            "not count; check known_at and time, their time_zone and time_unit, and that an id "
            "names one prediction and nothing that is scored again and again"
        )
    if median is None and not description.refused and monitor.positives.known_at is not None:
        yield (
            f"none of the {description.labels:,} labels of {name} confirms a prediction that is "
            f"here: check id of both tables ({monitor.predictions.id} and {monitor.positives.id}; "
            "spaces and leading zeros count)"
        )
    if median is not None and median < 0:
        yield (
            f"{description.early:,} of {description.confirmed:,} confirmed predictions were "
            "confirmed before they were made, by a day at most; they count: is known_at a date "
            "without a time of day, or do the clocks of the two tables differ?"
        )


def tried(what: str, attempt: Callable[[], str], mask: Callable[[str], str]) -> Outcome:
    """Attempt something; what goes wrong is told without secrets."""
    try:
        return Outcome(what=what, message=mask(attempt()))
    except InputError as error:
        return Outcome(what=what, message=mask(str(error)), failure="input")
    except PumonitorError as error:
        return Outcome(what=what, message=mask(str(error)), failure="operation")
    except Exception as error:  # noqa: BLE001 (a driver's own error, which may quote its address)
        message = mask(f"{type(error).__name__}: {error}".strip())
        return Outcome(what=what, message=message.splitlines()[0], failure="operation")


def as_plain(value: Any) -> Any:
    """Values of a table as JSON has them: times in ISO 8601, what is no number left out.

    Examples
    --------
    >>> as_plain({"score": float("nan"), "rows": 3})
    {'score': None, 'rows': 3}
    """
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
