"""Claims on windows: take one, renew its lease, release it, or commit its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pumonitor import __version__
from pumonitor.monitor.ledger.claims import claims
from pumonitor.monitor.ledger.claims.claims import FaultOf, WorkRules
from pumonitor.monitor.ledger.claims.holders import free_all_of
from pumonitor.monitor.ledger.database.connections import Database
from pumonitor.monitor.ledger.database.errors import without_passwords
from pumonitor.monitor.ledger.enqueue import enqueue
from pumonitor.monitor.ledger.reader import LedgerReader
from pumonitor.monitor.ledger.records.claims import Claim
from pumonitor.monitor.ledger.records.collected import CollectedPane
from pumonitor.monitor.ledger.records.results import EvaluatedPane, NewMessage
from pumonitor.monitor.ledger.results import looks
from pumonitor.monitor.ledger.results.planning import evaluate_later_again
from pumonitor.monitor.ledger.results.prior_states import store_prior_states
from pumonitor.monitor.ledger.results.storing import store_collected, store_evaluated
from pumonitor.monitor.ledger.standings import stir
from pumonitor.monitor.rules.windows.losses import SeriesCount

_LONGEST_ERROR = 2000


class ClaimedWork(LedgerReader):
    """Claims on windows and the commits made under them. Every method is one transaction.

    There are two steps per window: *collect* its due panes, then *evaluate* them. Each step is
    claimed by one worker for the length of a lease, by the database's clock. A commit under a claim
    that another worker has taken over is refused by its fencing token, so every state change
    happens exactly once, whatever dies or hangs in between.

    Parameters
    ----------
    database : Database
        Already migrated (by `Ledger.open`).
    rules : WorkRules, optional
        Lengths of leases and waits.
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
        """Lengths of leases and waits, and the allowed number of attempts."""
        return self._rules

    def claim_collect(
        self, owner: str, *, now: datetime, monitors: Mapping[str, str] | None = None
    ) -> Claim | None:
        """Claim the oldest window with due panes that are not collected; None if there is none.

        Parameters
        ----------
        owner : str
            Identity of the worker.
        now : datetime
            Panes of this moment or earlier are due.
        monitors : mapping of str to str, optional
            Monitor to configuration hash: what the worker can work on; by default everything.
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
        """Claim the oldest window with collected panes that need not wait; None if there is none.

        A pane waits until all earlier windows of its monitor and configuration have collected their
        panes of the same moment, except for windows that have used up their attempts. Parameters
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
        """Extend the lease to its full length from now.

        Raises
        ------
        StaleClaimError
            If the claim is no longer held; the work can be stopped.
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
        """Release a window without a result. Does nothing if the claim is no longer held.

        Parameters
        ----------
        claim : Claim
        error : str, optional
            Why the attempt failed; without it no attempt was made.
        fault_of : {"window", "tables", "machine", "rows"}
            Failures of the monitor's tables and of the machine (such as a full disk) do not count
            against the window: the next round tries it again, and later windows wait for it. For
            rows that are missing no other window waits.
        retry_after : timedelta, optional
            Time until the next attempt; by default it doubles with every failure.
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

    def release_all_of(self, owner: str) -> None:
        """Release all windows and messages of a process that is about to end.

        What it still does counts for nothing: its commits are refused.
        """
        with self.database.writing() as connection:
            free_all_of(connection, owner)

    def known_counts(self, claim: Claim) -> tuple[SeriesCount, ...]:
        """What a new look at a claimed window is held to: the counts of earlier looks."""
        with self.database.reading() as connection:
            return looks.counts_known(connection, claim.window_key)

    def refuse_look(self, claim: Claim, counts: Sequence[SeriesCount], *, error: str) -> None:
        """Release a window of which rows are gone, with what was found of them."""
        with self.database.writing() as connection:
            at = self.database.now(connection)
            looks.refuse(connection, claim, counts, at=at)
            claims.give_back(
                connection,
                claim,
                at=at,
                error=self._mask(error)[:_LONGEST_ERROR],
                fault_of="rows",
                retry_after=None,
                rules=self._rules,
            )
            stir(connection, claim.monitor)

    def withdraw(self, claim: Claim, numbers: Sequence[int]) -> None:
        """Give up panes of a claimed window that were never collected, and end the claim."""
        with self.database.writing() as connection:
            claims.finish(connection, claim)
            looks.withdraw(connection, claim, numbers)
            stir(connection, claim.monitor)

    def commit_collect(self, claim: Claim, panes: Sequence[CollectedPane]) -> None:
        """Store collected panes and end the claim.

        Raises
        ------
        StaleClaimError
            If the claim is no longer held; nothing is stored.
        ValueError
            If a pane does not belong to the claim, or cannot be stored.
        """
        with self.database.writing() as connection:
            claims.finish(connection, claim)
            at = self.database.now(connection)
            store_collected(connection, claim, panes, at=at, version=__version__)
            was_refused = looks.settle(connection, claim)
            if was_refused or claim.attempts >= self._rules.attempts_allowed:
                # Later windows did not wait for it.
                evaluate_later_again(connection, claim)

    def commit_evaluate(
        self,
        claim: Claim,
        panes: Sequence[EvaluatedPane],
        *,
        also: Callable[[Connection, tuple[int, ...]], Iterable[NewMessage]] | None = None,
    ) -> tuple[int, ...]:
        """Store evaluations, results and messages in one transaction, and end the claim.

        A pane that was already evaluated from the same data with the same results gets no new
        revision and no message.

        Parameters
        ----------
        claim : Claim
        panes : sequence of EvaluatedPane
        also : callable, optional
            Called with the transaction's connection and the numbers of the changed panes; returns
            further messages for the outbox.

        Returns
        -------
        tuple of int
            Numbers of the panes with a new revision.

        Raises
        ------
        StaleClaimError
            If the claim is no longer held; nothing is stored.
        ValueError
            If a pane does not belong to the claim, or cannot be stored.
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
