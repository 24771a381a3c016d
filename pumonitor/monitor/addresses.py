"""Addresses to listen on, and names under which this machine asks itself."""

from __future__ import annotations

import re
import socket
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from pumonitor.errors import InputError, shortened

_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]@/]+)(?::[0-9]{1,5})?")
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


def checked_host_names(given: str) -> tuple[str, ...]:
    """Names of hosts, of a list with commas.

    Raises
    ------
    InputError
        If one is no name: a port, a scheme or a pattern has no place here.

    Examples
    --------
    >>> checked_host_names("pumonitor.example.org, 192.0.2.7")
    ('pumonitor.example.org', '192.0.2.7')
    """
    names = tuple(one.strip() for one in given.split(","))
    for one in names:
        if not _NAME.fullmatch(one):
            msg = (
                "host names are those by which browsers reach the pages, with commas between them "
                f"and without ports, such as pumonitor.example.org, got {shortened(one)!r}"
            )
            raise InputError(msg)
    return tuple(one.lower() for one in names)


def is_named(host: str, names: Collection[str]) -> bool:
    """Whether a Host header is one of these names, with any port.

    Examples
    --------
    >>> names = ("a.example.org",)
    >>> is_named("A.example.org:8090", names), is_named("a.example.org.evil.net", names)
    (True, False)
    """
    parts = _HOST.fullmatch(host.strip().lower())
    return parts is not None and parts[1] in names
