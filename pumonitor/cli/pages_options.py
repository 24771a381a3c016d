"""Options of the pages that `pumonitor pages` and `pumonitor serve` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pumonitor.monitor.dashboard.server import Served

HostNames = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[,NAME...]",
        help="Names by which browsers reach the pages, exactly as they write them. Everybody then "
        "signs in with a token.",
    ),
]
PlainHttp = Annotated[
    bool,
    typer.Option(
        "--plain-http",
        help="With --host-names: browsers come by http and not by https, so whoever listens in "
        "between can take over what they have signed in to.",
    ),
]
TrustedProxy = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="IP address of a proxy in front whose X-Forwarded-For, -Host and -Proto are believed.",
    ),
]


def served_as(host_names: str | None, *, plain_http: bool, trusted_proxy: str | None) -> Served:
    """What these options mean.

    Raises
    ------
    InputError
        If a name is none.
    """
    from ipaddress import ip_address

    from pumonitor.errors import InputError, shortened
    from pumonitor.monitor.addresses import checked_host_names
    from pumonitor.monitor.dashboard.server import Served

    if trusted_proxy is not None:
        try:
            ip_address(trusted_proxy)
        except ValueError:
            msg = (
                "--trusted-proxy takes the IP address from which the proxy connects, such as "
                f"127.0.0.1, got {shortened(trusted_proxy)!r}"
            )
            raise InputError(msg) from None
    return Served(
        host_names=() if host_names is None else checked_host_names(host_names),
        is_plain_http=plain_http,
        trusted_proxy=trusted_proxy,
    )
