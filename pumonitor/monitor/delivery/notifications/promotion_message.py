"""Notification that a model version was promoted, or that this was undone: its payload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final

from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from pumonitor.monitor.ledger.records.promotions import Action, Evidence

PROMOTED: Final = "promoted"
"""Kind of these messages, which `events` of a destination names; also of an undo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionMessage:
    """A promotion, or its undo, on its way to destinations.

    Attributes
    ----------
    number : int
        Its id in the ledger (`promotions`).
    action : {"promote", "undo"}
    monitor, model, alias : str
    from_version : str or None
        None if the alias did not exist.
    to_version, actor : str
    begun_at, at : datetime
        When it began, and when it was done.
    evidence : Evidence or None
        None for an undo.
    links : mapping of str to str
        Addresses by name.

    Examples
    --------
    >>> from datetime import UTC
    >>> at = datetime(2026, 4, 1, tzinfo=UTC)
    >>> message = PromotionMessage(
    ...     number=3, action="undo", monitor="card-fraud", model="card-fraud", alias="champion",
    ...     from_version="5", to_version="3", actor="ana", begun_at=at, at=at)
    >>> message.key
    'card-fraud/promotion/3/2026-04-01T00:00:00+00:00'
    >>> PromotionMessage.from_payload(message.to_payload()) == message
    True
    """

    number: int
    action: Action
    monitor: str
    model: str
    alias: str
    from_version: str | None
    to_version: str
    actor: str
    begun_at: datetime
    at: datetime
    evidence: Evidence | None = None
    links: Mapping[str, str] = field(default_factory=dict)

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
        values = asdict(self)
        number = values.pop("number")
        return values | {
            "kind": PROMOTED,
            "promotion": number,
            "begun_at": self.begun_at.isoformat(),
            "at": self.at.isoformat(),
            "evidence": None if self.evidence is None else self.evidence.to_dict(),
            "links": dict(self.links),
        }

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> PromotionMessage:
        """Read `to_payload`'s values.

        Raises
        ------
        MessageRefusedError
            If something is missing or is not what it should be.
        """
        values = {name: one for name, one in payload.items() if name not in {"kind", "promotion"}}
        try:
            evidence = payload["evidence"]
            return cls(
                **values
                | {
                    "number": payload["promotion"],
                    "begun_at": datetime.fromisoformat(payload["begun_at"]),
                    "at": datetime.fromisoformat(payload["at"]),
                    "evidence": None if evidence is None else Evidence.from_dict(evidence),
                }
            )
        except (KeyError, TypeError, ValueError) as error:
            msg = f"the message about a promotion cannot be read: {error}"
            raise MessageRefusedError(msg, for_good=True) from None
