"""Which network addresses are anybody's, and which lead into a private network or this machine."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

__all__ = ["is_public"]

_NAT64: Final = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether an address is one of the internet: not private, loopback, link-local or reserved.

    Of IPv6 addresses that stand for an IPv4 one (mapped, 6to4, Teredo, NAT64) that one is judged.

    Raises
    ------
    ValueError
        If it is no address.

    Examples
    --------
    >>> is_public("93.184.216.34"), is_public("10.0.0.1"), is_public("169.254.169.254")
    (True, False, False)
    >>> is_public("::ffff:127.0.0.1"), is_public("64:ff9b::a9fe:a9fe"), is_public("2606:4700::1111")
    (False, False, True)
    """
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        inner = _inner(found)
        if inner is not None:
            return is_public(str(inner))
        if found.is_site_local:
            return False
    return found.is_global and not found.is_multicast


def _inner(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address it stands for."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
