"""Outcome of one attempt of a check: success, or the failure and its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pumonitor.errors import InputError, PumonitorError

Failure = Literal["input", "operation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Outcome of one attempt, such as a connection.

    Attributes
    ----------
    what : str
        "state", "tracking", "destinations.oncall".
    message : str
        Result or error, without secrets.
    failure : "input", "operation" or None
        "input" if the configuration or data have to be corrected, "operation" for other failures.
    """

    what: str
    message: str
    failure: Failure | None = None


def tried(what: str, attempt: Callable[[], str], mask: Callable[[str], str]) -> Outcome:
    """Call a function and return its outcome; secrets are masked in the message of a failure."""
    try:
        return Outcome(what=what, message=mask(attempt()))
    except InputError as error:
        return Outcome(what=what, message=mask(str(error)), failure="input")
    except PumonitorError as error:
        return Outcome(what=what, message=mask(str(error)), failure="operation")
    except Exception as error:  # noqa: BLE001 (a driver's own error, which may quote its address)
        message = mask(f"{type(error).__name__}: {error}".strip())
        return Outcome(what=what, message=message.splitlines()[0], failure="operation")


def as_plain(value: Any) -> Any:
    """Values of a table in JSON types: times in ISO 8601, NaN and infinite numbers left out.

    Examples
    --------
    >>> as_plain({"score": float("nan"), "rows": 3})
    {'score': None, 'rows': 3}
    """
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
