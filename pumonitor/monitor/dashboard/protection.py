"""What every answer bears and every request must satisfy, whatever page it asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flask import Flask, Response, abort, request

__all__ = ["protect"]

_READING: Final = frozenset({"GET", "HEAD"})
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


def protect(app: Flask, *, is_host: Callable[[str], bool]) -> None:
    """Refuse other hosts' names and methods that change something; add headers to every answer.

    Parameters
    ----------
    app : Flask
    is_host : callable
        Whether a Host header is one under which the pages are served.
    """

    @app.before_request
    def check() -> None:
        # A page elsewhere may bind a name of its own to this address and read the answers.
        if not is_host(request.headers.get("Host", "")):
            abort(421)
        if request.method not in _READING:
            abort(405)

    @app.after_request
    def add_headers(response: Response) -> Response:
        for name, value in _HEADERS.items():
            response.headers[name] = value
        if "Cache-Control" not in response.headers or request.endpoint != "static":
            response.headers["Cache-Control"] = "no-store"
        return response
