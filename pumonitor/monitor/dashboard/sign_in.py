"""The page on which a token is given, and the session that it begins."""

from __future__ import annotations

from typing import Any

from flask import Flask, redirect, render_template, request, url_for
from werkzeug.exceptions import TooManyRequests, Unauthorized
from werkzeug.wrappers import Response

from pumonitor.monitor.dashboard.access import Access
from pumonitor.monitor.dashboard.callers import Callers
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.tokens import SESSION_LENGTH

_OPEN = frozenset({"static", "show_sign_in", "sign_in"})
"""What is answered to everybody."""


def add_sign_in(app: Flask, site: Site, access: Access, callers: Callers) -> None:
    """Want a session or a token for every page, and show the form that begins a session.

    Parameters
    ----------
    app : Flask
    site : Site
    access : Access
    callers : Callers
    """

    @app.before_request
    def want_caller() -> None:
        # Before the page is looked up: who may ask nothing learns nothing of what there is.
        if request.endpoint not in _OPEN:
            access.caller()

    @app.get("/sign-in")
    def show_sign_in() -> str:
        return _page("")

    @app.post("/sign-in")
    def sign_in() -> Any:
        try:
            token = callers.checked(request.form.get("token", "").strip())
        except (TooManyRequests, Unauthorized) as error:
            return _page(str(error.description)), error.code
        earlier = request.cookies.get(callers.cookie)
        if earlier:
            site.ledger.tokens.end_session(earlier)
        answer = redirect(_next_page(), 303)
        answer.set_cookie(
            callers.cookie,
            site.ledger.tokens.begin_session(token),
            max_age=SESSION_LENGTH,
            path="/",
            secure=callers.is_secure,
            httponly=True,
            samesite="Strict",
        )
        return answer

    @app.post("/sign-out")
    def sign_out() -> Response:
        site.ledger.tokens.end_session(request.cookies.get(callers.cookie, ""))
        answer = redirect(url_for("show_sign_in"), 303)
        answer.delete_cookie(
            callers.cookie, path="/", secure=callers.is_secure, httponly=True, samesite="Strict"
        )
        return answer


def sign_in_address() -> str:
    """The form, which leads back to the page that was asked for."""
    asked = request.full_path.removesuffix("?") if request.method == "GET" else "/"
    return url_for("show_sign_in", next=None if asked == "/" else asked)


def _page(said: str) -> str:
    return render_template("sign_in.html", problem=said, next=request.values.get("next", ""))


def _next_page() -> str:
    """A page of ours, whatever the address says: no link may lead from here to elsewhere."""
    asked = request.form.get("next", "")
    is_ours = asked.startswith("/") and not asked.startswith("//") and asked.isprintable()
    path = asked if is_ours and "\\" not in asked else "/"
    return request.script_root + path
