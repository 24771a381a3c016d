"""Distinguish public network addresses from those of private networks and of this machine."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

_AT_THE_END: Final = tuple(
    IPv6Network(one)
    for one in (
        "::/96",  # IPv4-compatible
        "::ffff:0:0/96",  # IPv4-mapped
        "::ffff:0:0:0/96",  # IPv4-translated
        "64:ff9b::/96",  # NAT64
    )
)
"""Networks whose addresses end with the IPv4 address that they stand for."""

_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
"""Network-specific NAT64 prefix; the position of the IPv4 address in it is not known."""


def is_public(address: str) -> bool:
    """Whether an address is one of the internet: not private, loopback, link-local or reserved.

    For IPv6 addresses that embed an IPv4 one (mapped, compatible, translated, 6to4, Teredo, NAT64)
    the embedded address is checked. Addresses of a local NAT64 prefix are not public.

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
        if found in _LOCAL_NAT64 or found.is_site_local:
            return False
        inner = _inner(found)
        # Of ::/96 the first two stand for themselves.
        if inner and int(found) > 1:
            return all(is_public(str(one)) for one in inner)
    return found.is_global and not found.is_multicast


def _inner(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """IPv4 addresses embedded in an IPv6 address; of Teredo the server and the client."""
    if any(address in network for network in _AT_THE_END):
        return (IPv4Address(int(address) & 0xFFFFFFFF),)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    return address.teredo or ()
