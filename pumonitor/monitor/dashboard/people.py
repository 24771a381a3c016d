"""What people change through forms: acknowledgements, silences and notes of a monitor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from flask import Flask, redirect, request, url_for
from werkzeug.wrappers import Response

from pumonitor.errors import InputError, shortened
from pumonitor.monitor import changes
from pumonitor.monitor.dashboard.access import Access
from pumonitor.monitor.dashboard.address import LONGEST_NAME, moment_in
from pumonitor.monitor.dashboard.forms import Forms
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.by_people import ChosenAlerts
from pumonitor.monitor.ledger.records.alerts import Silence
from pumonitor.monitor.ledger.records.notes import Note, NotedAlert
from pumonitor.monitor.page_addresses import (
    moment_read,
    moment_written,
    version_read,
    version_written,
)

Done = Callable[[str, str], Response]

# SQLite and PostgreSQL count no further.
_NUMBER = "<int(max=9223372036854775807):number>"


def add_forms(app: Flask, site: Site, access: Access, forms: Forms) -> None:
    """Take forms about monitors that the caller may change.

    Parameters
    ----------
    app : Flask
    site : Site
    access : Access
    forms : Forms
    """

    def done(name: str, what: str) -> Response:
        """To the page on which the form was, which says what is done."""
        return redirect(_back(name, forms.sign(what)), 303)

    _add_forms_of_alerts(app, site, access, done)
    _add_forms_of_notes(app, site, access, done)


def _add_forms_of_alerts(app: Flask, site: Site, access: Access, done: Done) -> None:
    @app.post("/monitors/<name>/acknowledge")
    def acknowledge(name: str) -> Response:
        monitor = site.monitors[access.changed(name)]
        changes.acknowledge(
            site.ledger, monitor, _chosen(name), by=access.caller().name, reason=_text("reason")
        )
        return done(name, "acknowledged")

    @app.post("/monitors/<name>/unacknowledge")
    def unacknowledge(name: str) -> Response:
        monitor = site.monitors[access.changed(name)]
        changes.take_back(
            site.ledger, monitor, _chosen(name), by=access.caller().name, reason=_text("reason")
        )
        return done(name, "unacknowledged")

    @app.post("/monitors/<name>/silences")
    def silence(name: str) -> Response:
        monitor, now = site.monitors[access.changed(name)], site.clock()
        is_of_series = "whole_rule" not in request.form
        wanted = Silence(
            starts=now,
            ends=changes.silence_end(_text("until"), now=now, what="until", zone=site.zone(name)),
            rule=_rule() or None,
            model_version=version_read(_name("version")) if is_of_series else None,
            segment=_name("segment") if is_of_series else None,
            reason=_text("reason"),
            author=access.caller().name,
        )
        changes.silence(site.ledger, monitor, wanted)
        return done(name, "silenced")

    @app.post(f"/monitors/<name>/silences/{_NUMBER}/end")
    def end_silence(name: str, number: int) -> Response:
        changes.end_silence(
            site.ledger,
            number,
            by=access.caller().name,
            now=site.clock(),
            monitor=access.changed(name),
        )
        return done(name, "unsilenced")


def _add_forms_of_notes(app: Flask, site: Site, access: Access, done: Done) -> None:
    @app.post("/monitors/<name>/notes")
    def add_note(name: str) -> Response:
        zone = site.zone(access.changed(name))
        at = moment_in(request.form, "at", zone=zone) or site.clock()
        ends = moment_in(request.form, "ends", zone=zone)
        if ends is not None and ends < at:
            raise InputError("the end of a note's period must not be before its beginning")
        note = Note(
            monitor=name,
            at=at,
            ends=ends,
            text=_text("text"),
            author=access.caller().name,
            alert=_noted_alert(),
        )
        changes.add_note(site.ledger, note)
        return done(name, "noted")

    @app.post(f"/monitors/<name>/notes/{_NUMBER}/withdraw")
    def withdraw_note(name: str, number: int) -> Response:
        changes.withdraw_note(
            site.ledger, number, by=access.caller().name, monitor=access.changed(name)
        )
        return done(name, "withdrawn")


def _back(name: str, done: str) -> str:
    rule, window = _rule(), moment_read(_text("window"))
    series: dict[str, Any] = {
        "version": version_written(version_read(_name("version"))),
        "segment": _name("segment") or None,
    }
    if rule:
        return url_for("show_alert", name=name, rule=rule, **series, done=done)
    if window is not None:
        revision = _short("revision", _text("revision")) or None
        start = moment_written(window)
        return url_for(
            "show_window", name=name, start=start, **series, revision=revision, done=done
        )
    return url_for("show_monitor", name=name, metric=_text("metric") or None, done=done)


def _chosen(monitor: str) -> ChosenAlerts:
    return ChosenAlerts(
        monitor=monitor,
        rule=_rule() or None,
        model_version=version_read(_name("version")),
        segment=_name("segment"),
        incident=_incident(),
    )


def _noted_alert() -> NotedAlert | None:
    rule = _rule()
    if not rule:
        return None
    return NotedAlert(
        rule_key=rule,
        model_version=version_read(_name("version")) or "",
        segment=_name("segment"),
        incident=_incident(),
    )


def _incident() -> int:
    given = _text("incident")
    if not (given.isascii() and given.isdecimal() and len(given) < 9):
        msg = f"incident must be a whole number, got {shortened(given)!r}"
        raise InputError(msg)
    return int(given)


def _name(field: str) -> str:
    """A name from data, quoted in the form: browsers send every line break as two characters."""
    return _short(field, unquote(request.form.get(field, "")))


def _rule() -> str:
    return _short("rule", _text("rule"))


def _short(name: str, given: str) -> str:
    if len(given) > LONGEST_NAME:
        msg = f"{name} must have at most {LONGEST_NAME} characters, got {len(given):,}"
        raise InputError(msg)
    return given


def _text(name: str) -> str:
    return request.form.get(name, "")
