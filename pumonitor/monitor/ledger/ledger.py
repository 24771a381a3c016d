"""The ledger: which windows there are, who works on which, and what came of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, insert

from pumonitor import __version__
from pumonitor.monitor.ledger.alerts.alerts import StoredAlerts
from pumonitor.monitor.ledger.claims import claims
from pumonitor.monitor.ledger.claims.claims import FaultOf, WorkRules
from pumonitor.monitor.ledger.claims.held_up import HoldUp, hold_ups
from pumonitor.monitor.ledger.database.connections import Database, Timeouts
from pumonitor.monitor.ledger.database.errors import without_passwords
from pumonitor.monitor.ledger.database.schema import audit
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.outbox import StoredOutbox
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.collected import CollectedPane
from pumonitor.monitor.ledger.records.results import EvaluatedPane, NewMessage
from pumonitor.monitor.ledger.results import planning
from pumonitor.monitor.ledger.results.auxiliary import forget_auxiliary
from pumonitor.monitor.ledger.results.planning import Which
from pumonitor.monitor.ledger.results.prior_states import store_prior_states
from pumonitor.monitor.ledger.results.storing import store_collected, store_evaluated
from pumonitor.monitor.ledger.run_ids import StoredRunIds
from pumonitor.monitor.ledger.standings import StoredStandings, stir
from pumonitor.ports import Pane

__all__ = ["Ledger"]

_LONGEST_ERROR = 2000


class Ledger(LedgerReader):
    """The state database, the only source of truth. Every method is one transaction.

    A window is worked on in two steps, each claimed by one worker for the length of a lease by the
    database's clock: *collect* its due panes, then *evaluate* them. What is committed under a claim
    that others have taken over is refused, so that every state change happens exactly once,
    whatever dies or hangs in between.

    Parameters
    ----------
    database : Database
        Up to date: `open` sees to it.
    rules : WorkRules, optional
        Leases and waits.
    mask : callable, optional
        Hides secrets in error texts before they are stored.

    Attributes
    ----------
    outbox : StoredOutbox
        What is still to be sent.
    run_ids : StoredRunIds
        MLflow runs by key.
    alerts : StoredAlerts
        Where alerts stand, their history, silences.
    standings : StoredStandings
        What the last round found of each monitor.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import UTC, datetime, timedelta
    >>> from pumonitor.ports import Pane, Window
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> window = Window(start=start, end=start + timedelta(days=1), index=20454)
    >>> pane = Pane(window=window, number=0, state="mature", as_of=window.end)
    >>> with Ledger.open(f"sqlite:///{tempfile.mkdtemp()}/state.db") as ledger:
    ...     ledger.register_monitor("card-fraud", "c0ffee", meaning={"threshold": 0.8})
    ...     ledger.plan("card-fraud", "c0ffee", [pane]), ledger.plan("card-fraud", "c0ffee", [pane])
    ...     early = ledger.claim_collect("worker 1", now=start)
    ...     claim = ledger.claim_collect("worker 1", now=window.end)
    True
    (1, 0)
    >>> early is None, claim.panes[0].pane == pane, claim.fence
    (True, True, 1)
    """

    def __init__(
        self,
        database: Database,
        *,
        rules: WorkRules | None = None,
        mask: Callable[[str], str] = without_passwords,
    ) -> None:
        super().__init__(database)
        self._rules = rules or WorkRules()
        self._mask = mask
        self.outbox = StoredOutbox(database, mask=mask)
        self.run_ids = StoredRunIds(database)
        self.alerts = StoredAlerts(database)
        self.standings = StoredStandings(database)

    @property
    def rules(self) -> WorkRules:
        """Leases, waits and how often work may fail."""
        return self._rules

    @classmethod
    def open(
        cls,
        address: str,
        *,
        rules: WorkRules | None = None,
        timeouts: Timeouts | None = None,
        mask: Callable[[str], str] = without_passwords,
    ) -> Self:
        """Open a state database, made or brought up to date first; many processes may at once.

        Parameters
        ----------
        address : str
            ``sqlite:///FILE`` or ``postgresql://USER:PASSWORD@HOST/NAME``.
        rules : WorkRules, optional
        timeouts : Timeouts, optional
        mask : callable, optional
            Hides secrets in error texts before they are stored.

        Raises
        ------
        InputError
            If the address is of neither kind.
        StateError
            If the database cannot be used, or a newer version of pumonitor wrote it.
        """
        from pumonitor.monitor.ledger.database.migrations.upgrade import upgrade

        database = Database(address, timeouts=timeouts)
        try:
            upgrade(database)
        except BaseException:
            database.close()
            raise
        return cls(database, rules=rules, mask=mask)

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # -- what there is to do ------------------------------------------------------------------

    def register_monitor(
        self, monitor: str, configuration: str, *, meaning: Mapping[str, Any]
    ) -> bool:
        """Make this the monitor's configuration; whether it was another, or none, before.

        Parameters
        ----------
        monitor : str
        configuration : str
            Hash of `meaning`.
        meaning : mapping
            What results depend on, as plain JSON values without secrets.
        """
        with self.database.writing() as connection:
            at = self.database.now(connection)
            changed = planning.register(
                connection,
                self.database,
                monitor=monitor,
                configuration=configuration,
                meaning=meaning,
                at=at,
            )
            if changed:
                detail = {"monitor": monitor, "configuration": configuration}
                _note(connection, at, "pumonitor", "register", detail)
        return changed

    def plan(self, monitor: str, configuration: str, panes: Iterable[Pane]) -> int:
        """Add what is not there of these panes and their windows; number of windows added.

        Windows are evaluated in order of time, so earlier ones are planned first or together.

        Raises
        ------
        ValueError
            If the monitor is not registered with that configuration.
        """
        with self.database.writing() as connection:
            added = planning.plan(
                connection,
                self.database,
                monitor=monitor,
                configuration=configuration,
                wanted=panes,
            )
            if added:
                stir(connection, monitor)
        return added

    def reopen(self, window_keys: Sequence[str], *, which: Which, actor: str) -> int:
        """Have windows worked on again; number of windows it concerns.

        A new revision comes of it only where data or results differ from those stored.

        Parameters
        ----------
        window_keys : sequence of str
        which : {"missing", "failed", "all"}
            Of these windows those that are not finished, or whose last attempt failed, without
            waiting further; or all, with everything collected and evaluated again. Work that is
            under way goes on in the first two cases and is refused in the last.
        actor : str
            Who asks for it, for the audit.
        """
        with self.database.writing() as connection:
            at = self.database.now(connection)
            reopened = planning.reopen(connection, keys=window_keys, which=which, at=at)
            if reopened:
                stir(connection)
                detail = {"which": which, "windows": reopened}
                _note(connection, at, actor, "reopen", detail)
        return len(reopened)

    def hold_ups(self, monitor: str | None = None) -> tuple[HoldUp, ...]:
        """Windows that cannot be counted and for which others wait, the earliest first.

        Parameters
        ----------
        monitor : str, optional
            All without it.
        """
        with self.database.reading() as connection:
            return hold_ups(connection, monitor=monitor, rules=self._rules)

    # -- claims -------------------------------------------------------------------------------

    def claim_collect(
        self, owner: str, *, now: datetime, monitors: Mapping[str, str] | None = None
    ) -> Claim | None:
        """The oldest window with panes that are due and not collected; None without any.

        Parameters
        ----------
        owner : str
            Who will work on it.
        now : datetime
            Panes as of then or earlier are due.
        monitors : mapping of str to str, optional
            Configuration by monitor: what the worker can work on; all without it.
        """
        with self.database.writing() as connection:
            return claims.claim_collect(
                connection,
                owner=owner,
                at=self.database.now(connection),
                now=now,
                monitors=monitors,
                rules=self._rules,
            )

    def claim_evaluate(
        self, owner: str, *, monitors: Mapping[str, str] | None = None
    ) -> Claim | None:
        """The oldest window with collected panes that need not wait; None without any.

        A pane waits until all earlier windows of the monitor and configuration have collected what
        was known as of the same moment, except for windows that keep failing. The other parameters
        are those of `claim_collect`.
        """
        with self.database.writing() as connection:
            return claims.claim_evaluate(
                connection,
                owner=owner,
                at=self.database.now(connection),
                monitors=monitors,
                rules=self._rules,
            )

    def renew(self, claim: Claim) -> None:
        """Start the lease anew.

        Raises
        ------
        StaleClaimError
            If the claim is no longer held: the work can be given up.
        """
        with self.database.writing() as connection:
            until = self.database.now(connection) + self._rules.lease
            claims.prolong(connection, claim, until=until)

    def release(
        self,
        claim: Claim,
        *,
        error: str | None = None,
        fault_of: FaultOf = "window",
        retry_after: timedelta | None = None,
    ) -> None:
        """Give a window back without a result; nothing happens if the claim is no longer held.

        Parameters
        ----------
        claim : Claim
        error : str, optional
            Why the attempt failed; without it none was made.
        fault_of : {"window", "tables", "machine"}
            Failures of tables that serve all windows, and of the machine (a full disk), do not add
            up: the window is tried again by the next round, and others go on waiting for it.
        retry_after : timedelta, optional
            When the next is made; by default longer from failure to failure.
        """
        if error is not None:
            error = self._mask(error)[:_LONGEST_ERROR]
        with self.database.writing() as connection:
            claims.give_back(
                connection,
                claim,
                at=self.database.now(connection),
                error=error,
                fault_of=fault_of,
                retry_after=retry_after,
                rules=self._rules,
            )

    # -- what came of it ----------------------------------------------------------------------

    def commit_collect(self, claim: Claim, panes: Sequence[CollectedPane]) -> None:
        """Store what was collected and end the claim.

        Raises
        ------
        StaleClaimError
            If the claim is no longer held; nothing is stored.
        ValueError
            If something is not of the claim, or not storable.
        """
        with self.database.writing() as connection:
            claims.finish(connection, claim)
            at = self.database.now(connection)
            store_collected(connection, claim, panes, at=at, version=__version__)

    def commit_evaluate(
        self,
        claim: Claim,
        panes: Sequence[EvaluatedPane],
        *,
        also: Callable[[Connection, tuple[int, ...]], Iterable[NewMessage]] | None = None,
    ) -> tuple[int, ...]:
        """Store evaluations, results and messages in one transaction, and end the claim.

        A pane that was evaluated before, from the same data with the same results, gets no new
        revision and nobody is told.

        Parameters
        ----------
        claim : Claim
        panes : sequence of EvaluatedPane
        also : callable, optional
            Called with the connection of the transaction and the numbers of the panes with
            something new, for further messages that follow from them.

        Returns
        -------
        tuple of int
            Numbers of the panes with something new.

        Raises
        ------
        StaleClaimError
            If the claim is no longer held; nothing is stored.
        ValueError
            If something is not of the claim, or not storable.
        """
        with self.database.writing() as connection:
            claims.finish(connection, claim)
            at = self.database.now(connection)
            changed = store_evaluated(connection, claim, panes, at=at, version=__version__)
            states = [state for pane in panes for state in pane.prior_states]
            store_prior_states(
                connection, self.database, claim.monitor, claim.configuration, states
            )
            messages = [message for pane in changed for message in pane.messages]
            numbers = tuple(pane.number for pane in changed)
            stir(connection, claim.monitor)
            if also is not None:
                messages += also(connection, numbers)
            enqueue(connection, self.database, messages, at=at)
        return numbers

    def forget_auxiliary(
        self, monitor: str, configuration: str, *, actor: str = "pumonitor"
    ) -> bool:
        """Drop the auxiliary score and all that was seen by it; whether there was one."""
        with self.database.writing() as connection:
            forgotten = forget_auxiliary(connection, monitor, configuration)
            if forgotten:
                at = self.database.now(connection)
                detail = {"monitor": monitor, "configuration": configuration}
                _note(connection, at, actor, "refresh auxiliary score", detail)
        return forgotten

    def note(self, actor: str, action: str, detail: Mapping[str, Any]) -> None:
        """Add to the audit."""
        with self.database.writing() as connection:
            _note(connection, self.database.now(connection), actor, action, detail)


def _note(
    connection: Connection, at: datetime, actor: str, action: str, detail: Mapping[str, Any]
) -> None:
    connection.execute(insert(audit).values(at=at, actor=actor, action=action, detail=dict(detail)))
