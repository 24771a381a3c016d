"""Who asks, by the token of the request or the session of the browser."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from threading import Lock
from typing import Final

from flask import request
from werkzeug.exceptions import TooManyRequests, Unauthorized

from pumonitor.monitor.dashboard.access import Caller, local_caller
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.tokens import Token
from pumonitor.monitor.seldom_logged import SeldomLogged

_MOST_WRONG_TOKENS: Final = 20
_MOST_WRONG_SESSIONS: Final = 100
"""More: a browser shows the cookie of a session that has ended with every file of a page."""
_SECONDS: Final = 60.0
_MOST_ADDRESSES: Final = 1000
_MOST_RIGHT: Final = 1000


@dataclass(slots=True)
class _Counted:
    """What an address has shown in a minute: how many were wrong, and which."""

    until: float
    number: int = 0
    wrong: set[bytes] = field(default_factory=set)


class WrongSecrets:
    """Counts wrong tokens or sessions of each address, for a minute, and spares looking them up.

    A secret cannot be guessed, with or without this: a faulty client is told to wait. What was
    wrong is not looked up again. After too many different ones, what this process does not know as
    right is not looked up either. So only somebody who guesses can keep others behind the same
    address from signing in, and nobody who has been here before.

    Parameters
    ----------
    most : int
        In a minute.
    clock : callable, optional
        Seconds.

    Examples
    --------
    >>> wrong = WrongSecrets(20, clock=lambda: 0.0)
    >>> sum(wrong.is_one_too_many("192.0.2.1", "guess") for _ in range(25))
    5
    >>> wrong.needs_no_look("192.0.2.1", "guess"), wrong.needs_no_look("192.0.2.1", "another")
    (True, False)
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._lock = Lock()
        self._counted: OrderedDict[str, _Counted] = OrderedDict()
        self._right: OrderedDict[bytes, None] = OrderedDict()

    def needs_no_look(self, address: str, secret: str) -> bool:
        """Whether a secret is refused without looking it up."""
        known = _known(secret)
        with self._lock:
            found = self._counted.get(_network(address))
            if found is None or self._clock() >= found.until or known in self._right:
                return False
            return known in found.wrong or len(found.wrong) >= self._most

    def is_one_too_many(self, address: str, secret: str) -> bool:
        """Count another one that was wrong."""
        key, now = _network(address), self._clock()
        with self._lock:
            found = self._counted.get(key)
            if found is None or now >= found.until:
                found = self._counted[key] = _Counted(now + _SECONDS)
            found.number += 1
            if len(found.wrong) < self._most:
                found.wrong.add(_known(secret))
            self._right.pop(_known(secret), None)
            self._counted.move_to_end(key)
            while len(self._counted) > _MOST_ADDRESSES:
                self._counted.popitem(last=False)
            return found.number > self._most

    def was_right(self, secret: str) -> None:
        """Keep in mind what was right; it is looked up each time, as it may be revoked."""
        with self._lock:
            self._right[_known(secret)] = None
            self._right.move_to_end(_known(secret))
            while len(self._right) > _MOST_RIGHT:
                self._right.popitem(last=False)

    def __len__(self) -> int:
        return len(self._counted)


def _known(secret: str) -> bytes:
    """A secret as it is kept in memory: not itself."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


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
        self._tokens = WrongSecrets(_MOST_WRONG_TOKENS)
        self._seldom = SeldomLogged()
        self._sessions = WrongSecrets(_MOST_WRONG_SESSIONS)

    def caller(self) -> Caller:
        """Who makes the present request; answers 401 if they have to say so."""
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._of(self.checked(text.strip()))
        if not self.signs_in:
            return local_caller(self._site.monitors)
        secret = request.cookies.get(self.cookie, "")
        stored = self._site.ledger.tokens
        token = self._found(secret, stored.of_session, self._sessions) if secret else None
        if token is None:
            raise Unauthorized("a token is needed: Authorization: Bearer TOKEN")
        return self._of(token)

    def checked(self, text: str) -> Token:
        """The token with this text; answers 401 if there is none, 429 after too many."""
        token = self._found(text, self._site.ledger.tokens.holder, self._tokens)
        if token is None:
            self._note_wrong()
            raise Unauthorized("there is no such token, or it has expired or was revoked")
        return token

    def _note_wrong(self) -> None:
        """Log where a wrong token came from, and not the token."""
        address = _network(request.remote_addr or "?")
        self._seldom.warn(address, f"pages: a wrong token from {address} for {request.path!r:.100}")

    def _found(
        self, secret: str, look_up: Callable[[str], Token | None], wrong: WrongSecrets
    ) -> Token | None:
        """The token of a secret; answers 429 after too many that were wrong."""
        address = request.remote_addr or ""
        token = None if wrong.needs_no_look(address, secret) else look_up(secret)
        if token is not None:
            wrong.was_right(secret)
        elif wrong.is_one_too_many(address, secret):
            if wrong is self._tokens:
                self._note_wrong()
            raise TooManyRequests(
                "too many wrong tokens or sessions: wait a minute", retry_after=round(_SECONDS)
            )
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
