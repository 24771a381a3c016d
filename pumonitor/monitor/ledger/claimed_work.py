"""Work on windows under claims: take one, keep its lease, give it back, commit what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pumonitor import __version__
from pumonitor.monitor.ledger.claims import claims
from pumonitor.monitor.ledger.claims.claims import FaultOf, WorkRules
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.errors import without_passwords
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.collected import CollectedPane
from pumonitor.monitor.ledger.records.results import EvaluatedPane, NewMessage
from pumonitor.monitor.ledger.results.prior_states import store_prior_states
from pumonitor.monitor.ledger.results.storing import store_collected, store_evaluated
from pumonitor.monitor.ledger.standings import stir

__all__ = ["ClaimedWork"]

_LONGEST_ERROR = 2000


class ClaimedWork(LedgerReader):
    """Claims on windows and the commits made under them. Every method is one transaction.

    A window is worked on in two steps, each claimed by one worker for the length of a lease by the
    database's clock: *collect* its due panes, then *evaluate* them. What is committed under a claim
    that others have taken over is refused, so that every state change happens exactly once,
    whatever dies or hangs in between.

    Parameters
    ----------
    database : Database
        Up to date (`Ledger.open` sees to it).
    rules : WorkRules, optional
        Leases and waits.
    mask : callable, optional
        Hides secrets in error texts before they are stored.
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

    @property
    def rules(self) -> WorkRules:
        """Leases, waits and how often work may fail."""
        return self._rules

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
