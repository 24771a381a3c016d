"""Notification that a model version was promoted, or that this was undone: its payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field, ValidationError

from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from pumonitor.monitor.ledger.records.promotions import Action, Evidence
from pumonitor.views.model import Moment, View

PROMOTED: Final = "promoted"
"""Kind of these messages, which `events` of a destination names; also of an undo."""


class PromotionMessage(View):
    """A promotion, or its undo, on its way to destinations.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 4, 1, tzinfo=UTC)
    >>> message = PromotionMessage(
    ...     number=3, action="undo", monitor="card-fraud", model="card-fraud", alias="champion",
    ...     from_version="5", to_version="3", actor="ana", begun_at=at, at=at)
    >>> message.key
    'card-fraud/promotion/3/2026-04-01T00:00:00+00:00'
    >>> PromotionMessage.from_payload(message.to_payload()) == message
    True
    """

    number: int = Field(description="Its id in the ledger (`promotions`).")
    action: Action
    monitor: str
    model: str
    alias: str
    from_version: str | None = Field(description="Null if the alias did not exist.")
    to_version: str
    actor: str
    begun_at: Moment
    at: Moment = Field(description="When it was done.")
    evidence: Evidence | None = Field(default=None, description="Null for an undo.")
    links: dict[str, str] = Field(default={}, description="Addresses by name.")

    @property
    def lane(self) -> str:
        """Messages about one model arrive in order."""
        return f"promotions of {self.model}"

    @property
    def key(self) -> str:
        """Key of the message: other state databases have the same numbers, but not the time."""
        return f"{self.monitor}/promotion/{self.number}/{self.begun_at.isoformat()}"

    @staticmethod
    def is_in(payload: Mapping[str, Any]) -> bool:
        """Whether a payload is that of such a message."""
        return payload.get("kind") == PROMOTED

    def to_payload(self) -> dict[str, Any]:
        """Plain JSON values."""
        values = self.to_dict()
        return values | {"kind": PROMOTED, "promotion": values.pop("number")}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> PromotionMessage:
        """Read `to_payload`'s values.

        Raises
        ------
        MessageRefusedError
            If something is missing or is not what it should be.
        """
        values = {name: one for name, one in payload.items() if name != "kind"}
        try:
            return cls.model_validate(values | {"number": values.pop("promotion", None)})
        except ValidationError as error:
            msg = f"the message about a promotion cannot be read: {error}"
            raise MessageRefusedError(msg, for_good=True) from None
