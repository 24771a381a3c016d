"""The API in the application: requests are checked, answers are made, errors are problems."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from flask import Blueprint, Response, jsonify, request
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from werkzeug.datastructures import MultiDict

from pumonitor.errors import InputError, did_you_mean
from pumonitor.monitor.dashboard.access import Access
from pumonitor.monitor.dashboard.address import page_addresses
from pumonitor.monitor.dashboard.api.changing import Changing
from pumonitor.monitor.dashboard.api.etag import configuration_sum, etag_of
from pumonitor.monitor.dashboard.api.openapi import BELOW, document
from pumonitor.monitor.dashboard.api.operations import OPERATIONS, Change, Read
from pumonitor.monitor.dashboard.api.problems import Mistake, ProblemError
from pumonitor.monitor.dashboard.api.reading import Reading
from pumonitor.monitor.dashboard.api.values import Asked
from pumonitor.monitor.dashboard.forms import is_from_here
from pumonitor.monitor.dashboard.site import Site
from pumonitor.views.model import View

__all__ = ["api_routes", "is_of_api"]

_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_WORDS: Final = {"extra_forbidden": "is not known here"}


def is_of_api(path: str) -> bool:
    """Whether a path belongs to the API."""
    return path == "/api" or path.startswith("/api/")


def api_routes(site: Site, access: Access, *, signs_in: bool) -> Blueprint:
    """Routes of all operations.

    Parameters
    ----------
    site : Site
    access : Access
    signs_in : bool
        Whether a token or a session is needed.
    """
    api = Blueprint("api", __name__, url_prefix=BELOW)
    requests = _Requests(
        site=site,
        access=access,
        configuration=configuration_sum(site.monitors),
        has_cookies=signs_in,
    )
    for one in OPERATIONS:
        path = _PARAMETER.sub(r"<\1>", one.path)
        if isinstance(one, Read):
            api.get(path, endpoint=one.id)(requests.reader(one))
        elif isinstance(one, Change):
            api.post(path, endpoint=one.id)(requests.changer(one))

    @api.get("/openapi.json", endpoint="getDocument")
    def get_document() -> Response:
        access.caller()
        checked_query(Asked, request.args)
        return jsonify(document(server=request.script_root + BELOW, signs_in=signs_in))

    return api


@dataclass(frozen=True, slots=True, kw_only=True)
class _Requests:
    """Answers requests."""

    site: Site
    access: Access
    configuration: str
    has_cookies: bool

    def changer(self, one: Change) -> Any:
        """The view of a POST."""

        def view(**path: str) -> Response:
            self.access.caller()
            self._check_sender()
            checked_query(Asked, request.args)
            body = checked_body(one.body)
            try:
                answer = one.change(
                    Changing(site=self.site, access=self.access, pages=page_addresses()), path, body
                )
            except InputError as error:
                raise ProblemError(HTTPStatus.CONFLICT, str(error)) from None
            return _json(answer, one.status)

        return view

    def _check_sender(self) -> None:
        """Refuse what a page elsewhere makes a browser send.

        No page can make it send a token. A cookie goes along by itself: whoever has one must say
        where they come from. Programs without either say nothing of it, and browsers always do.
        """
        if request.headers.get("Authorization", "").lower().startswith("bearer "):
            return
        says = "Origin" in request.headers or "Sec-Fetch-Site" in request.headers
        if (self.has_cookies or says) and not is_from_here():
            detail = "a change is only taken from a page of this address, or with a token"
            raise ProblemError(HTTPStatus.FORBIDDEN, detail)

    def reader(self, one: Read) -> Any:
        """The view of a GET."""

        def view(**path: str) -> Response:
            caller = self.access.caller()
            query = checked_query(one.query, request.args)
            now = self.site.clock().replace(second=0, microsecond=0)
            with self.site.at_once() as ledger:
                tag = etag_of(
                    request.script_root + request.path,
                    sorted(request.args.items(multi=True)),
                    ledger.database.name,
                    ledger.writes(),
                    now if one.is_of_now else None,
                    self.configuration,
                    sorted(self.access.visible()),
                    caller.name,
                    caller.is_admin,
                    self.access.may_change(path["monitor"]) if one.shows_rights else None,
                )
                # "*" is no tag of ours: what it asks for may not be there.
                if not request.if_none_match.star_tag and request.if_none_match.contains(tag):
                    return _with_tag(Response(status=HTTPStatus.NOT_MODIFIED), tag)
                reading = Reading(
                    site=self.site,
                    ledger=ledger,
                    access=self.access,
                    now=now,
                    pages=page_addresses(),
                )
                answer = one.read(reading, path, query)
            # What takes long is computed after the snapshot, which others may have to wait for.
            if not isinstance(answer, View):
                answer = answer()
            return _with_tag(_json(answer), tag)

        return view


def _json(answer: View, status: int = HTTPStatus.OK) -> Response:
    return Response(answer.model_dump_json(), status=status, content_type="application/json")


def _with_tag(response: Response, tag: str) -> Response:
    response.set_etag(tag)
    # It may be kept by whoever asked, who asks again each time whether it still holds.
    response.headers["Cache-Control"] = "private, no-cache"
    response.headers["Vary"] = "Authorization, Cookie"
    return response


def checked_query(model: type[Asked], given: MultiDict[str, str]) -> Any:
    """What was asked.

    Raises
    ------
    ProblemError
        If a name is not known, or a value cannot be.
    """
    known = model.model_fields
    unknown = [name for name in given if name not in known]
    if unknown:
        there = f"(there are {', '.join(known)})" if known else "(nothing may be asked here)"
        detail = (
            f"there is no parameter {unknown[0][:80]!r}{did_you_mean(unknown[0], known)} {there}"
        )
        raise ProblemError(HTTPStatus.BAD_REQUEST, detail)
    asked: dict[str, Any] = {}
    for name, values in given.lists():
        is_list = "list[" in str(known[name].annotation)
        if len(values) > 1 and not is_list:
            raise ProblemError(HTTPStatus.BAD_REQUEST, f"{name} must be given once")
        asked[name] = values if is_list else values[0]
    try:
        return model.model_validate(asked)
    except ValidationError as error:
        raise mistakes_in(error) from None


def checked_body(model: type[Asked]) -> Any:
    """What is to be changed.

    Raises
    ------
    ProblemError
        If the body is no JSON, or cannot be.
    """
    # A form of another page could send text; only JSON makes a browser ask before.
    if request.mimetype != "application/json":
        detail = "the body must be JSON: Content-Type: application/json"
        raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail)
    try:
        return model.model_validate_json(request.get_data())
    except ValidationError as error:
        if error.errors(include_url=False, include_context=False)[0]["type"] == "json_invalid":
            raise ProblemError(HTTPStatus.BAD_REQUEST, "the body is no JSON") from None
        raise mistakes_in(error) from None


def mistakes_in(error: ValidationError) -> ProblemError:
    """Every mistake that a model found, without the values that were given."""
    found = tuple(_mistake(one) for one in error.errors(include_url=False, include_context=False))
    first = found[0]
    return ProblemError(
        HTTPStatus.UNPROCESSABLE_ENTITY, f"{first.at}: {first.detail}", errors=found
    )


def _mistake(one: ErrorDetails) -> Mistake:
    at = ".".join(str(part) for part in one["loc"] if not str(part).startswith("function-"))
    detail = _WORDS.get(one["type"], one["msg"].removeprefix("Value error, "))
    return Mistake(at=at or "body", detail=detail)
