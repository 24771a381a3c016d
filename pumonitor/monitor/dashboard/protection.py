"""What every answer bears and every request must satisfy, whatever page it asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flask import Flask, Response, abort, request
from werkzeug.exceptions import MethodNotAllowed

from pumonitor.monitor.dashboard.forms import LONGEST, Forms

_READING: Final = frozenset({"GET", "HEAD"})
_KEPT: Final = frozenset({"static"})
_COMPUTED: Final = frozenset(
    {
        "simulate",
        "show_challengers",
        "show_decide",
        "send_report",
        "api.getChallengers",
        "api.getDecision",
    }
)
_METHODS: Final = _READING | {"POST"}
_HEADERS: Final = {
    # Nothing is loaded from elsewhere, and nothing written in a page runs.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def protect(app: Flask, *, is_host: Callable[[str], bool], forms: Forms) -> None:
    """Refuse other hosts' names and forms of other pages; add headers to every answer.

    What a blueprint answers checks by itself who asks.

    Parameters
    ----------
    app : Flask
    is_host : callable
        Whether a Host header is one under which the pages are served.
    forms : Forms
    """
    app.config["MAX_CONTENT_LENGTH"] = app.config["MAX_FORM_MEMORY_SIZE"] = LONGEST

    @app.before_request
    def check() -> None:
        # A page elsewhere may bind a name of its own to this address and read the answers.
        if not is_host(request.headers.get("Host", "")):
            abort(421)
        if request.method not in _METHODS and request.blueprint is None:
            if isinstance(request.routing_exception, MethodNotAllowed):
                raise request.routing_exception
            abort(405)
        # A page that takes no form answers so by itself.
        is_answered = request.routing_exception is None
        if request.method not in _READING and is_answered and request.blueprint is None:
            forms.check()
        if request.endpoint in _COMPUTED and _is_for_another_page():
            abort(403, "This page takes long to compute, so no page elsewhere may have it loaded.")

    @app.after_request
    def add_headers(response: Response) -> Response:
        for name, value in _HEADERS.items():
            response.headers[name] = value
        may_be_kept = request.endpoint in _KEPT or request.blueprint is not None
        if "Cache-Control" not in response.headers or not may_be_kept:
            response.headers["Cache-Control"] = "no-store"
        forms.keep(response)
        return response


def _is_for_another_page() -> bool:
    """Whether a page elsewhere loads this unseen, as a picture or a frame; a link may lead here."""
    site, kind = (request.headers.get(f"Sec-Fetch-{name}") for name in ("Site", "Dest"))
    return site not in (None, "same-origin", "none") and kind != "document"
