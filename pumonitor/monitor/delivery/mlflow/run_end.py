"""Message to MLflow that a run is complete, because no more windows are expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pumonitor.monitor.delivery.sending.failures import MessageRefusedError
from pumonitor.plain_values import plain_fields

_KIND: Final = "run end"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """The end of a run; a newer window opens the run again.

    Attributes
    ----------
    monitor : str
    model_version : str or None
        None for all versions.
    configuration : str or None
        Hash; None for all.
    as_of : datetime
        Results known after this moment open the run again.
    reason : str

    Examples
    --------
    >>> end = RunEnd(monitor="card-fraud", model_version="7", configuration="c0ffee",
    ...              as_of=datetime(2026, 3, 1, tzinfo=UTC), reason="superseded by version 8")
    >>> RunEnd.is_in(end.to_payload()), RunEnd.from_payload(end.to_payload()) == end
    (True, True)
    """

    monitor: str
    model_version: str | None
    configuration: str | None
    as_of: datetime
    reason: str

    @property
    def position(self) -> str:
        """Sort key beside `WindowMessage.position`: after all windows known by then."""
        return self.as_of.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ") + " ~"

    @staticmethod
    def is_in(payload: Mapping[str, Any]) -> bool:
        """Whether a payload is a `RunEnd`."""
        return payload.get("kind") == _KIND

    def to_payload(self) -> dict[str, Any]:
        """Plain JSON values."""
        as_of = self.as_of.astimezone(UTC).isoformat()
        return {"kind": _KIND} | plain_fields(self) | {"as_of": as_of}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> RunEnd:
        """Read `to_payload`'s values.

        Raises
        ------
        MessageRefusedError
            If something is missing or is not what it should be.
        """
        try:
            return cls(
                monitor=str(payload["monitor"]),
                model_version=payload["model_version"],
                configuration=payload["configuration"],
                as_of=datetime.fromisoformat(payload["as_of"]),
                reason=str(payload["reason"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            msg = f"the message that a run has ended cannot be read: {type(error).__name__} {error}"
            raise MessageRefusedError(msg) from None
