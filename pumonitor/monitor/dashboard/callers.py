"""Who asks, by the token of the request or the session of the browser."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from threading import Lock
from typing import Final

from flask import request
from werkzeug.exceptions import TooManyRequests, Unauthorized

from pumonitor.monitor.dashboard.access import Caller, local_caller
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.tokens import Token

__all__ = ["Callers", "WrongTokens"]

_MOST_WRONG: Final = 20
_SECONDS: Final = 60.0
_MOST_ADDRESSES: Final = 1000


class WrongTokens:
    """Counts wrong tokens of each address, for a minute.

    A token cannot be guessed, with or without this: a faulty client is told to wait. A right token
    is taken meanwhile, so nobody can lock out others behind the same address; so each token of the
    right form is still looked up.

    Parameters
    ----------
    clock : callable, optional
        Seconds.

    Examples
    --------
    >>> wrong = WrongTokens(clock=lambda: 0.0)
    >>> sum(wrong.is_one_too_many("192.0.2.1") for _ in range(25))
    5
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._counted: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def is_one_too_many(self, address: str) -> bool:
        """Count another one."""
        key, now = _network(address), self._clock()
        with self._lock:
            until, number = self._counted.get(key, (0.0, 0))
            if now >= until:
                until, number = now + _SECONDS, 0
            self._counted[key] = until, number + 1
            self._counted.move_to_end(key)
            while len(self._counted) > _MOST_ADDRESSES:
                self._counted.popitem(last=False)
        return number >= _MOST_WRONG

    def __len__(self) -> int:
        return len(self._counted)


def _network(address: str) -> str:
    """An address; of IPv6 the network that one household has."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(ip_network((found, 64), strict=False))


class Callers:
    """Finds out who makes a request.

    Parameters
    ----------
    site : Site
    signs_in : bool
        Whether everybody has to show a token, or has signed in with one. Without it whoever shows
        none is the user of this machine.
    is_plain_http : bool
        Whether browsers come by http, so that the cookie of a session is sent there too.
    """

    def __init__(self, site: Site, *, signs_in: bool = False, is_plain_http: bool = False) -> None:
        self.signs_in = signs_in
        self.is_secure = not is_plain_http
        # Browsers take a cookie of this name from this very host alone, and by https.
        self.cookie = "__Host-pumonitor" if self.is_secure else "pumonitor_session"
        self._site = site
        self._wrong = WrongTokens()

    def caller(self) -> Caller:
        """Who makes the present request; answers 401 if they have to say so."""
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._of(self.checked(text.strip()))
        if not self.signs_in:
            return local_caller(self._site.monitors)
        secret = request.cookies.get(self.cookie, "")
        token = self._site.ledger.tokens.of_session(secret) if secret else None
        if token is None:
            raise Unauthorized("a token is needed: Authorization: Bearer TOKEN")
        return self._of(token)

    def is_by_token(self) -> bool:
        """Whether the present request bears a token, which no page elsewhere can make it do."""
        return request.headers.get("Authorization", "").lower().startswith("bearer ")

    def checked(self, text: str) -> Token:
        """The token with this text; answers 401 if there is none, 429 after too many."""
        token = self._site.ledger.tokens.holder(text)
        if token is None:
            if self._wrong.is_one_too_many(request.remote_addr or ""):
                raise TooManyRequests(
                    "too many wrong tokens: wait a minute", retry_after=round(_SECONDS)
                )
            raise Unauthorized("there is no such token, or it has expired or was revoked")
        return token

    def _of(self, token: Token) -> Caller:
        names = self._site.monitors
        visible = list(names) if token.monitors is None else token.monitors
        may_change = token.right != "read"
        return Caller(
            name=f"{token.name} (token)",
            visible=visible,
            may_change=lambda monitor: may_change and monitor in visible,
            is_admin=token.right == "admin" and token.monitors is None,
        )
