"""Complaints about messages that wait, and about leases that other machines hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from pumonitor.monitor.inspection.complaint import Complaint
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.ledger.outbox import Waiting
from pumonitor.text import moment_text, span_text

_UNDELIVERED = timedelta(hours=1)


def lease_complaints(ledger: Ledger) -> Iterator[Complaint]:
    """Leases held by processes of other machines, which may have died."""
    held = [("windows", one) for one in ledger.holders()]
    for name, waiting in ledger.outbox.waiting().items():
        held += [(f"messages to {name}", one) for one in waiting.holders]
    for what, holder in held:
        if not holder.lives_here:
            yield Complaint(
                severity="warning",
                what=f"{holder.held} {what} held by {holder.name} until "
                f"{moment_text(holder.until)}",
                remedy="nothing has to be done while that process works and renews its lease; if "
                "it has died, the next run after that time takes over",
            )


def outbox_complaints(ledger: Ledger) -> list[Complaint]:
    """Messages that were set aside, that failed, or that wait for longer than an hour."""
    found = []
    for name, waiting in ledger.outbox.waiting().items():
        # What was last said of the destination is of those that wait, where any of them was tried.
        because = f": {waiting.last_error}" if waiting.last_error else ""
        if waiting.set_aside:
            found.append(
                Complaint(
                    severity="error",
                    what=f"{name}: {waiting.set_aside} messages were refused and set aside"
                    f"{'' if waiting.failed else because}",
                    remedy=f"repair the cause, then pumonitor doctor --take-up {name}",
                )
            )
        if waiting.failed or (waiting.messages and waiting.oldest > _UNDELIVERED):
            count = waiting.messages
            found.append(
                Complaint(
                    severity="error" if waiting.failed else "warning",
                    what=f"{name}: {count} message{' waits' if count == 1 else 's wait'}, "
                    f"the oldest {span_text(waiting.oldest)}{because if waiting.failed else ''}",
                    remedy=_remedy_of(name, waiting),
                )
            )
    return found


def _remedy_of(name: str, waiting: Waiting) -> str:
    if waiting.next_try is None:
        return "the next run sends them once the destination answers"
    return (
        "make sure that the destination answers; the first run after "
        f"{moment_text(waiting.next_try)} tries again, or the next run after pumonitor "
        f"doctor --take-up {name}"
    )
