"""One round of work: plan what is due, collect and evaluate it, deliver what came of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cached_property, partial
from threading import Event
from typing import TYPE_CHECKING, Final

from pumonitor.monitor.alerts.links import LinksOf, no_links
from pumonitor.monitor.alerts.routing import key_of_beginning, packed
from pumonitor.monitor.config.configuration import Destination, Monitor
from pumonitor.monitor.config.file import configuration_hash
from pumonitor.monitor.delivery.mlflow.sink import FILES_DESTINATION
from pumonitor.monitor.ledger.claims.owners import this_process
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.round import OnProgress, Round, no_progress
from pumonitor.monitor.window_work import WindowWork
from pumonitor.monitor.windows.due.settled import is_quiet, rules_digest
from pumonitor.monitor.windows.monitor_tables import MonitorTables
from pumonitor.monitor.windows.plan import Planner
from pumonitor.ports import Clock, PredictionSource, Window

if TYPE_CHECKING:
    from pumonitor.monitor.alerts.alerting import Alerting
    from pumonitor.monitor.delivery.sending.delivery import Deliverer, Delivery
    from pumonitor.monitor.windows.evaluation.references import References

__all__ = ["Jobs"]

_log = logging.getLogger("pumonitor")

_BUDGET_FOR_FILES: Final = timedelta(minutes=1)
_BATCHES_FORGOTTEN: Final = 20


class Jobs:
    """What a worker does, as long as there is something to do.

    Parameters
    ----------
    monitors : mapping of str to Monitor
        Those to work for.
    ledger : Ledger
    open_source : callable
        Opens the tables of a monitor.
    clock : Clock
        What is due is judged by it.
    deliverer : Deliverer, optional
        Without it what is to be sent waits.
    sends_results : bool
        Whether results are written to the outbox.
    destinations : mapping of str to Destination, optional
        Where alerts go.
    links_of : callable, optional
        What their messages link to.
    notify : bool
        Whether notifications of alerts are sent.
    keep_delivered : timedelta
        For how long messages are kept that have arrived.
    on_step : callable, optional
        Called with the name of each step before it is made.
    files_of : callable, optional
        Digest of a monitor's files as they are now, as `files_digest`; None for other tables.

    Attributes
    ----------
    windows : WindowWork
        Collects and evaluates.
    """

    def __init__(
        self,
        monitors: Mapping[str, Monitor],
        ledger: Ledger,
        *,
        open_source: Callable[[Monitor], PredictionSource],
        clock: Clock,
        deliverer: Deliverer | None = None,
        sends_results: bool = True,
        destinations: Mapping[str, Destination] | None = None,
        links_of: LinksOf = no_links,
        notify: bool = True,
        keep_delivered: timedelta = timedelta(days=30),
        on_step: Callable[[str], None] = lambda step: None,
        files_of: Callable[[Monitor], str | None] = lambda monitor: None,
    ) -> None:
        self.monitors = dict(monitors)
        self.ledger = ledger
        self.owner = str(this_process())
        self._hashes = {name: configuration_hash(one) for name, one in self.monitors.items()}
        self._tables = MonitorTables(self.monitors, open_source)
        self._planner = Planner(
            self.monitors,
            self._hashes,
            ledger,
            source_of=self._tables.of,
            clock=clock,
            files_of=files_of,
        )
        self._clock = clock
        self._deliverer = deliverer
        self._notify = notify
        self._destinations = dict(destinations or {})
        self._links_of = links_of
        self._keep_delivered = keep_delivered
        self._on_step = on_step
        self._stopped = Event()
        self.windows = WindowWork(
            self.monitors,
            self._hashes,
            ledger,
            owner=self.owner,
            tables=self._tables,
            clock=clock,
            alerting=lambda: self._alerting,
            sends_results=sends_results,
            on_step=on_step,
        )

    @property
    def references(self) -> References:
        """The monitors' references."""
        return self.windows.references

    @cached_property
    def _alerting(self) -> Alerting:
        from pumonitor.monitor.alerts.alerting import Alerting
        from pumonitor.monitor.alerts.inputs import watched

        return Alerting(
            {
                name: watched(
                    one,
                    self._hashes[name],
                    ledger=self.ledger,
                    references=self.references,
                    have_stopped=partial(self._planner.has_stopped, name),
                )
                for name, one in self.monitors.items()
            },
            self.ledger,
            clock=self._clock,
            notifies=self._notify,
            destinations=tuple(self._destinations),
            packed=partial(packed, self._destinations, links_of=self._links_of),
        )

    def close(self) -> None:
        """Stop sending, and let go of the monitors' tables."""
        if self._deliverer is not None:
            self._deliverer.close()
        self._tables.close()

    def stop(self) -> None:
        """End after the window that is being worked on and the message that is being sent."""
        self._stopped.set()
        if self._deliverer is not None:
            self._deliverer.stop()

    # -- planning -------------------------------------------------------------------------------

    def windows_due(self, name: str, *, start: datetime, end: datetime) -> list[Window]:
        """Windows of a range that have ended; what is wrong with the range is an error."""
        return self._planner.of_range(name, start, end)

    def plan(
        self, name: str, *, start: datetime | None = None, end: datetime | None = None
    ) -> list[Window]:
        """Put windows that have ended into the ledger: of a range, or those with predictions.

        With those of a range those of the reference, since others are compared with them.
        """
        self._on_step("plan")
        if start is None or end is None:
            return self._planner.plan(name)
        return self._planner.plan_range(name, start, end)

    def plan_or_note(
        self,
        name: str,
        done: Round,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
    ) -> list[Window]:
        """As `plan`; what goes wrong is noted, so that other monitors are worked for."""
        try:
            windows = self.plan(name, start=start, end=end)
        except StateError:
            raise
        except Exception as error:  # noqa: BLE001 (one broken monitor must not stop the others)
            # If its tables are at fault, its windows are left alone: they would come to the same.
            self._tables.are_at_fault(name)
            done.failed(name, error)
            return []
        done.planned += len(windows)
        return windows

    def refresh_auxiliary(self, *, only: str | None = None) -> list[str]:
        """Forget the auxiliary scores of all monitors or one: the next window trains them anew.

        Returns
        -------
        list of str
            Monitors that had one.
        """
        names = self.monitors if only is None else (only,)
        return [name for name in names if self.ledger.forget_auxiliary(name, self._hashes[name])]

    # -- work -----------------------------------------------------------------------------------

    def run(
        self,
        *,
        only: str | None = None,
        on_progress: OnProgress = no_progress,
        budget: timedelta = timedelta(minutes=5),
    ) -> Round:
        """Plan all monitors or one and do all that is due; deliver meanwhile and at the end.

        Each destination has `budget` for what is left at the end; without any nothing is sent
        here. A monitor whose tables cannot be read is left alone until the next round.
        """
        done = Round()
        self._tables.unreadable.clear()
        if budget and self._deliverer is not None:
            # Alerts of one monitor do not wait for the windows of others.
            self._deliverer.start()
        try:
            self._work(done, only=only, on_progress=on_progress)
        except StateError as error:
            # Without the state database nothing can be done, and no window is to blame.
            done.failures.append(str(error))
        if budget:
            on_progress("Delivering", 0, 0)
            done.deliveries = self.deliver(budget=budget)
        return done

    def _work(self, done: Round, *, only: str | None, on_progress: OnProgress) -> None:
        for name in self._planner.unplanned(self.monitors if only is None else (only,)):
            on_progress(f"Planning {name}", 0, 0)
            self.plan_or_note(name, done)
        done.stopped = self._planner.stopped
        self._drain(done, on_progress)
        self.advance_alerts(done, only=only)

    def drain(self, *, on_progress: OnProgress = no_progress) -> Round:
        """Collect and evaluate until nothing is left that this worker can do."""
        done = Round()
        self._drain(done, on_progress)
        return done

    def _drain(self, done: Round, on_progress: OnProgress) -> None:
        self.windows.give_back_left_behind()
        while not self._stopped.is_set():
            if self.windows.collect_next(done, on_progress):
                continue
            if not self.windows.evaluate_next(done, on_progress):
                return
            self._wake_delivery()

    def drain_with_others(self, *, patience: float = 5.0, pause: float = 0.05) -> Round:
        """Like `drain`, but wait a little for windows that others hold and these wait for."""
        done = self.drain()
        idle = 0.0
        while idle < patience and not self._stopped.wait(pause) and self._others_at_work():
            more = self.drain()
            idle = 0.0 if more.collected or more.evaluated else idle + pause
            done.add(more)
        return done

    def _others_at_work(self) -> bool:
        now = self._clock()
        backlogs = [self.ledger.counts(now=now, monitor=name) for name in self.monitors]
        return any(one.to_collect + one.to_evaluate > one.failing for one in backlogs)

    def deliver(
        self, *, budget: timedelta, for_files: timedelta = _BUDGET_FOR_FILES
    ) -> Mapping[str, Delivery]:
        """Send what waits in the outbox; reports, which take seconds each, for a minute at most."""
        if self._deliverer is None:
            return {}
        self._on_step("deliver")
        budgets = {FILES_DESTINATION: min(budget, for_files)}
        done = self._deliverer.deliver(budget=budget, budgets=budgets)
        try:
            self.forget_delivered()
        except StateError as error:
            _log.warning("messages delivered long ago could not be deleted: %s", error)
        return done

    def start_delivering(self, on_delivery: Callable[[str, Delivery], None]) -> None:
        """Send whatever is put into the outbox as soon as it is there, until `close`.

        Parameters
        ----------
        on_delivery : callable
            Called, by threads, with a destination and what came of a pass that did something.
        """
        if self._deliverer is not None:
            self._deliverer.start(on_delivery)

    def forget_delivered(self) -> None:
        """Delete some of the messages that arrived long ago; later rounds go on with it."""
        outbox = self.ledger.outbox
        for _ in range(_BATCHES_FORGOTTEN):
            if self._stopped.is_set():
                return
            # Alertmanager is sent firing alerts again and again, however long ago they began.
            keep = [
                key_of_beginning(one)
                for one in self.ledger.alerts.current(closed=True)
                if one.told_incident
            ]
            if not outbox.forget_delivered(older_than=self._keep_delivered, keep=keep):
                return

    def _wake_delivery(self) -> None:
        if self._deliverer is not None:
            self._deliverer.wake()

    def advance_alerts(self, done: Round, *, only: str | None = None) -> None:
        """Fold into alerts what no commit did: of rules that are new, of windows given up."""
        standings, now = self.ledger.standings.all(), self._clock()
        for name in self.monitors if only is None else (only,):
            rules = rules_digest(self.monitors[name], self._hashes[name])
            if is_quiet(standings.get(name), rules=rules, now=now):
                continue
            try:
                self._alerting.advance(name)
            except StateError:
                raise
            except Exception as error:  # noqa: BLE001 (alerts of other monitors are due as well)
                if name not in self._tables.unreadable:
                    done.failed(f"{name}, alerts", error)
        self._wake_delivery()
