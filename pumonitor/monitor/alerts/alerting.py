"""Fold results of the ledger into transitions of alerts, and messages about them.

Panes are folded one by one, ordered by their moment and then by window, and only once all earlier
ones are evaluated. So alerts do not depend on the order in which workers commit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from pumonitor.audit.fairness import check_fairness
from pumonitor.monitor.alerts.alert_inputs import AlertInputs
from pumonitor.monitor.alerts.incidents import AlertTransaction
from pumonitor.monitor.alerts.kept_tracks import KeptTracks, Placed
from pumonitor.monitor.alerts.rest import quiet_until
from pumonitor.monitor.alerts.track import Track
from pumonitor.monitor.ledger.alerts.alerts import AlertTables
from pumonitor.monitor.ledger.alerts.panes import (
    Position,
    next_panes,
    read_timeliness,
    with_results,
)
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.alerts import Progress, RecordedPane
from pumonitor.monitor.ledger.records.results import NewMessage
from pumonitor.monitor.ledger.results.looks import refused_looks
from pumonitor.monitor.ledger.standings import rest
from pumonitor.monitor.rules.alerts.alert import Place
from pumonitor.monitor.rules.alerts.by_clock import ClockCondition, ClockView
from pumonitor.monitor.rules.alerts.rule import KnownReference
from pumonitor.monitor.windows.class_prior.by_audits import past_audit
from pumonitor.ports import Clock

_log = logging.getLogger("pumonitor")
_AT_ONCE: Final = 200
"""Most panes folded in one transaction, as other workers wait for it."""


class Alerting:
    """Folds the results of monitors into alerts.

    Parameters
    ----------
    inputs : mapping of str to AlertInputs
        Monitor to its rules and references.
    ledger : Ledger
    clock : Clock
        Decides which panes are history and which silences apply.
    notifies : bool
        Whether notifications are sent. A backfill sends none.
    destinations : sequence of str
        All destinations.
    packed : callable, optional
        Turns the messages of one transaction into those for the outbox, such as groups.
    """

    def __init__(
        self,
        inputs: Mapping[str, AlertInputs],
        ledger: Ledger,
        *,
        clock: Clock,
        notifies: bool = True,
        destinations: Sequence[str] = (),
        packed: Callable[[Sequence[NewMessage]], list[NewMessage]] = list,
    ) -> None:
        self._packed = packed
        self._inputs = dict(inputs)
        self._ledger = ledger
        self._clock = clock
        self._notifies = notifies
        self._destinations = tuple(destinations)
        self._tracks = KeptTracks(ledger)
        self._left_out: dict[str, set[str]] = {}
        self._notified_at: dict[str, dict[Place, datetime]] = {}
        self._known: dict[str, tuple[datetime, KnownReference | None]] = {}

    def prepare(self, name: str) -> None:
        """Catch up with other workers' folds before a transaction that blocks them."""
        inputs = self._inputs[name]
        if inputs.rules:
            now = self._clock()
            self._known[name] = now, inputs.known_reference(now)
            with self._ledger.database.reading() as connection:
                self._tracks_of(inputs, AlertTables(connection, self._ledger.database))

    def forget(self, name: str) -> None:
        """Drop the folds kept in memory, which may be wrong after a rollback."""
        self._tracks.forget(name)

    def after_commit_of(
        self, connection: Connection, name: str, panes: Sequence[Position]
    ) -> list[NewMessage]:
        """Fold new results, in the transaction that stores them.

        Parameters
        ----------
        connection : Connection
        name : str
            Name of the monitor.
        panes : sequence of (datetime, datetime)
            Positions of the panes with new results.

        Returns
        -------
        list of NewMessage
            Messages for the outbox.
        """
        inputs = self._inputs[name]
        if not inputs.rules:
            return []
        tables = AlertTables(connection, self._ledger.database)
        tables.alone(name)
        transaction = self._transaction(inputs, tables)
        self._fold(inputs, tables, transaction, changed=panes)
        transaction.store()
        return self._packed(transaction.messages)

    def advance(self, name: str) -> None:
        """Fold what is left: for new rules, after given-up windows, and to close old rules."""
        inputs = self._inputs[name]
        try:
            if self._is_behind(inputs):
                self.prepare(name)
                while self._advance(inputs, folds=True) and self._is_behind(inputs):
                    pass
            elif self._has_duties(inputs):
                self._advance(inputs, folds=False)
            self._rest(inputs)
        except BaseException:
            self.forget(name)
            raise

    def close_monitor(self, name: str, *, because: str) -> None:
        """Resolve all open incidents of a monitor that nobody watches any more.

        Parameters
        ----------
        name : str
        because : str
            A sentence, which is sent with the resolution.
        """
        with self._ledger.database.writing() as connection:
            tables = AlertTables(connection, self._ledger.database)
            tables.alone(name)
            transaction = AlertTransaction(
                tables,
                monitor=name,
                rules=(),
                now=self._clock(),
                notifies=self._notifies,
                destinations=self._destinations,
            )
            transaction.close_others(because=because)
            transaction.store()
            messages = self._packed(transaction.messages)
            enqueue(connection, self._ledger.database, messages, at=transaction.at)

    def _advance(self, inputs: AlertInputs, *, folds: bool) -> bool:
        """Run one transaction; returns whether more may be left to fold."""
        with self._ledger.database.writing() as connection:
            tables = AlertTables(connection, self._ledger.database)
            tables.alone(inputs.name)
            transaction = self._transaction(inputs, tables)
            transaction.close_others()
            more = folds and self._fold(inputs, tables, transaction)
            if self._notifies:
                self._by_the_clock(inputs, tables, transaction)
            transaction.store()
            messages = self._packed(transaction.messages)
            enqueue(connection, self._ledger.database, messages, at=transaction.at)
        return more

    def _is_behind(self, inputs: AlertInputs) -> bool:
        """Whether there are panes or rules that have not been folded."""
        with self._ledger.database.reading() as connection:
            tables = AlertTables(connection, self._ledger.database)
            return self._has_news(inputs, tables, without=self._left_out.get(inputs.name, set()))

    def _has_news(self, inputs: AlertInputs, tables: AlertTables, *, without: Set[str]) -> bool:
        stored = tables.progress(inputs.name)
        if set(stored) != {rule.key for rule in inputs.rules if not rule.goes_by_the_clock}:
            return True
        places = {one.position for key, one in stored.items() if key not in without}
        now = self._clock()
        return any(self._events(inputs, tables, place, now=now, limit=1) for place in places)

    def _has_duties(self, inputs: AlertInputs) -> bool:
        """Whether something is due that does not depend on new panes."""
        if self._notifies and any(rule.goes_by_the_clock for rule in inputs.rules):
            return True
        with self._ledger.database.reading() as connection:
            alerts = AlertTables(connection, self._ledger.database).alerts(inputs.name)
        keys = {rule.key for rule in inputs.rules}
        return any(
            one.rule_key not in keys and (one.closed_at is None or one.told_firing)
            for one in alerts
        ) or (self._notifies and inputs.have_stopped() and any(one.is_firing for one in alerts))

    def _rest(self, inputs: AlertInputs) -> None:
        """Store the time until which nothing is due for this monitor."""
        if not inputs.rules_digest:
            return
        now = self._clock()
        with self._ledger.database.writing() as connection:
            tables = AlertTables(connection, self._ledger.database)
            tables.alone(inputs.name)
            until = None
            if not self._has_news(inputs, tables, without=frozenset()):
                until = quiet_until(
                    tables,
                    monitor=inputs.name,
                    configuration=inputs.configuration,
                    rules=inputs.rules,
                    have_stopped=inputs.have_stopped(),
                    now=now,
                )
            if until is not None:
                rest(
                    connection,
                    self._ledger.database,
                    monitor=inputs.name,
                    configuration=inputs.configuration,
                    rules=inputs.rules_digest,
                    until=until,
                )

    # -- folding ----------------------------------------------------------------------------------

    def _tracks_of(self, inputs: AlertInputs, tables: AlertTables) -> list[Placed]:
        """Tracks of the monitor's rules, at the progress stored in the ledger."""
        _, known_reference = self._known.get(inputs.name, (None, None))
        left_out = self._left_out.get(inputs.name, set())
        return self._tracks.of(inputs, tables, known_reference=known_reference, left_out=left_out)

    def _fold(
        self,
        inputs: AlertInputs,
        tables: AlertTables,
        transaction: AlertTransaction,
        *,
        changed: Sequence[Position] = (),
    ) -> bool:
        """Fold changed panes and then new ones; returns whether more may be left."""
        tracks = self._tracks_of(inputs, tables)
        more = False
        now = self._known[inputs.name][0] if inputs.name in self._known else self._clock()
        for place, (at, track) in enumerate(tracks):
            progress = self._corrected(inputs, tables, track, at, changed, transaction)
            events = self._events(inputs, tables, progress.position, now=now, limit=_AT_ONCE)
            more = more or len(events) == _AT_ONCE
            for found in with_results(tables.connection, events, metrics=track.metrics):
                touched = track.take(found)
                self._leave_out_broken(inputs, track, progress, transaction)
                transaction.take_pane(track, found.pane, touched)
                progress = replace(
                    progress, as_of=found.pane.as_of, window_start=found.pane.window.start
                )
            tracks[place] = (progress, track)
            transaction.progress |= dict.fromkeys(track.folds, progress)
        if len(tracks) > 1 and len({progress for progress, _ in tracks}) == 1:
            # All tracks have reached the same position, so the next fold can join them.
            self.forget(inputs.name)
        return more

    def _events(
        self,
        inputs: AlertInputs,
        tables: AlertTables,
        after: Position | None,
        *,
        now: datetime,
        limit: int,
    ) -> list[RecordedPane]:
        return next_panes(
            tables.connection,
            monitor=inputs.name,
            configuration=inputs.configuration,
            after=after,
            now=now,
            attempts_allowed=self._ledger.rules.attempts_allowed,
            limit=limit,
        )

    def _leave_out_broken(
        self, inputs: AlertInputs, track: Track, progress: Progress, transaction: AlertTransaction
    ) -> None:
        """Exclude rules that raised an error until the process ends, so that others go on."""
        for key, why in track.broken.items():
            if key not in self._left_out.setdefault(inputs.name, set()):
                self._left_out[inputs.name].add(key)
                transaction.progress[key] = replace(progress, last_error=why)
                _log.error("%s: a rule cannot be evaluated: %s", inputs.name, why)

    def _by_the_clock(
        self, inputs: AlertInputs, tables: AlertTables, transaction: AlertTransaction
    ) -> None:
        now, stopped = self._clock(), inputs.have_stopped()
        view = self._clock_view(inputs, tables, now=now, have_stopped=stopped)
        for rule in inputs.rules:
            if isinstance(rule.condition, ClockCondition):
                if view is not None:
                    evidence = rule.condition.evidence_now(view)
                    transaction.take_clock_evidence(rule, evidence, as_of=now)
            elif stopped:
                # Without further windows reminders are sent by the clock.
                transaction.remind_by_the_clock(rule, as_of=now)

    def _clock_view(
        self, inputs: AlertInputs, tables: AlertTables, *, now: datetime, have_stopped: bool
    ) -> ClockView | None:
        """None before the first results, and if no rule goes by the clock."""
        if not any(rule.goes_by_the_clock for rule in inputs.rules):
            return None
        name, configuration = inputs.name, inputs.configuration
        known = read_timeliness(
            tables.connection, monitor=name, configuration=configuration, now=now
        )
        if known.newest is None or known.first is None:
            return None
        return ClockView(
            now=now,
            newest=known.newest,
            first=known.first,
            oldest_due=known.oldest_due,
            have_stopped=have_stopped,
            lost_rows=lambda: [
                look.window.start for look in refused_looks(tables.connection, name)
            ],
            audits=lambda: self._ledger.audits_as_read(name, configuration),
            fairness=lambda audit: check_fairness(past_audit(audit).counts),
        )

    def _transaction(self, inputs: AlertInputs, tables: AlertTables) -> AlertTransaction:
        return AlertTransaction(
            tables,
            monitor=inputs.name,
            rules=inputs.rules,
            now=self._clock(),
            notifies=self._notifies,
            destinations=self._destinations,
            cause_of=inputs.cause_of,
            notified_at=self._notified_at.setdefault(inputs.name, {}),
        )

    def _corrected(
        self,
        inputs: AlertInputs,
        tables: AlertTables,
        track: Track,
        at: Progress,
        changed: Sequence[Position],
        transaction: AlertTransaction,
    ) -> Progress:
        """Fold changed panes again; transitions get the moment of the last folded pane."""
        if at.position is None:
            return at
        old = [position for position in changed if position <= at.position]
        if not old:
            return at
        touched: set[str] = set()
        panes = self._tracks.panes_until(inputs, tables, at.position)
        again = [pane for pane in panes if pane.position in old]
        for pane in with_results(tables.connection, again, metrics=track.metrics):
            touched |= track.take(pane)
        if panes:
            transaction.take_pane(
                track, replace(panes[-1], as_of=at.position[0]), frozenset(touched)
            )
        return replace(at, generation=at.generation + 1)
