"""Addresses to listen on, and names under which this machine asks itself."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from pumonitor.errors import InputError, shortened

__all__ = ["Listening", "is_own_name", "listening_address"]

_LARGEST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Address and port to listen on."""

    family: socket.AddressFamily
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether the address can be reached from this machine only."""
        return ip_address(self.host.partition("%")[0]).is_loopback


def listening_address(address: str, *, what: str) -> Listening:
    """What ``HOST:PORT``, ``[IPv6]:PORT`` or ``:PORT`` of 127.0.0.1 means.

    Parameters
    ----------
    address : str
    what : str
        What listens there, for errors: "health", "pages".

    Raises
    ------
    InputError
        If it is of none of these forms, or no address of this machine.

    Examples
    --------
    >>> found = listening_address(":8090", what="pages")
    >>> found.host, found.port, found.is_loopback
    ('127.0.0.1', 8090, True)
    """
    host, colon, port = address.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    if is_bracketed:
        host = host[1:-1]
    if (
        not colon
        or not (
            port.isdecimal() and port.isascii() and len(port) <= 5 and int(port) <= _LARGEST_PORT
        )
        or (":" in host) is not is_bracketed
    ):
        msg = (
            f"a {what} address is HOST:PORT, for example 127.0.0.1:8080 or [::1]:8080, got "
            f"{shortened(address)!r}"
        )
        raise InputError(msg)
    try:
        found = socket.getaddrinfo(
            host or "127.0.0.1", int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        msg = f"the {what} address {shortened(address)} cannot be used: {why}"
        raise InputError(msg) from None
    family, _, _, _, resolved = found[0]
    return Listening(family=family, host=str(resolved[0]), port=int(port))


def is_own_name(host: str) -> bool:
    """Whether a Host header names this machine.

    Examples
    --------
    >>> is_own_name("localhost:8080"), is_own_name("[::1]:8080"), is_own_name("example.org")
    (True, True, False)
    """
    name = host.strip().lower()
    name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name.rstrip(".") == "localhost"
