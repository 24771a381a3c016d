"""One round of work: plan what is due, collect and evaluate it, deliver what came of it."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property, partial
from threading import Event
from typing import TYPE_CHECKING, Final

from pumonitor.errors import InputError, PumonitorError
from pumonitor.monitor.alerts.links import LinksOf, no_links
from pumonitor.monitor.alerts.routing import key_of_beginning, packed
from pumonitor.monitor.config.configuration import Destination, Monitor
from pumonitor.monitor.config.file import configuration_hash
from pumonitor.monitor.delivery.mlflow.sink import FILES_DESTINATION
from pumonitor.monitor.ledger.claims.claims import FaultOf
from pumonitor.monitor.ledger.claims.owners import this_process
from pumonitor.monitor.ledger.claims.renewal import renewed
from pumonitor.monitor.ledger.database.errors import StaleClaimError, StateError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.results import EvaluatedPane, NewMessage
from pumonitor.monitor.windows.due.settled import is_quiet, rules_digest
from pumonitor.monitor.windows.input_findings import WindowFinding, findings_of
from pumonitor.monitor.windows.monitor_tables import MonitorTables
from pumonitor.monitor.windows.plan import Planner
from pumonitor.ports import Clock, PredictionSource, Window

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pumonitor.monitor.alerts.alerting import Alerting
    from pumonitor.monitor.delivery.sending.delivery import Deliverer, Delivery
    from pumonitor.monitor.windows.auxiliary.auxiliary import AuxiliaryScores
    from pumonitor.monitor.windows.class_prior.followed import FollowedPriors
    from pumonitor.monitor.windows.evaluation.references import References

__all__ = ["Jobs", "Round", "Told"]

_log = logging.getLogger("pumonitor")

_BUDGET_FOR_FILES: Final = timedelta(minutes=1)
_BATCHES_FORGOTTEN: Final = 20
_OF_THE_MACHINE: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO}
)
"""A full or broken disk, too many open files: no fault of a window."""

Told = Callable[[str, int, int], None]
"""Called with what is done, how much work is finished, and of how much; 0 of 0: no telling."""


def _tell_nobody(_what: str, _done: int, _of: int) -> None:
    pass


@dataclass(slots=True, kw_only=True)
class Round:
    """What a round of work came to.

    Attributes
    ----------
    planned, collected, evaluated : int
        Windows.
    failures : list of str
        One sentence for each attempt that failed.
    bad_input : int
        Those of them that come again until the data or the configuration change.
    findings : list of WindowFinding
        What people have to know of the rows of windows that were collected.
    deliveries : mapping of str to Delivery
        By destination.
    stopped : mapping of str to datetime
        The last prediction of each monitor of which no window is due before there are others.
    """

    planned: int = 0
    collected: int = 0
    evaluated: int = 0
    failures: list[str] = field(default_factory=list)
    bad_input: int = 0
    findings: list[WindowFinding] = field(default_factory=list)
    deliveries: Mapping[str, Delivery] = field(default_factory=dict)
    stopped: Mapping[str, datetime] = field(default_factory=dict)

    def add(self, other: Round) -> None:
        """Count another worker's work as well."""
        self.planned += other.planned
        self.collected += other.collected
        self.evaluated += other.evaluated
        self.failures += other.failures
        self.bad_input += other.bad_input
        self.findings += other.findings

    def failed(self, what: str, error: Exception) -> str:
        """Count an attempt that failed; an error nobody foresaw is logged with its traceback.

        Parameters
        ----------
        what : str
            Monitor and window.
        error : Exception

        Returns
        -------
        str
            What is said of the error.
        """
        if isinstance(error, PumonitorError):
            said = str(error)
            self.bad_input += isinstance(error, InputError)
        else:
            said = f"{type(error).__name__}: {error}"
            _log.error("%s failed unexpectedly", what, exc_info=error)
        self.failures.append(f"{what}: {said}")
        return said


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
    tell : bool
        Whether results are written to the outbox.
    destinations : mapping of str to Destination, optional
        Where alerts go.
    links_of : callable, optional
        What their messages link to.
    notify : bool
        Whether anybody is told of alerts.
    keep_delivered : timedelta
        For how long messages are kept that have arrived.
    on_step : callable, optional
        Called with the name of each step before it is made.
    files_of : callable, optional
        Digest of a monitor's files as they are now, as `files_digest`; None for other tables.
    """

    def __init__(
        self,
        monitors: Mapping[str, Monitor],
        ledger: Ledger,
        *,
        open_source: Callable[[Monitor], PredictionSource],
        clock: Clock,
        deliverer: Deliverer | None = None,
        tell: bool = True,
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
        self._tell_sinks = tell
        self._notify = notify
        self._destinations = dict(destinations or {})
        self._links_of = links_of
        self._keep_delivered = keep_delivered
        self._on_step = on_step
        self._left_behind: list[Claim] = []
        self._stopped = Event()

    # What a round with nothing to do does without is loaded by those that do something.

    @cached_property
    def references(self) -> References:
        """The monitors' references."""
        from pumonitor.monitor.windows.evaluate import references_in

        return references_in(self.ledger, self._priors)

    @cached_property
    def _priors(self) -> FollowedPriors:
        from pumonitor.monitor.windows.class_prior.followed import FollowedPriors

        return FollowedPriors(self.ledger)

    @property
    def _auxiliary(self) -> AuxiliaryScores:
        return self._priors.auxiliary

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
            tells=self._notify,
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
        told: Told = _tell_nobody,
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
            self._work(done, only=only, told=told)
        except StateError as error:
            # Without the state database nothing can be done, and no window is to blame.
            done.failures.append(str(error))
        if budget:
            told("Delivering", 0, 0)
            done.deliveries = self.deliver(budget=budget)
        return done

    def _work(self, done: Round, *, only: str | None, told: Told) -> None:
        for name in self._planner.unplanned(self.monitors if only is None else (only,)):
            told(f"Planning {name}", 0, 0)
            self.plan_or_note(name, done)
        done.stopped = self._planner.stopped
        self._drain(done, told)
        self.advance_alerts(done, only=only)

    def drain(self, *, told: Told = _tell_nobody) -> Round:
        """Collect and evaluate until nothing is left that this worker can do."""
        done = Round()
        self._drain(done, told)
        return done

    def _drain(self, done: Round, told: Told) -> None:
        while self._left_behind:
            # They could not be given back when the state database was away.
            self.ledger.release(self._left_behind[0])
            del self._left_behind[0]
        while not self._stopped.is_set() and (
            self._collect_next(done, told) or self._evaluate_next(done, told)
        ):
            pass

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

    def start_delivering(self, told: Callable[[str, Delivery], None]) -> None:
        """Send whatever is put into the outbox as soon as it is there, until `close`.

        Parameters
        ----------
        told : callable
            Called, by threads, with a destination and what came of a pass that did something.
        """
        if self._deliverer is not None:
            self._deliverer.start(told)

    def forget_delivered(self) -> None:
        """Delete some of the messages that arrived long ago; later rounds go on with it."""
        outbox = self.ledger.outbox
        for _ in range(_BATCHES_FORGOTTEN):
            if self._stopped.is_set():
                return
            # Alertmanager is told again and again of what fires, however long ago that began.
            keep = [
                key_of_beginning(one)
                for one in self.ledger.alerts.current(closed=True)
                if one.told_incident
            ]
            if not outbox.forget_delivered(older_than=self._keep_delivered, keep=keep):
                return

    def _collect_next(self, done: Round, told: Told) -> bool:
        now = self._clock()
        claim = self.ledger.claim_collect(self.owner, now=now, monitors=self._readable())
        if claim is None:
            return False
        self._on_step("claimed to collect")
        with self._kept(claim, done):
            from pumonitor.monitor.windows.collect import collect

            panes = collect(
                self.monitors[claim.monitor], claim, self._tables.of(claim.monitor), now=now
            )
            self._on_step("collected")
            self.ledger.commit_collect(claim, panes)
            done.collected += 1
            done.findings += findings_of(
                self.ledger,
                claim.monitor,
                claim.configuration,
                claim.window,
                panes[-1].counts,
                as_of=claim.panes[-1].pane.as_of,
            )
            self._on_step("collected and stored")
        self._tell(told, "Collecting", claim)
        return True

    def _evaluate_next(self, done: Round, told: Told) -> bool:
        claim = self.ledger.claim_evaluate(self.owner, monitors=self._readable())
        if claim is None:
            return False
        self._on_step("claimed to evaluate")
        with self._kept(claim, done):
            from pumonitor.monitor.windows.evaluate import evaluate

            self._auxiliary.prepare(
                self.monitors[claim.monitor],
                claim.configuration,
                claim.window_key,
                [one.pane for one in claim.panes],
                partial(self._tables.of, claim.monitor),
            )
            panes = evaluate(
                self.monitors[claim.monitor],
                claim,
                self.ledger,
                self.references,
                self._priors,
                tell=self._tell_sinks,
            )
            self._on_step("evaluated")
            self._commit_evaluated(claim, panes)
            done.evaluated += 1
            self._on_step("evaluated and stored")
        self._tell(told, "Evaluating", claim)
        return True

    def _commit_evaluated(self, claim: Claim, panes: Sequence[EvaluatedPane]) -> None:
        """Results, and what they mean for alerts, in one transaction."""
        moments = {one.pane.number: one.pane.as_of for one in claim.panes}
        self._alerting.prepare(claim.monitor)

        def alerts(connection: Connection, changed: tuple[int, ...]) -> list[NewMessage]:
            places = [(moments[number], claim.window.start) for number in changed]
            return self._alerting.after_commit_of(connection, claim.monitor, places)

        try:
            self.ledger.commit_evaluate(claim, panes, also=alerts)
        except BaseException:
            self._alerting.forget(claim.monitor)
            raise
        self._wake_delivery()

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

    def _tell(self, told: Told, what: str, claim: Claim) -> None:
        if told is _tell_nobody:
            return
        done = windows = 0
        for name in self.monitors:
            backlog = self.ledger.counts(now=self._clock(), monitor=name)
            # Collecting and evaluating are half of the work each.
            left = backlog.to_collect + 0.5 * max(backlog.to_evaluate - backlog.to_collect, 0)
            done += round(2 * (backlog.windows - left))
            windows += backlog.windows
        told(f"{what} {claim.monitor} {claim.window.start:%Y-%m-%d %H:%M}", done, 2 * windows)

    @contextmanager
    def _kept(self, claim: Claim, done: Round) -> Iterator[None]:
        """Renew the lease while work goes on, and give the window back if it fails."""
        try:
            with renewed(lambda: self.ledger.renew(claim), lease=self.ledger.rules.lease):
                yield
        except StaleClaimError:
            # Somebody else took the window over and will store the same.
            pass
        except StateError:
            self._give_back(claim)
            raise
        except Exception as error:  # noqa: BLE001 (one broken window must not stop the others)
            place = f"{claim.monitor}, window of {claim.window.start:%Y-%m-%d %H:%M}"
            fault = self._fault_of(claim.monitor, error)
            said = done.failed(claim.monitor if fault == "tables" else place, error)
            self._give_back(claim, error=said, fault_of=fault)
        except BaseException:
            # Interrupted: it is nobody's fault, and others may take over at once.
            self._give_back(claim)
            raise

    def _give_back(
        self, claim: Claim, *, error: str | None = None, fault_of: FaultOf = "window"
    ) -> None:
        try:
            self.ledger.release(claim, error=error, fault_of=fault_of)
        except StateError:
            self._left_behind.append(claim)

    def _fault_of(self, name: str, error: Exception) -> FaultOf:
        if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
            # The other windows of the monitor would come to the same.
            self._tables.unreadable.add(name)
            return "machine"
        return "tables" if self._tables.are_at_fault(name) else "window"

    def _readable(self) -> dict[str, str]:
        """Hashes of the monitors whose tables have not failed in this round."""
        return {
            name: one for name, one in self._hashes.items() if name not in self._tables.unreadable
        }
