"""Where people open the pages of the monitors."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import BeforeValidator, WithJsonSchema

from pumonitor.monitor.config.values.kinds import Part

_EXAMPLE: Final = "https://pumonitor.example.org"
_UNFIT: Final = re.compile(r"[^!-~]|[<>\"'(){}\\^`|]")
"""Characters that an address must escape, or at which chats end a link."""


def _read_address(given: Any) -> str:
    if not isinstance(given, str):
        msg = f"must be text such as {_EXAMPLE}"
        raise ValueError(msg)
    try:
        parts = urlsplit(given)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in {"http", "https"}:
        msg = (
            f"must be an address that begins with https:// or http:// and names a host: {_EXAMPLE}"
        )
        raise ValueError(msg)
    if "@" in parts.netloc:
        msg = "has a user name or password, which everybody who gets a link would see: leave it out"
        raise ValueError(msg)
    if "?" in given or "#" in given:
        msg = "has a ? or #: give the address of the overview, to which links are added"
        raise ValueError(msg)
    if _UNFIT.search(given):
        msg = "has a blank or another character that links must escape: write it with %"
        raise ValueError(msg)
    return given.rstrip("/")


class Pages(Part):
    """The pages of these monitors, so that messages can link to them.

    Attributes
    ----------
    address : str
        Address at which people open the overview. Inside MLflow's server it ends with
        ``/pumonitor``. Notifications, runs and experiments of MLflow, rules for Prometheus and
        commands then link to the page of the monitor or window that they are about.
    """

    address: Annotated[
        str,
        BeforeValidator(_read_address),
        WithJsonSchema(
            {
                "type": "string",
                "format": "uri",
                "examples": [_EXAMPLE, "https://mlflow.example.org/pumonitor"],
            }
        ),
    ]
