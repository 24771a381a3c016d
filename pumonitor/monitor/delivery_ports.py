"""What the ledger hands to delivery: messages, the outbox that holds them, sinks that take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxMessage:
    """Something to be sent to one destination, claimed by one worker for the length of a lease.

    Attributes
    ----------
    id : int
        Grows in the order in which messages were written.
    destination : str
    lane : str
        Messages of one destination and lane arrive in the order of their ids.
    key : str
        The same for the same thing, however often it is sent.
    payload : mapping
        Plain JSON values.
    attempts : int
        Earlier attempts that failed, for whatever reason.
    refusals : int
        Those of them in which the message itself was at fault.
    claim : str
        Tells this claim from others, so that a worker whose lease ran out changes nothing.
    """

    id: int
    destination: str
    lane: str
    key: str
    payload: Mapping[str, Any]
    attempts: int = 0
    refusals: int = 0
    claim: str = ""


class Outbox(Protocol):
    """What is still to be sent. Due times and leases go by the database's clock, not the worker's.

    Only the holder of a claim that has not run out changes a message; from others the methods below
    do nothing.
    """

    def claim(self, destination: str, *, limit: int, lease: timedelta) -> Sequence[OutboxMessage]:
        """The next messages of a destination by id, claimed; none of a lane out of turn.

        Of a lane whose first message that is neither delivered nor set aside is not due yet, or is
        claimed by somebody else, nothing is returned.
        """

    def keeping(
        self, messages: Sequence[OutboxMessage], *, lease: timedelta
    ) -> AbstractContextManager[Callable[[], bool]]:
        """Renew the claim on messages while it is open; gives what says whether it surely holds."""

    def delivered(self, message: OutboxMessage) -> None:
        """Note that the destination has it."""

    def failed(
        self, message: OutboxMessage, *, reason: str, retry_after: timedelta, refused: bool
    ) -> None:
        """Note an attempt that failed and when the next is due; `refused` counts as a refusal."""

    def set_aside(self, message: OutboxMessage, *, reason: str) -> None:
        """Try no more until a person asks for it; its lane goes on without it."""

    def release(self, messages: Sequence[OutboxMessage]) -> None:
        """Give back what was claimed and not attempted, as it was."""


class Sink(Protocol):
    """A destination. Sending what it has already changes nothing there."""

    def send(self, message: OutboxMessage) -> None:
        """Make the destination hold the message; returns once it does.

        Raises
        ------
        DestinationDownError
            If nothing can be delivered there now (`pumonitor.monitor.delivery.sending.failures`).
        MessageRefusedError
            If this message is at fault.
        """


class RunIds(Protocol):
    """Which MLflow run was found for a key, so that it need not be searched for."""

    def get(self, key: str) -> str | None:
        """The run id, None when there is none yet."""

    def set(self, key: str, run_id: str) -> None:
        """Remember it in place of what was remembered."""
