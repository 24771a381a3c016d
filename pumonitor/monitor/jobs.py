"""A round of work: plan due windows, collect and evaluate them, deliver messages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from functools import cached_property, partial
from threading import Event
from typing import TYPE_CHECKING, Final

from pumonitor.monitor.alerts.links import LinksOf, no_links
from pumonitor.monitor.alerts.routing import packed
from pumonitor.monitor.audits.in_rounds import read_verdicts_in_round
from pumonitor.monitor.challenging.in_rounds import ScoreChallengers, score_in_round
from pumonitor.monitor.config.file import configuration_hash
from pumonitor.monitor.config.sections.destinations import Destination, SegmentMetrics
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.delivery.mlflow.sink import FILES_DESTINATION
from pumonitor.monitor.ledger.claims.owners import this_process
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.uses import TakenTurnsError, left_note
from pumonitor.monitor.round import OnProgress, Round, no_progress
from pumonitor.monitor.tidying import Tidying
from pumonitor.monitor.window_work import WindowWork
from pumonitor.monitor.windows.due.settled import is_quiet, rules_digest
from pumonitor.monitor.windows.monitor_tables import MonitorTables
from pumonitor.monitor.windows.plan import Planner
from pumonitor.ports import Clock, PredictionSource, Window

if TYPE_CHECKING:
    from pumonitor.monitor.alerts.alerting import Alerting
    from pumonitor.monitor.delivery.sending.delivery import Deliverer, Delivery
    from pumonitor.monitor.windows.evaluation.references import References

_log = logging.getLogger("pumonitor")

_BUDGET_FOR_FILES: Final = timedelta(minutes=1)


class Jobs:
    """A worker: plans, collects, evaluates and delivers until nothing is due.

    Parameters
    ----------
    monitors : mapping of str to Monitor
        Monitors to work for.
    ledger : Ledger
    open_source : callable
        Opens the tables of a monitor.
    clock : Clock
        Decides which panes are due.
    check_clock : callable
        Called before each round; raises `ClockError` where clocks are wrong, and returns what is
        to be said of them.
    deliverer : Deliverer, optional
        Without it messages stay in the outbox.
    segment_metrics : tuple of str, "all" or None
        Metrics of segments that are put into the outbox (`Tracking`); None if no results are.
    destinations : mapping of str to Destination, optional
        Destinations of notifications.
    configured : collection of str, optional
        All monitors of the configuration; by default those to work for.
    place : str, optional
        Machine and file of the configuration.
    links_of : callable, optional
        Returns the links of a notification.
    notify : bool
        Whether notifications of alerts are sent.
    keep_delivered : timedelta
        How long delivered messages are kept.
    keep_evaluations : timedelta, optional
        How long superseded evaluations are kept; by default for ever.
    on_step : callable, optional
        Called with the name of each step before it is made.
    score_challengers : callable, optional
        Scores the windows of a monitor's challengers that are due.
    files_of : callable, optional
        Returns the digest of a monitor's files (`files_digest`); None for tables of other kinds.

    Attributes
    ----------
    windows : WindowWork
        Collects and evaluates windows.
    """

    def __init__(
        self,
        monitors: Mapping[str, Monitor],
        ledger: Ledger,
        *,
        open_source: Callable[[Monitor], PredictionSource],
        clock: Clock,
        check_clock: Callable[[], str] = lambda: "",
        deliverer: Deliverer | None = None,
        segment_metrics: SegmentMetrics | None = "all",
        destinations: Mapping[str, Destination] | None = None,
        configured: Collection[str] | None = None,
        place: str | None = None,
        links_of: LinksOf = no_links,
        notify: bool = True,
        keep_delivered: timedelta = timedelta(days=30),
        keep_evaluations: timedelta | None = None,
        on_step: Callable[[str], None] = lambda step: None,
        score_challengers: ScoreChallengers | None = None,
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
            place=place,
        )
        self._configured = self.monitors if configured is None else configured
        self._place = place
        self._left_alone: set[str] = set()
        self._clock = clock
        self._check_clock = check_clock
        self._deliverer = deliverer
        self._notify = notify
        self._destinations = dict(destinations or {})
        self._links_of = links_of
        self._on_step = on_step
        self._scoring = score_challengers
        self._open_source = open_source
        self._stopped = Event()
        self._tidying = Tidying(
            ledger,
            stopped=self._stopped,
            keep_delivered=keep_delivered,
            keep_evaluations=keep_evaluations,
        )
        self.windows = WindowWork(
            self.monitors,
            self._hashes,
            ledger,
            owner=self.owner,
            tables=self._tables,
            clock=clock,
            alerting=lambda: self._alerting,
            segment_metrics=segment_metrics,
            on_step=on_step,
            is_stopped=self._stopped.is_set,
        )

    @property
    def references(self) -> References:
        """The monitors' references."""
        return self.windows.references

    @cached_property
    def _alerting(self) -> Alerting:
        from pumonitor.monitor.alerts.alerting import Alerting
        from pumonitor.monitor.alerts.inputs import alert_inputs

        return Alerting(
            {
                name: alert_inputs(
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
        """Stop delivering, and close the monitors' tables."""
        if self._deliverer is not None:
            self._deliverer.close()
        self._tables.close()

    def stop(self) -> None:
        """Stop after the current window and the current message. Can be called by any thread."""
        self._stopped.set()
        if self._deliverer is not None:
            self._deliverer.stop()

    def give_back(self) -> None:
        """Give back all that this process holds, because it ends before what has begun does."""
        self.ledger.release_all_of(self.owner)

    # -- planning -------------------------------------------------------------------------------

    def windows_due(self, name: str, *, start: datetime, end: datetime) -> list[Window]:
        """Windows of a range that have ended. Raises InputError for an invalid range."""
        return self._planner.of_range(name, start, end)

    def plan(
        self, name: str, *, start: datetime | None = None, end: datetime | None = None
    ) -> list[Window]:
        """Put ended windows into the ledger: those of a range, or those with predictions.

        For a range, the windows of the reference are planned too, as others are compared with them.
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
        """Like `plan`, but errors are added to `done`, so that work for other monitors goes on."""
        try:
            windows = self.plan(name, start=start, end=end)
        except StateError:
            raise
        except TakenTurnsError as error:
            self._left_alone.add(name)
            self._tables.unreadable.add(name)
            done.failed(name, error)
            return []
        except Exception as error:  # noqa: BLE001 (one broken monitor must not stop the others)
            # If its tables cannot be read, its windows would fail too and are left for later.
            self._tables.are_at_fault(name)
            done.unreadable[name] = done.failed(name, error)
            return []
        done.planned += len(windows)
        return windows

    def refresh_auxiliary(self, *, only: str | None = None) -> list[str]:
        """Delete the auxiliary scores of all monitors or one; the next window trains new ones.

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
        beside: Collection[str] | None = None,
        on_progress: OnProgress = no_progress,
        budget: timedelta = timedelta(minutes=5),
    ) -> Round:
        """Run one round, for all monitors or one.

        Windows that are due are collected and evaluated of all monitors, or of those in `beside`.

        1. Start delivery threads, so that messages of one monitor do not wait for others' windows.
           Where clocks are wrong, nothing else is done.
        2. Read verdicts on audits that are new, and delete ids that were kept long enough.
        3. Plan windows that have ended.
        4. Collect and evaluate all due panes; results are folded into alerts in the same
           transaction.
        5. Fold what is left into alerts.
        6. Let challengers score the windows that have matured.
        7. Deliver the rest of the outbox, for at most `budget` per destination. With a budget of 0
           nothing is delivered.
        8. Delete what was kept long enough, also with a budget only.

        One unreadable monitor does not stop the others; its windows are left for a later round.
        Tables are opened anew in each round: which files a pattern fits, and which version of a
        lake's table is the newest, is settled as they are opened.
        """
        done = Round()
        self._tables.unreadable.clear()
        self._left_alone.clear()
        if budget and self._deliverer is not None:
            # Messages of one monitor do not wait for the windows of others.
            self._deliverer.start()
        try:
            self._work(done, only=only, beside=beside, on_progress=on_progress)
        except StateError as error:
            # Nothing works without the state database; the attempt counts against no window.
            done.failures.append(str(error))
        finally:
            self._tables.close()
        if budget:
            on_progress("Delivering", 0, 0)
            done.deliveries = self.deliver(budget=budget)
            done.forgotten = self._tidying.forget_evaluations()
        return done

    def _work(
        self,
        done: Round,
        *,
        only: str | None,
        beside: Collection[str] | None,
        on_progress: OnProgress,
    ) -> None:
        if note := self._check_clock():
            done.notes.append(note)
        self._close_left(done)
        for name in self.monitors if only is None else (only,):
            if self.monitors[name].audits is not None:
                self._on_step("verdicts")
                read_verdicts_in_round(
                    self.monitors[name], self.ledger, now=self._clock(), on_failure=done.failed
                )
        for name in self._planner.unplanned(self.monitors if only is None else (only,)):
            on_progress(f"Planning {name}", 0, 0)
            self.plan_or_note(name, done)
        self.windows.limit_to(beside)
        self._drain(done, on_progress)
        self._note_looks(done, only)
        self.advance_alerts(done, only=only)
        for name in self.monitors if only is None else (only,):
            if (beside is None or name in beside) and name not in self._left_alone:
                self._score_challengers(self.monitors[name], done, on_progress)

    def _note_looks(self, done: Round, only: str | None) -> None:
        """Write down that this round looked at its monitors, and which it could not read."""
        names = self._hashes if only is None else (only,)
        self.ledger.standings.looked(
            {name: self._hashes[name] for name in names if name not in self._left_alone},
            at=self._clock(),
            problems=done.unreadable,
        )

    def take_over(self) -> None:
        """Put the configurations to use although others take turns with them."""
        self._planner.takes_over = True

    def _close_left(self, done: Round) -> None:
        """Resolve incidents of monitors that were taken out of this configuration file."""
        if self._place is None:
            return
        for name, place in self.ledger.left_monitors(self._configured).items():
            if place == self._place:
                file = place.rpartition("/")[2]
                self.close_monitor(name, because=f"The monitor is not in {file} any more.")
            if note := left_note(name, place=place, own=self._place):
                done.notes.append("; ".join(note))

    def close_monitor(self, name: str, *, because: str) -> None:
        """Resolve all open incidents of a monitor that nobody watches any more.

        Parameters
        ----------
        name : str
        because : str
            A sentence, which is sent with the resolution.
        """
        self._alerting.close_monitor(name, because=because)
        self._wake_delivery()

    def _score_challengers(self, monitor: Monitor, done: Round, on_progress: OnProgress) -> None:
        if self._scoring is not None and monitor.challengers is not None:
            self._on_step("challengers")
            score_in_round(
                monitor,
                self.ledger,
                done,
                self._scoring,
                open_source=self._open_source,
                on_progress=on_progress,
                is_stopped=self._stopped.is_set,
            )

    def drain(self, *, on_progress: OnProgress = no_progress) -> Round:
        """Collect and evaluate until no due window is left that this worker can claim."""
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
        """Like `drain`, but wait up to `patience` seconds for windows that other workers hold."""
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
        """Deliver the messages of the outbox within a budget; reports within `for_files`.

        Reports take seconds each, so they get a smaller budget.
        """
        if self._deliverer is None:
            return {}
        self._on_step("deliver")
        budgets = {FILES_DESTINATION: min(budget, for_files)}
        done = self._deliverer.deliver(budget=budget, budgets=budgets)
        self._tidying.forget_delivered()
        return done

    def start_delivering(self, on_delivery: Callable[[str, Delivery], None]) -> None:
        """Start threads that deliver messages as soon as they are in the outbox, until `close`.

        Parameters
        ----------
        on_delivery : callable
            Called by the threads with a destination and the result of a pass that sent something.
        """
        if self._deliverer is not None:
            self._deliverer.start(on_delivery)

    def tidy(self) -> None:
        """Delete messages and evaluations from the ledger that were kept long enough."""
        self._tidying.forget_delivered()
        self._tidying.forget_evaluations()

    def _wake_delivery(self) -> None:
        if self._deliverer is not None:
            self._deliverer.wake()

    def advance_alerts(self, done: Round, *, only: str | None = None) -> None:
        """Fold into alerts what no commit folded: for new rules, and after given-up windows."""
        standings, now = self.ledger.standings.all(), self._clock()
        for name in self.monitors if only is None else (only,):
            rules = rules_digest(self.monitors[name], self._hashes[name])
            if name in self._left_alone or is_quiet(standings.get(name), rules=rules, now=now):
                continue
            try:
                self._alerting.advance(name)
            except StateError:
                raise
            except Exception as error:  # noqa: BLE001 (alerts of other monitors are due as well)
                if name not in self._tables.unreadable:
                    done.failed(f"{name}, alerts", error)
        self._wake_delivery()
