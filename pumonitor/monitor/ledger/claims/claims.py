"""Claims on windows: leases by the database's clock, fencing tokens, waits after failures.

All functions take the connection of an open transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    and_,
    case,
    exists,
    func,
    or_,
    select,
    true,
    tuple_,
    update,
)

from pumonitor.monitor.doubled_wait import doubled_wait
from pumonitor.monitor.ledger.claims.holders import free_windows
from pumonitor.monitor.ledger.claims.owners import shown_owner
from pumonitor.monitor.ledger.database.errors import StaleClaimError
from pumonitor.monitor.ledger.database.schema import panes, windows
from pumonitor.monitor.ledger.records.claims import Claim, ClaimedPane, Step
from pumonitor.monitor.ledger.records.rows import record_of, window_of
from pumonitor.ports import Pane, Window
from pumonitor.text import moment_text

FaultOf = Literal["window", "tables", "machine", "rows"]
"""Cause of a failed attempt: the window itself, the monitor's tables, the machine, or rows that
the tables should have.

For missing rows no later window waits: they may come back in a minute or never.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRules:
    """Length of leases, and waits after failures.

    Attributes
    ----------
    lease : timedelta
        Time after which others take over a window whose worker has neither finished nor renewed.
        From a worker known to be dead they take over at once.
    attempts_allowed : int
        A window that failed this often in a row no longer holds up later windows; it is still
        tried.
    first_wait, longest_wait : timedelta
        Wait after the first failure, doubled with each further one up to the longest.
    """

    lease: timedelta = timedelta(minutes=2)
    attempts_allowed: int = 8
    first_wait: timedelta = timedelta(seconds=30)
    longest_wait: timedelta = timedelta(hours=1)

    def __post_init__(self) -> None:
        if self.lease <= timedelta() or self.attempts_allowed < 1:
            msg = "lease must be > 0 and attempts_allowed >= 1"
            raise ValueError(msg)
        if not timedelta() < self.first_wait <= self.longest_wait:
            msg = (
                "waits must satisfy 0 < first_wait <= longest_wait, got "
                f"{self.first_wait} and {self.longest_wait}"
            )
            raise ValueError(msg)

    def wait(self, attempts: int) -> timedelta:
        """Wait after that many failures in a row.

        Examples
        --------
        >>> WorkRules().wait(3), WorkRules().wait(1000)
        (datetime.timedelta(seconds=120), datetime.timedelta(seconds=3600))
        """
        return doubled_wait(self.first_wait, attempts - 1, longest=self.longest_wait)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claimant:
    """A worker that wants a claim: its identity, the database's time, and its configurations."""

    owner: str
    at: datetime
    monitors: Mapping[str, str] | None

    def may_take(self) -> ColumnElement[bool]:
        return and_(
            or_(windows.c.lease_until.is_(None), windows.c.lease_until <= self.at),
            or_(windows.c.not_before.is_(None), windows.c.not_before <= self.at),
            true()
            if self.monitors is None
            else tuple_(windows.c.monitor, windows.c.configuration).in_(
                list(self.monitors.items())
            ),
        )


def claim_collect(
    connection: Connection,
    *,
    owner: str,
    at: datetime,
    now: datetime,
    monitors: Mapping[str, str] | None,
    rules: WorkRules,
) -> Claim | None:
    """Claim the oldest free window with due panes that are not collected; None if there is none."""
    claimant = _Claimant(owner=owner, at=at, monitors=monitors)
    due = and_(panes.c.status == "planned", panes.c.as_of <= now)
    return _take(
        connection, claimant, windows.c.next_as_of <= now, due, step="collect", rules=rules
    )


def claim_evaluate(
    connection: Connection,
    *,
    owner: str,
    at: datetime,
    monitors: Mapping[str, str] | None,
    rules: WorkRules,
) -> Claim | None:
    """Claim the oldest free window with collected panes that wait for no earlier window."""
    earlier = windows.alias("earlier")
    # Correlated explicitly: two levels deep SQLAlchemy would not correlate these tables itself.
    is_held_up = exists().where(is_before(earlier, rules)).correlate(windows, panes)
    ready = and_(panes.c.status == "collected", ~is_held_up)
    has_ready = and_(
        windows.c.evaluated_panes < windows.c.collected_panes,
        exists().where(panes.c.window_key == windows.c.window_key, ready).correlate(windows),
    )
    claimant = _Claimant(owner=owner, at=at, monitors=monitors)
    return _take(connection, claimant, has_ready, ready, step="evaluate", rules=rules)


def is_before(earlier: FromClause, rules: WorkRules) -> ColumnElement[bool]:
    """Condition that a pane of `windows` must wait until the earlier window is collected."""
    return and_(
        earlier.c.monitor == windows.c.monitor,
        earlier.c.configuration == windows.c.configuration,
        earlier.c.window_start < windows.c.window_start,
        earlier.c.next_as_of <= panes.c.as_of,
        earlier.c.attempts < rules.attempts_allowed,
    )


def finish(connection: Connection, claim: Claim) -> None:
    """End a claim, in the transaction that stores its result.

    Raises
    ------
    StaleClaimError
        If the claim is no longer held.
    """
    done = connection.execute(
        update(windows)
        .where(_held(claim))
        .values(lease_owner=None, lease_until=None, attempts=0, last_error=None, not_before=None)
    )
    if done.rowcount != 1:
        raise _stale(claim)


def prolong(connection: Connection, claim: Claim, *, until: datetime) -> None:
    """Extend a lease until a time.

    Raises
    ------
    StaleClaimError
        If the claim is no longer held.
    """
    done = connection.execute(update(windows).where(_held(claim)).values(lease_until=until))
    if done.rowcount != 1:
        raise _stale(claim)


def give_back(
    connection: Connection,
    claim: Claim,
    *,
    at: datetime,
    error: str | None,
    fault_of: FaultOf,
    retry_after: timedelta | None,
    rules: WorkRules,
) -> None:
    """Release a window; after a failure it is due again later. Nothing if the claim is not held."""
    values: dict[str, object] = {"lease_owner": None, "lease_until": None}
    if error is not None:
        # Only failures of the window itself count towards giving it up.
        given_up, failed_again = rules.attempts_allowed, windows.c.attempts + 1
        more = {
            "window": failed_again,
            "rows": case((windows.c.attempts < given_up, given_up), else_=failed_again),
        }.get(fault_of, case((windows.c.attempts < 1, 1), else_=windows.c.attempts))
        values |= {"attempts": more, "last_error": error}
        if fault_of in {"tables", "machine"}:
            retry_after = timedelta() if retry_after is None else retry_after
    attempts = connection.scalar(
        update(windows).where(_held(claim)).values(values).returning(windows.c.attempts)
    )
    if attempts is None:
        return
    if retry_after is None and error is not None:
        before = rules.attempts_allowed - 1 if fault_of == "rows" else 0
        retry_after = rules.wait(attempts - before)
    if retry_after is not None:
        connection.execute(
            update(windows)
            .where(windows.c.window_key == claim.window_key)
            .values(not_before=at + retry_after)
        )


def _take(
    connection: Connection,
    claimant: _Claimant,
    wanted: ColumnElement[bool],
    which_panes: ColumnElement[bool],
    *,
    step: Step,
    rules: WorkRules,
) -> Claim | None:
    query = (
        select(windows.c.window_key, windows.c.lease_owner)
        .where(wanted, claimant.may_take())
        .order_by(windows.c.window_start, windows.c.window_key)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    found = connection.execute(query).first()
    if found is None and free_windows(connection, at=claimant.at):
        found = connection.execute(query).first()
    if found is None:
        return None
    values: dict[str, object] = {
        "fence": windows.c.fence + 1,
        "lease_owner": claimant.owner,
        "lease_until": claimant.at + rules.lease,
    }
    if found.lease_owner is not None:
        # The last worker died or was too slow. It counts, as the window may kill its workers.
        values["attempts"] = windows.c.attempts + 1
        values["last_error"] = (
            f"{shown_owner(found.lease_owner)} died or did not finish before its lease ran out"
        )
    row = connection.execute(
        update(windows)
        .where(windows.c.window_key == found.window_key)
        .values(values)
        .returning(windows)
    ).one()
    chosen = _panes(connection, row.window_key, window_of(row), which_panes)
    return record_of(Claim, row, step=step, panes=chosen, owner=row.lease_owner)


def _panes(
    connection: Connection, key: str, window: Window, which: ColumnElement[bool]
) -> tuple[ClaimedPane, ...]:
    last = connection.scalar(select(func.max(panes.c.revision)).where(panes.c.window_key == key))
    chosen: Select[Any] = (
        select(panes)
        .join(windows, windows.c.window_key == panes.c.window_key)
        .where(panes.c.window_key == key, which)
        .order_by(panes.c.number)
    )
    claimed = []
    for row in connection.execute(chosen):
        # Later results of a window have a larger revision, whichever pane they are of.
        last = row.number if last is None else max(row.number, last + 1)
        claimed.append(
            record_of(ClaimedPane, row, pane=record_of(Pane, row, window=window), revision=last)
        )
    return tuple(claimed)


def _held(claim: Claim) -> ColumnElement[bool]:
    return and_(
        windows.c.window_key == claim.window_key,
        windows.c.fence == claim.fence,
        windows.c.lease_owner == claim.owner,
    )


def _stale(claim: Claim) -> StaleClaimError:
    return StaleClaimError(
        f"{shown_owner(claim.owner)} no longer holds the window of {claim.monitor} from "
        f"{moment_text(claim.window.start)}: its lease ran out at {moment_text(claim.lease_until)} "
        "and another worker claimed the window, or the window was reopened. Nothing was stored"
    )
