"""Check all connections and tables of a configuration, without changing or sending anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pumonitor.errors import InputError, PumonitorError, did_you_mean
from pumonitor.monitor.alerts.false_alarms import QuietAlarms, rules_on_quiet_windows
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.sections.destinations import KINDS, Destination
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.sources import Source
from pumonitor.monitor.config.values.variables import Secret
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
from pumonitor.monitor.inspection.outcomes import Outcome, tried
from pumonitor.monitor.inspection.reading_cost import PastReadings, past_readings
from pumonitor.monitor.windows.input_findings import findings_of_windows, summed_up
from pumonitor.text import moment_text

if TYPE_CHECKING:
    from pumonitor.monitor.challenging.challengers import Challenger
    from pumonitor.monitor.ledger.reader import LedgerReader

__all__ = [
    "DestinationSummary",
    "InLedger",
    "check_configuration",
    "destination_summaries",
    "in_the_ledger",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class InLedger:
    """Windows of one monitor that were evaluated, and findings about them.

    Attributes
    ----------
    panes : frozenset of (datetime, int)
        Start of the window and number of each pane evaluated under the present configuration.
    other : OtherConfiguration or None
        Windows evaluated under another configuration.
    doubts : tuple of str
        Evidence against an assumed class prior, and findings about counted rows.
    quiet : mapping of str to QuietAlarms
        By rule key, the false alarms of the rule in windows in which nothing had changed.
    sights : mapping of str to str
        By rule key, how soon the rule detects a fall.
    past : PastReadings or None
        What counting the newest windows took.
    """

    panes: frozenset[tuple[datetime, int]] = frozenset()
    other: OtherConfiguration | None = None
    doubts: tuple[str, ...] = ()
    quiet: Mapping[str, QuietAlarms] = field(default_factory=dict)
    sights: Mapping[str, str] = field(default_factory=dict)
    past: PastReadings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationSummary:
    """A destination, and whether its secrets are set."""

    name: str
    kind: str
    secrets: str


def check_configuration(configuration: Configuration) -> Iterator[Outcome]:
    """Try the state database, the tracking server, destinations and challengers in turn."""
    mask = configuration.mask
    yield tried("state", lambda: check_state_database(configuration.state_address), mask)
    tracking = configuration.tracking
    if tracking is not None:
        yield tried("tracking", lambda: check_tracking(tracking.address), mask)
        if tracking.registry is not None:
            yield tried(
                "tracking.registry", lambda: check_tracking(tracking.registry_address), mask
            )
    for name, destination in configuration.destinations.items():

        def resolve(destination: Destination = destination) -> str:
            # All of its secrets, of which only the address is needed to find the host.
            _read(destination.secrets)
            return check_destination(destination)

        yield tried(f"destinations.{name}", resolve, mask)
    for monitor in configuration.monitors.values():
        yield from check_challengers(configuration, monitor)


def check_challengers(configuration: Configuration, monitor: Monitor) -> Iterator[Outcome]:
    """Find the table of features, and the challengers that are versions of the registry."""
    if monitor.challengers is None:
        return
    features = monitor.challengers.features
    if features is not None and (source := features.source) is not None:
        known_at = () if features.known_at is None else (features.known_at,)
        named = (features.id or monitor.predictions.id, *features.columns, *known_at)
        yield tried(
            f"{monitor.name}.challengers.features",
            lambda: _columns_found(source, named, is_timed=bool(known_at)),
            configuration.mask,
        )
    if not monitor.challengers.links:
        return
    from pumonitor.monitor.challenging.challengers import AlreadyDeployedError, NoVersionYetError
    from pumonitor.monitor.challenging.judged import challengers_of

    for name, found in challengers_of(configuration, monitor).items():
        if name not in monitor.challengers.links:
            continue

        def resolve(found: Challenger | PumonitorError = found) -> str:
            if isinstance(found, AlreadyDeployedError | NoVersionYetError):
                return str(found)
            if isinstance(found, PumonitorError):
                raise found
            until = found.trained_until
            since = "" if until is None else f", judged on windows from {moment_text(until)}"
            return f"{found.scored_by}{since}"

        yield tried(f"{monitor.name}.challengers.{name}", resolve, configuration.mask)


def _columns_found(source: Source, named: Sequence[str], *, is_timed: bool) -> str:
    """Raises unless a source of features has the columns that are named, the id first."""
    from pumonitor.monitor.windows.opening import place_of
    from pumonitor.sources.rows_by_id import column_names

    known = column_names(str(place_of(source)))
    for column in named:
        if column not in known:
            msg = f"{source.name} has no column {column!r}{did_you_mean(column, known)}"
            raise InputError(msg)
    found = f"{len(known)} columns, one of them the id of the prediction"
    if is_timed:
        return f"{found}; the last row counts that was known when the prediction was made"
    return (
        f"{found}; no known_at is named, so rows are taken to be as they were at the prediction: "
        "a model that is given what changed since then looks better than it is"
    )


def _read(secrets: Iterable[Secret]) -> None:
    for secret in secrets:
        secret.get()


def destination_summaries(configuration: Configuration) -> list[DestinationSummary]:
    """All destinations, in the order of the configuration."""
    found = []
    for name, one in configuration.destinations.items():
        missing = [problem.message for secret in one.secrets for problem in secret.missing()]
        secrets = "there"
        if missing:
            secrets = "; ".join(missing)
        elif not KINDS[one.kind].is_secret:
            secrets = "none needed"
        elif one.kind == "webhook" and one.secret is None:
            secrets = "none: messages are not signed"
        found.append(DestinationSummary(name=name, kind=one.kind, secrets=secrets))
    return found


def in_the_ledger(configuration: Configuration, *, now: datetime) -> dict[str, InLedger]:
    """Evaluated windows by monitor; none if the ledger cannot be read.

    The database is neither created nor upgraded.
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
                    past=past_readings(ledger, name),
                )
        finally:
            database.close()
    except (PumonitorError, SQLAlchemyError):
        # The error is reported by the check of the state database.
        return {}
    return found


def _found_in_rows(ledger: LedgerReader, name: str) -> list[str]:
    """Findings about windows, except those that are reported for the tables as a whole."""
    found = findings_of_windows(ledger.windows(name))
    of_tables = {"refused_labels", "early_labels", "unmatched_labels"}
    return summed_up(one for one in found if one.kind not in of_tables)


def _holds_a_ledger(address: str) -> bool:
    """Whether a SQLite file is a ledger: opening another database would change its journal mode."""
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
