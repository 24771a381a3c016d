"""Work on one window: claim it, collect or evaluate it, commit the result or release it."""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from pumonitor.errors import DamagedFileError, InputError, SourceError
from pumonitor.monitor.config.sections.destinations import SegmentMetrics
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.ledger.claims.claims import FaultOf
from pumonitor.monitor.ledger.claims.renewal import renewed
from pumonitor.monitor.ledger.database.errors import StaleClaimError, StateError
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.collected import CollectedPane
from pumonitor.monitor.ledger.records.results import EvaluatedPane, NewMessage
from pumonitor.monitor.round import OnProgress, Round, no_progress
from pumonitor.monitor.windows.input_findings import findings_of
from pumonitor.monitor.windows.monitor_tables import MonitorTables
from pumonitor.ports import Clock, PredictionSource, WindowCounts
from pumonitor.text import moment_text

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pumonitor.monitor.alerts.alerting import Alerting
    from pumonitor.monitor.windows.class_prior.followed import FollowedPriors
    from pumonitor.monitor.windows.evaluation.references import References

_OF_THE_MACHINE: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO}
)
"""Errors of the machine, such as a full disk; they do not count against a window."""
_CLAIMED_AT_ONCE: Final = 32
"""Windows that one worker claims to count them together; the others are left to other workers."""


class WindowWork:
    """Collects and evaluates windows, each under a lease that is renewed while work goes on.

    Parameters
    ----------
    monitors : mapping of str to Monitor
    hashes : mapping of str to str
        Hash of each monitor's configuration.
    ledger : Ledger
    owner : str
        Identity of this worker, stored with its claims.
    tables : MonitorTables
    clock : Clock
        Decides which panes are due.
    alerting : callable
        Returns the alert fold; called when it is first needed.
    segment_metrics : tuple of str, "all" or None
        Metrics of segments that are put into the outbox (`Tracking`); None if no results are.
    on_step : callable
        Called with the name of each step before it is made.
    is_stopped : callable
        Whether to stop after the current window.
    """

    def __init__(
        self,
        monitors: Mapping[str, Monitor],
        hashes: Mapping[str, str],
        ledger: Ledger,
        *,
        owner: str,
        tables: MonitorTables,
        clock: Clock,
        alerting: Callable[[], Alerting],
        segment_metrics: SegmentMetrics | None,
        on_step: Callable[[str], None],
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._monitors = monitors
        self._hashes = hashes
        self._ledger = ledger
        self._owner = owner
        self._tables = tables
        self._clock = clock
        self._alerting = alerting
        self._segment_metrics = segment_metrics
        self._on_step = on_step
        self._is_stopped = is_stopped
        self._left_behind: list[Claim] = []
        self._chosen: Collection[str] | None = None
        self._had_a_turn: set[str] = set()

    # Imports inside functions: a round with nothing to do should not load these modules.

    @cached_property
    def references(self) -> References:
        """The monitors' references."""
        from pumonitor.monitor.windows.evaluate import references_in

        return references_in(self._ledger, self.priors)

    @cached_property
    def priors(self) -> FollowedPriors:
        """The class priors of the monitors."""
        from pumonitor.monitor.windows.class_prior.followed import FollowedPriors

        return FollowedPriors(self._ledger)

    def collect_next(self, done: Round, on_progress: OnProgress) -> bool:
        """Claim and collect the oldest due windows of a monitor; returns whether there were any.

        They are counted together, and stored one after another. What is wrong with the rows of
        one is told after the others are stored, as tables are opened anew for it.
        """
        now = self._clock()
        claims = self._claims_to_collect(now)
        if not claims:
            return False
        waiting, refused = list(claims), list[tuple[Claim, InputError]]()
        try:
            with self._renewed(claims):
                while waiting and not self._is_stopped():
                    self._collect(waiting, refused, done, on_progress, now=now)
                while refused and claims[0].monitor not in self._tables.unreadable:
                    claim, error = refused.pop(0)
                    with self._handled(claim, done):
                        raise error
        finally:
            # After an interruption, or where tables cannot be read: no attempt that counts.
            for claim in [*waiting, *(one for one, _ in refused)]:
                self._give_back(claim)
        return True

    def limit_to(self, names: Collection[str] | None) -> None:
        """Work on windows of these monitors only from now on, or of all."""
        self._chosen = names

    def _claim_in_turn(self, now: datetime) -> Claim | None:
        """Claim the oldest due window among the monitors that have waited longest for a turn.

        Each monitor has its turn, a few windows, before another has its second, so that none waits
        for all that another has to make up for.
        """
        readable = self._readable()
        waiting = {name: one for name, one in readable.items() if name not in self._had_a_turn}
        claim = None
        if waiting:
            claim = self._ledger.claim_collect(self._owner, now=now, monitors=waiting)
        if claim is None and len(waiting) < len(readable):
            self._had_a_turn.clear()
            claim = self._ledger.claim_collect(self._owner, now=now, monitors=readable)
        if claim is not None:
            self._had_a_turn.add(claim.monitor)
        return claim

    def _claims_to_collect(self, now: datetime) -> list[Claim]:
        """The oldest due window, and those of its monitor that come next.

        One that failed before is claimed by itself: it may have killed its worker, and those that
        were claimed with it would have failed as well.
        """
        claims: list[Claim] = []
        of_monitor: Mapping[str, str] = {}
        while len(claims) < _CLAIMED_AT_ONCE:
            claim = (
                self._ledger.claim_collect(self._owner, now=now, monitors=of_monitor)
                if claims
                else self._claim_in_turn(now)
            )
            if claim is None:
                break
            self._on_step("claimed to collect")
            if self._is_withdrawn(claim, now):
                continue
            if claims and claim.attempts:
                self._give_back(claim)
                break
            claims.append(claim)
            if claim.attempts:
                break
            of_monitor = {claim.monitor: claim.configuration}
        return claims

    def _is_withdrawn(self, claim: Claim, now: datetime) -> bool:
        """Whether the claim ended, as a final pane was due after the source had deleted rows."""
        schedule = self._monitors[claim.monitor].pane_schedule
        if not schedule.is_out_of_reach(claim.window, now):
            return False
        late = [
            one.pane.number
            for one in claim.panes
            if one.pane.state == "final" and one.digest is None
        ]
        if late:
            self._ledger.withdraw(claim, late)
        return bool(late)

    def _collect(
        self,
        waiting: list[Claim],
        refused: list[tuple[Claim, InputError]],
        done: Round,
        on_progress: OnProgress,
        *,
        now: datetime,
    ) -> None:
        """Collect the windows that wait, up to one that fails."""
        from pumonitor.monitor.windows.collect import count_claimed

        monitor = self._monitors[waiting[0].monitor]
        counted: Iterator[WindowCounts | Exception] | None = None
        while waiting and not self._is_stopped():
            claim = waiting[0]
            failed = True
            with self._handled(claim, done):
                source = self._tables.of(claim.monitor)
                if counted is None:
                    counted = count_claimed(monitor, list(waiting), source, now=now)
                counts = next(counted)
                if isinstance(counts, InputError):
                    refused.append((claim, counts))
                elif isinstance(counts, Exception):
                    raise counts
                else:
                    self._take(monitor, claim, counts, source, done, now=now)
                failed = False
            waiting.remove(claim)
            if failed:
                if claim.monitor in self._tables.unreadable:
                    # The others wait for tables that can be read.
                    self._give_back_all(waiting)
                return
            self._report_progress(on_progress, "Collecting", claim)

    def _take(
        self,
        monitor: Monitor,
        claim: Claim,
        counts: WindowCounts,
        source: PredictionSource,
        done: Round,
        *,
        now: datetime,
    ) -> None:
        """Store the counts of a window unless they have lost what was known of it."""
        from pumonitor.monitor.windows.collect import collected_panes
        from pumonitor.monitor.windows.losses import LostRowsError

        try:
            panes = collected_panes(
                monitor,
                claim,
                counts,
                known=self._ledger.known_counts(claim),
                source=source,
                now=now,
            )
        except LostRowsError as error:
            said = done.failed(_window_text(claim), error)
            self._ledger.refuse_look(claim, error.counts, error=said)
        else:
            self._store(claim, panes, done)

    def _store(self, claim: Claim, panes: Sequence[CollectedPane], done: Round) -> None:
        self._on_step("collected")
        self._ledger.commit_collect(claim, panes)
        done.collected += 1
        done.findings += findings_of(
            self._ledger,
            claim.monitor,
            claim.configuration,
            claim.window,
            panes[-1].counts,
            as_of=claim.panes[-1].pane.as_of,
        )
        self._on_step("collected and stored")

    def _give_back_all(self, claims: list[Claim]) -> None:
        while claims:
            self._give_back(claims.pop(0))

    def evaluate_next(self, done: Round, on_progress: OnProgress) -> bool:
        """Claim and evaluate the oldest collected window; returns whether there was one."""
        claim = self._ledger.claim_evaluate(self._owner, monitors=self._readable())
        if claim is None:
            return False
        self._on_step("claimed to evaluate")
        with self._kept(claim, done):
            from pumonitor.monitor.windows.evaluate import evaluate

            self.priors.auxiliary.prepare(
                self._monitors[claim.monitor],
                claim.configuration,
                claim.window_key,
                [one.pane for one in claim.panes],
                partial(self._tables.of, claim.monitor),
            )
            panes = evaluate(
                self._monitors[claim.monitor],
                claim,
                self._ledger,
                self.references,
                self.priors,
                segment_metrics=self._segment_metrics,
            )
            self._on_step("evaluated")
            self._commit_evaluated(claim, panes)
            done.evaluated += 1
            self._on_step("evaluated and stored")
        self._report_progress(on_progress, "Evaluating", claim)
        return True

    def _commit_evaluated(self, claim: Claim, panes: Sequence[EvaluatedPane]) -> None:
        """Store results, alert transitions and messages in one transaction."""
        moments = {one.pane.number: one.pane.as_of for one in claim.panes}
        self._alerting().prepare(claim.monitor)

        def alerts(connection: Connection, changed: tuple[int, ...]) -> list[NewMessage]:
            places = [(moments[number], claim.window.start) for number in changed]
            return self._alerting().after_commit_of(connection, claim.monitor, places)

        try:
            self._ledger.commit_evaluate(claim, panes, also=alerts)
        except BaseException:
            self._alerting().forget(claim.monitor)
            raise

    def give_back_left_behind(self) -> None:
        """Release claims that could not be released while the state database was unavailable."""
        while self._left_behind:
            self._ledger.release(self._left_behind[0])
            del self._left_behind[0]

    def _report_progress(self, on_progress: OnProgress, what: str, claim: Claim) -> None:
        if on_progress is no_progress:
            return
        done = windows = 0
        for name in self._monitors:
            backlog = self._ledger.counts(now=self._clock(), monitor=name)
            # Collecting and evaluating count as half of the work each.
            left = backlog.to_collect + 0.5 * max(backlog.to_evaluate - backlog.to_collect, 0)
            done += round(2 * (backlog.windows - left))
            windows += backlog.windows
        on_progress(f"{what} {claim.monitor} {moment_text(claim.window.start)}", done, 2 * windows)

    @contextmanager
    def _kept(self, claim: Claim, done: Round) -> Iterator[None]:
        """Context that renews the lease, and releases the claim if the work fails."""
        with self._handled(claim, done), self._renewed([claim]):
            yield

    @contextmanager
    def _renewed(self, claims: Sequence[Claim]) -> Iterator[None]:
        """Context that renews leases; those that are no longer held are left alone."""
        held = list(claims)

        def renew() -> None:
            for claim in list(held):
                try:
                    self._ledger.renew(claim)
                except StaleClaimError:
                    held.remove(claim)

        with renewed(renew, lease=self._ledger.rules.lease):
            yield

    @contextmanager
    def _handled(self, claim: Claim, done: Round) -> Iterator[None]:
        """Context that releases the claim if the work fails."""
        try:
            yield
        except StaleClaimError:
            # Another worker has taken the window over and will store the same results.
            pass
        except StateError:
            self._give_back(claim)
            raise
        except DamagedFileError as error:
            # Trying again helps once the file is written anew: not as an error of the input.
            waits = SourceError(str(error))
            self._ledger.refuse_look(claim, (), error=done.failed(_window_text(claim), waits))
        except Exception as error:  # noqa: BLE001 (one broken window must not stop the others)
            fault = self._fault_of(claim.monitor, error)
            said = done.failed(claim.monitor if fault == "tables" else _window_text(claim), error)
            if fault != "window":
                done.unreadable[claim.monitor] = said
            self._give_back(claim, error=said, fault_of=fault)
        except BaseException:
            # Interrupted: the attempt does not count, and others can take over at once.
            self._give_back(claim)
            raise

    def _give_back(
        self, claim: Claim, *, error: str | None = None, fault_of: FaultOf = "window"
    ) -> None:
        try:
            self._ledger.release(claim, error=error, fault_of=fault_of)
        except StateError:
            self._left_behind.append(claim)

    def _fault_of(self, name: str, error: Exception) -> FaultOf:
        if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
            # The monitor's other windows would fail in the same way.
            self._tables.unreadable.add(name)
            return "machine"
        return "tables" if self._tables.are_at_fault(name) else "window"

    def _readable(self) -> dict[str, str]:
        """Hashes of the monitors whose tables have not failed in this round."""
        return {
            name: one
            for name, one in self._hashes.items()
            if name not in self._tables.unreadable
            and (self._chosen is None or name in self._chosen)
        }


def _window_text(claim: Claim) -> str:
    return f"{claim.monitor}, window of {moment_text(claim.window.start)}"
