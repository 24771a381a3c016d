"""Forms that change something: who may have sent one, and what the next page says of it.

A page elsewhere can make a browser send a form here, with the cookies and the password that it has
for this host. So a form must come from one of our pages: it bears a token that only those have, and
the browser says that it comes from here. Every process computes the same token from a key in the
state database, for the browser's cookie and the name of whoever asks.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from flask import Response, abort, g, request
from markupsafe import Markup

DONE: Final = {
    "acknowledged": "Acknowledged: no more reminders are sent for this incident.",
    "unacknowledged": "No longer acknowledged: reminders are sent again.",
    "silenced": "Silenced: no notifications are sent until the silence ends.",
    "unsilenced": "The silence has ended.",
    "noted": "The note is kept.",
    "withdrawn": "The note is withdrawn.",
}
"""What a form has done, by the word for it in the address of the next page."""

LONGEST: Final = 64 * 1024
"""Bytes of a form."""

_COOKIE: Final = "pumonitor_forms"
_FIELD: Final = "form_token"
_SESSION: Final = re.compile(r"[A-Za-z0-9_-]{43}\Z")
_KEY: Final = "forms of pages"


class Forms:
    """Tokens of forms, for the browser and the person of the present request.

    Parameters
    ----------
    key : callable
        The key of a name that all processes share.
    name : callable
        Name of whoever asks.
    """

    def __init__(self, key: Callable[[str], bytes], name: Callable[[], str]) -> None:
        self._key = functools.cache(lambda: key(_KEY))
        self._name = name

    def field(self) -> Markup:
        """The hidden field that every form has."""
        return Markup('<input type="hidden" name="{}" value="{}">').format(
            _FIELD, self._mac("form", self._session())
        )

    def check(self) -> None:
        """Answer 403 unless one of our pages sent the form to whoever asks."""
        if not is_from_here():
            abort(403, "A form is only taken from a page of this address.")
        session = request.cookies.get(_COOKIE, "")
        given = request.form.get(_FIELD, "")
        if not _SESSION.match(session) or not self._is("form", session, given):
            abort(
                403,
                "The form is too old, or was not sent by one of these pages: nothing is changed. "
                "Go back, load the page again, and send it again.",
            )

    def sign(self, done: str) -> str:
        """What the next page is to say, so that no link from elsewhere can make it say so."""
        return f"{done}.{self._mac(done, self._session())}"

    def said(self) -> str:
        """What the form before this page has done, in words; "" without one."""
        done, _, given = request.args.get("done", "").partition(".")
        session = request.cookies.get(_COOKIE, "")
        return DONE[done] if done in DONE and self._is(done, session, given) else ""

    def keep(self, response: Response) -> None:
        """Give the browser the cookie of its forms, if this page is the first that has one."""
        if "new_session" in g:
            # Of several proxies the first one says how the browser came.
            scheme = request.headers.get("X-Forwarded-Proto", "").partition(",")[0].strip()
            is_https = request.is_secure or scheme.lower() == "https"
            response.set_cookie(
                _COOKIE,
                g.new_session,
                path=f"{request.script_root}/",
                httponly=True,
                samesite="Strict",
                secure=is_https,
            )

    def _session(self) -> str:
        """The random text in the browser's cookie, made if it has none."""
        session = request.cookies.get(_COOKIE, "")
        if _SESSION.match(session):
            return session
        if "new_session" not in g:
            g.new_session = secrets.token_urlsafe(32)
        made: str = g.new_session
        return made

    def _mac(self, what: str, session: str) -> str:
        text = "\n".join((what, session, self._name()))
        return hmac.new(self._key(), text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _is(self, what: str, session: str, given: str) -> bool:
        expected = self._mac(what, session).encode()
        return hmac.compare_digest(expected, given.encode("utf-8", "replace"))


def is_from_here() -> bool:
    """Whether the browser says that one of our pages sends this, or the person by hand."""
    site = request.headers.get("Sec-Fetch-Site")
    if site not in (None, "same-origin", "none"):
        return False
    origin = request.headers.get("Origin")
    if origin is None:
        return site is not None
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    # Behind a proxy the scheme may differ, and the host where the proxy names another one. No page
    # elsewhere can make a browser send a header of that name without asking before.
    here = {request.headers.get(name, "").lower() for name in ("Host", "X-Forwarded-Host")}
    return parts.scheme in {"http", "https"} and parts.netloc.lower() in here - {""}
