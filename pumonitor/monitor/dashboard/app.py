"""The pages as one WSGI application: alone behind `pumonitor pages`, or inside another server."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import unquote

from flask import Flask, Response, abort, redirect, render_template, request, url_for
from werkzeug.exceptions import HTTPException

from pumonitor import __version__
from pumonitor.errors import InputError
from pumonitor.monitor.changes import LONGEST_TEXT
from pumonitor.monitor.dashboard.access import Access, Caller
from pumonitor.monitor.dashboard.address import page_addresses
from pumonitor.monitor.dashboard.api.cursor import texts_in
from pumonitor.monitor.dashboard.api.problems import ProblemError, problem_answer, problem_of
from pumonitor.monitor.dashboard.api.routes import api_routes, is_of_api
from pumonitor.monitor.dashboard.callers import Callers
from pumonitor.monitor.dashboard.forms import Forms
from pumonitor.monitor.dashboard.pages.alert_page import alert_page
from pumonitor.monitor.dashboard.pages.alerts_page import alerts_page
from pumonitor.monitor.dashboard.pages.challengers_page import challengers_page
from pumonitor.monitor.dashboard.pages.decide_page import decide_page
from pumonitor.monitor.dashboard.pages.labels_page import labels_page
from pumonitor.monitor.dashboard.pages.monitor_page import monitor_csv, monitor_page
from pumonitor.monitor.dashboard.pages.overview import overview
from pumonitor.monitor.dashboard.pages.side_by_side import signed
from pumonitor.monitor.dashboard.pages.simulate_page import simulate_page
from pumonitor.monitor.dashboard.pages.window_page import (
    window_csv,
    window_page,
    window_report_html,
)
from pumonitor.monitor.dashboard.people import add_forms
from pumonitor.monitor.dashboard.protection import protect
from pumonitor.monitor.dashboard.sign_in import add_sign_in, sign_in_address
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.database.errors import StateError
from pumonitor.monitor.page_addresses import (
    moment_of_date,
    moment_read,
    moment_written,
    version_written,
)
from pumonitor.monitor.rules.alerts.alert import AlertIdentity, Transition
from pumonitor.monitor.views.alerts import AlertIdentityView
from pumonitor.monitor.views.condition import condition_badge
from pumonitor.names import estimate_text, title
from pumonitor.plain_text import one_line
from pumonitor.text import interval_shown, marked, moment_cell, percent_text, span_text

# The address of the database is for those who run it.
_UNAVAILABLE: Final = "It cannot be asked at the moment. The server's log says why."

_log = logging.getLogger("pumonitor")


def make_app(
    site: Site,
    *,
    is_host: Callable[[str], bool],
    caller: Callable[[], Caller] | None = None,
    callers: Callers | None = None,
) -> Flask:
    """The application.

    Parameters
    ----------
    site : Site
    is_host : callable
        Whether a Host header is one under which the pages are served.
    caller : callable, optional
        Who makes the present request, and what they may see and change. By default as of `callers`.
    callers : Callers, optional
        By default whoever shows no token is the user of this machine, who may see and change
        everything.

    Returns
    -------
    Flask
        A WSGI application.
    """
    app = Flask(__name__)
    _teach_words(app)
    callers = callers or Callers(site)
    access = Access(site.monitors, caller or callers.caller)
    forms = Forms(site.ledger.secret_keys.get, access.name)
    app.jinja_env.globals.update(
        form_field=forms.field,
        done_said=forms.said,
        may_change=access.may_change,
        longest_text=LONGEST_TEXT,
        signed_in=access.name if callers.signs_in else str,
    )
    protect(app, is_host=is_host, forms=forms)
    if not site.ledger.database.is_sqlite:
        _refuse_nul(app)
    _add_pages(app, site, access)
    add_forms(app, site, access, forms)
    if callers.signs_in:
        add_sign_in(app, site, access, callers)
    app.register_blueprint(api_routes(site, access, signs_in=callers.signs_in))
    _answer_errors(app, access)
    return app


def _refuse_nul(app: Flask) -> None:
    """PostgreSQL takes no NUL: where nothing can have one, nothing of that name is found."""

    @app.before_request
    def check() -> None:
        if any("\x00" in one for one in _names_given()):
            abort(404, "no name here has a NUL character")


def _names_given() -> Iterator[str]:
    """What may name something in the state database, wherever the request has it."""
    yield request.path
    for name, value in request.args.items(multi=True):
        yield name
        yield value
        if name == "cursor":
            yield from texts_in(value)
    for name in ("rule", "version", "segment"):
        # Forms have names quoted, as browsers change line breaks.
        yield unquote(request.form.get(name, ""))


def _answer_errors(app: Flask, access: Access) -> None:
    """Errors are pages; those of the API are problems."""

    def refused(error: Exception) -> Any:
        if isinstance(error, ProblemError):
            problem, heading = error, HTTPStatus(error.status).phrase
        elif isinstance(error, HTTPException):
            problem, heading = problem_of(error), error.name
        elif isinstance(error, InputError):
            problem, heading = ProblemError(400, str(error)), _unreadable()
        else:
            _log.error("pages: %s", error)
            why = str(error) if access.is_admin() else _UNAVAILABLE
            problem, heading = ProblemError(503, why), "The state database does not answer"
        if is_of_api(request.path):
            return problem_answer(problem)
        if problem.status == HTTPStatus.UNAUTHORIZED and "sign_in" in app.view_functions:
            return redirect(sign_in_address(), 303)
        return (*_error_page(problem.status, heading, problem.detail), problem.headers)

    for kind in (HTTPException, InputError, ProblemError, StateError):
        app.register_error_handler(kind, refused)


def _teach_words(app: Flask) -> None:
    """Filters and functions of the templates."""
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters.update(
        estimate=lambda row: marked(estimate_text(row.metric, row.value), row.infeasible_reason),
        interval=lambda row: interval_shown(row.low, row.high),
        when=moment_cell,
        one_line=one_line,
        span_text=span_text,
        lines=lambda text: [one_line(line) for line in text.split("\n")],
        percent=percent_text,
    )
    app.jinja_env.globals.update(
        estimate_text=estimate_text,
        interval_shown=interval_shown,
        metric_title=title,
        condition_badge=condition_badge,
        marked=marked,
        signed=signed,
        version_of_package=__version__,
        version_written=version_written,
        alert_address=_alert_address,
        window_address=_window_address,
    )


def _add_pages(app: Flask, site: Site, access: Access) -> None:
    @app.get("/")
    def show_overview() -> str:
        return render_template(
            "overview.html", **overview(site, request.args, visible=access.visible())
        )

    @app.get("/monitors/<name>")
    def show_monitor(name: str) -> str:
        # One for all of its windows, of which there are up to a thousand.
        here = page_addresses()
        found = monitor_page(
            site,
            access.seen(name),
            request.args,
            window_link=lambda start, version, segment: here.window(name, start, version, segment),
        )
        return render_template("monitor.html", **found)

    @app.get("/monitors/<name>/results.csv")
    def show_csv(name: str) -> Response:
        return Response(monitor_csv(site, access.seen(name), request.args), mimetype="text/csv")

    @app.get("/monitors/<name>/decide")
    def show_decide(name: str) -> str:
        return render_template("decide.html", **decide_page(site, access.seen(name), request.args))

    @app.get("/monitors/<name>/labels")
    def show_labels(name: str) -> str:
        return render_template("labels.html", **labels_page(site, access.seen(name)))

    @app.get("/monitors/<name>/challengers")
    def show_challengers(name: str) -> str:
        return render_template("challengers.html", **challengers_page(site, access.seen(name)))

    _add_window_pages(app, site, access)
    _add_alert_pages(app, site, access)


def _add_alert_pages(app: Flask, site: Site, access: Access) -> None:
    @app.get("/monitors/<name>/alerts/<rule>")
    def show_alert(name: str, rule: str) -> str:
        found = alert_page(site, access.seen(name), rule, request.args)
        if found is None:
            abort(404)
        return render_template("alert.html", **found)

    @app.get("/monitors/<name>/simulate")
    def simulate(name: str) -> str:
        found = simulate_page(site, access.seen(name), request.args, link=_event_address)
        return render_template("simulate.html", **found)

    @app.get("/alerts")
    def show_alerts() -> str:
        monitor = request.args.get("monitor")
        chosen = None if monitor is None else access.seen(monitor)
        return render_template(
            "alerts.html",
            **alerts_page(site, monitor=chosen, visible=access.visible(), link=_alert_address),
        )


def _add_window_pages(app: Flask, site: Site, access: Access) -> None:
    @app.get("/monitors/<name>/windows/<start>")
    def show_window(name: str, start: str) -> str | Response:
        day = moment_of_date(start, zone=site.zone(access.seen(name)))
        if day is not None:
            asked = request.args
            place = url_for(
                "show_window",
                name=name,
                start=moment_written(day),
                version=asked.get("version"),
                segment=asked.get("segment"),
                revision=asked.get("revision"),
            )
            return cast(Response, redirect(place, 303))
        found = window_page(site, access.seen(name), _moment(start), request.args)
        if found is None:
            abort(404)
        return render_template("window.html", **found)

    @app.get("/monitors/<name>/windows/<start>/results.csv")
    def show_window_csv(name: str, start: str) -> Response:
        found = window_csv(site, access.seen(name), _moment(start), request.args)
        if found is None:
            abort(404)
        return Response(found, mimetype="text/csv")

    @app.get("/monitors/<name>/windows/<start>/report.html")
    def send_report(name: str, start: str) -> Response:
        moment = _moment(start)
        found = window_report_html(site, access.seen(name), moment, request.args)
        if found is None:
            abort(404)
        # Its style and script are written in it, which the policy of these pages forbids.
        kept_as = f"attachment; filename=pumonitor-{moment_written(moment).replace(':', '')}.html"
        return Response(found, mimetype="text/html", headers={"Content-Disposition": kept_as})


def _unreadable() -> str:
    is_form = request.method == "POST"
    return "This cannot be done" if is_form else "This address cannot be read"


def _error_page(status: int, heading: str, text: str) -> tuple[str, int]:
    return render_template("error.html", heading=heading, text=text), status


def _window_address(
    name: str, start: datetime, version: str | None = None, segment: str = ""
) -> str:
    return page_addresses().window(name, start, version, segment)


def _alert_address(alert: AlertIdentity | AlertIdentityView) -> str:
    return url_for(
        "show_alert",
        name=alert.monitor,
        rule=alert.rule_key,
        version=version_written(alert.model_version) if alert.model_version else None,
        segment=alert.segment or None,
    )


def _event_address(event: Transition) -> str:
    return _window_address(event.monitor, event.window_start, event.model_version, event.segment)


def _moment(given: str) -> datetime:
    found = moment_read(given)
    if found is None:
        abort(404)
    return found
