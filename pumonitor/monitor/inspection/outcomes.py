"""Outcome of one attempt of a check: success, or the failure and its kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

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
