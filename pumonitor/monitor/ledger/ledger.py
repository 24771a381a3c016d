"""The ledger: windows, claims on them, results, alerts and unsent messages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

from pumonitor.monitor.ledger.alerts.alerts import StoredAlerts
from pumonitor.monitor.ledger.audit import record
from pumonitor.monitor.ledger.by_people import ChangesByPeople
from pumonitor.monitor.ledger.challengers import StoredChallengers
from pumonitor.monitor.ledger.claimed_work import ClaimedWork
from pumonitor.monitor.ledger.claims.claims import WorkRules
from pumonitor.monitor.ledger.claims.held_up import HoldUp, hold_ups
from pumonitor.monitor.ledger.database.connections import Database, Timeouts
from pumonitor.monitor.ledger.database.errors import without_passwords
from pumonitor.monitor.ledger.deployed_versions import StoredDeployedVersions
from pumonitor.monitor.ledger.noted_challengers import StoredNotedChallengers
from pumonitor.monitor.ledger.notes import StoredNotes
from pumonitor.monitor.ledger.outbox import StoredOutbox
from pumonitor.monitor.ledger.promotions import StoredPromotions
from pumonitor.monitor.ledger.results import looks, planning
from pumonitor.monitor.ledger.results.auxiliary import forget_auxiliary
from pumonitor.monitor.ledger.results.looks import RefusedLook
from pumonitor.monitor.ledger.results.planning import Which
from pumonitor.monitor.ledger.results.retention import Forgotten, forget_superseded
from pumonitor.monitor.ledger.reviews import StoredReviews
from pumonitor.monitor.ledger.run_ids import StoredRunIds
from pumonitor.monitor.ledger.secret_keys import StoredSecretKeys
from pumonitor.monitor.ledger.standings import StoredStandings, stir
from pumonitor.monitor.ledger.tokens import StoredTokens
from pumonitor.monitor.ledger.uses import note_place, places, refuse_turns, turns
from pumonitor.ports import Pane


class Ledger(ClaimedWork):
    """The state database, the only source of truth. Every method is one transaction.

    `LedgerReader` has the queries and `ClaimedWork` the claims and commits. This class adds
    opening, registering monitors and planning windows.

    Parameters
    ----------
    database : Database
        Already migrated (by `open`).
    rules : WorkRules, optional
        Lengths of leases and waits.
    mask : callable, optional
        Hides secrets in error texts before they are stored.

    Attributes
    ----------
    outbox : StoredOutbox
        Unsent messages.
    run_ids : StoredRunIds
        Key to MLflow run.
    alerts : StoredAlerts
        Alerts, their transitions, and silences.
    by_people : ChangesByPeople
        Acknowledgements and silences, with entries in the audit log.
    challengers : StoredChallengers
        What was seen of challengers in each window.
    notes : StoredNotes
        Notes of people.
    promotions : StoredPromotions
        Which version of a model was deployed by whom, and why.
    reviews : StoredReviews
        Audits, their cases and verdicts.
    secret_keys : StoredSecretKeys
        Random keys that all processes share.
    standings : StoredStandings
        What the last round found for each monitor.
    tokens : StoredTokens
        Tokens of programs and people, and sessions of browsers.

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
        super().__init__(database, rules=rules, mask=mask)
        self.outbox = StoredOutbox(database, mask=mask)
        self.run_ids = StoredRunIds(database)
        self.alerts = StoredAlerts(database)
        self.by_people = ChangesByPeople(database)
        self.challengers = StoredChallengers(database, mask=mask)
        self.deployed_versions = StoredDeployedVersions(database)
        self.noted_challengers = StoredNotedChallengers(database, mask=mask)
        self.notes = StoredNotes(database)
        self.promotions = StoredPromotions(database, mask=mask)
        self.reviews = StoredReviews(database)
        self.secret_keys = StoredSecretKeys(database)
        self.standings = StoredStandings(database, mask=mask)
        self.tokens = StoredTokens(database)

    @classmethod
    def open(
        cls,
        address: str,
        *,
        rules: WorkRules | None = None,
        timeouts: Timeouts | None = None,
        mask: Callable[[str], str] = without_passwords,
        migrates: bool = True,
    ) -> Self:
        """Open a state database, after creating or migrating it. Safe from several processes.

        Parameters
        ----------
        address : str
            ``sqlite:///FILE`` or ``postgresql://USER:PASSWORD@HOST/NAME``.
        rules : WorkRules, optional
        timeouts : Timeouts, optional
        mask : callable, optional
            Hides secrets in error texts before they are stored.
        migrates : bool
            Whether tables of an older version are changed. Whoever only reads must not: workers of
            that version would stop.

        Raises
        ------
        InputError
            If the address is of neither form.
        StateError
            If the database cannot be used, was written by a newer version of pumonitor, or by an
            older one and is not to be changed.
        """
        from pumonitor.monitor.ledger.database.migrations.upgrade import check_tables, upgrade

        database = Database(address, timeouts=timeouts)
        try:
            (upgrade if migrates else check_tables)(database)
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

    def register_monitor(
        self,
        monitor: str,
        configuration: str,
        *,
        meaning: Mapping[str, Any],
        place: str | None = None,
        takes_over: bool = False,
    ) -> bool:
        """Make this the monitor's current configuration; returns whether that is a change.

        Parameters
        ----------
        monitor : str
        configuration : str
            Hash of `meaning`.
        meaning : mapping
            Everything that results depend on, in JSON types and without secrets.
        place : str, optional
            Machine and file that it is worked on from.
        takes_over : bool
            Whether it is put to use although another configuration takes turns with it.

        Raises
        ------
        TakenTurnsError
            If another configuration takes turns with it.
        """
        with self.database.writing() as connection:
            at = self.database.now(connection)
            if takes_over and turns(connection, monitor) is not None:
                detail = {"monitor": monitor, "configuration": configuration}
                record(connection, at=at, actor="pumonitor", action="take over", detail=detail)
            elif not takes_over:
                refuse_turns(connection, monitor, configuration)
            if place is not None:
                note_place(connection, self.database, monitor, place)
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
                record(connection, at=at, actor="pumonitor", action="register", detail=detail)
        return changed

    def turns(self, monitor: str) -> tuple[str, datetime] | None:
        """The configuration that takes turns with the present one, and its last turn, if any."""
        with self.database.reading() as connection:
            return turns(connection, monitor)

    def left_monitors(self, configured: Collection[str]) -> dict[str, str]:
        """Monitors with open incidents beside those configured, and where they were worked on."""
        names = {one.monitor for one in self.alerts.current(firing=True)} - set(configured)
        with self.database.reading() as connection:
            known = places(connection, sorted(names))
        return {name: known.get(name, "") for name in sorted(names)}

    def plan(self, monitor: str, configuration: str, panes: Iterable[Pane]) -> int:
        """Add the panes and windows that are missing; returns the number of windows added.

        Windows are evaluated in order of time, so plan earlier ones first or together.

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
        """Make windows due again; returns their number.

        A new revision is stored only if data or results differ from those stored.

        Parameters
        ----------
        window_keys : sequence of str
        which : {"missing", "failed", "all"}
            - "missing": windows that are not finished, without further waiting.
            - "failed": windows whose last attempt failed, without further waiting.
            - "all": all of them; everything is collected and evaluated again.

            Claims that are held stay valid in the first two cases and are revoked in the last.
        actor : str
            Who asked for it, for the audit log.
        """
        with self.database.writing() as connection:
            at = self.database.now(connection)
            reopened = planning.reopen(connection, keys=window_keys, which=which, at=at)
            if reopened:
                stir(connection)
                detail = {"which": which, "windows": reopened}
                record(connection, at=at, actor=actor, action="reopen", detail=detail)
        return len(reopened)

    def hold_ups(self, monitor: str | None = None) -> tuple[HoldUp, ...]:
        """Windows that cannot be collected and for which later ones wait, the earliest first.

        Parameters
        ----------
        monitor : str, optional
            By default all monitors.
        """
        with self.database.reading() as connection:
            return hold_ups(connection, monitor=monitor, rules=self._rules)

    def refused_looks(self, monitor: str | None = None) -> tuple[RefusedLook, ...]:
        """Windows whose newest look lost rows or labels and was not taken, the earliest first.

        Parameters
        ----------
        monitor : str, optional
            By default all monitors.
        """
        with self.database.reading() as connection:
            return looks.refused_looks(connection, monitor)

    def accept_look(self, refused: RefusedLook, *, by: str, reason: str) -> bool:
        """Take what a refused look found; returns False if it is not refused any more."""
        with self.database.writing() as connection:
            at = self.database.now(connection)
            if not looks.accept(connection, refused.window_key, by=by, reason=reason, at=at):
                return False
            detail = {
                "monitor": refused.monitor,
                "window": refused.window.start,
                "reason": reason,
                "lost": refused.error,
            }
            record(connection, at=at, actor=by, action="accept look", detail=detail)
            stir(connection, refused.monitor)
        return True

    def forget_auxiliary(
        self, monitor: str, configuration: str, *, actor: str = "pumonitor"
    ) -> bool:
        """Delete the auxiliary score and its tables; returns whether there was one."""
        with self.database.writing() as connection:
            forgotten = forget_auxiliary(connection, monitor, configuration)
            if forgotten:
                at = self.database.now(connection)
                detail = {"monitor": monitor, "configuration": configuration}
                action = "refresh auxiliary score"
                record(connection, at=at, actor=actor, action=action, detail=detail)
        return forgotten

    def forget_evaluations(self, *, older_than: timedelta, limit: int = 20) -> Forgotten:
        """Delete evaluations that later ones superseded longer ago, of the oldest panes first.

        The newest evaluation of a window, that of its mature pane, and what an alert cites stay,
        and so do the counts of all panes.

        Parameters
        ----------
        older_than : timedelta
            By the database's clock.
        limit : int
            Most panes per transaction, as other transactions wait for it.
        """
        with self.database.writing() as connection:
            at = self.database.now(connection)
            return forget_superseded(connection, before=at - older_than, at=at, limit=limit)

    def note(self, actor: str, action: str, detail: Mapping[str, Any]) -> None:
        """Add an entry to the audit log."""
        with self.database.writing() as connection:
            at = self.database.now(connection)
            record(connection, at=at, actor=actor, action=action, detail=detail)
