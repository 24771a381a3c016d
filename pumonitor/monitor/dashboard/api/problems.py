"""Errors as ``application/problem+json`` (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from flask import Response
from pydantic import Field
from werkzeug.exceptions import HTTPException

from pumonitor.views.model import View

MEDIA_TYPE: Final = "application/problem+json"


class Mistake(View):
    """One thing that is wrong with a request."""

    at: str = Field(description="Name of the parameter, or of the key of the body.")
    detail: str = Field(description="What it must be.")


class Problem(View):
    """Why a request was not answered (RFC 9457)."""

    type: str = Field(description="`about:blank`: the status says what kind of problem it is.")
    title: str = Field(description="The status in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong, and what to do.")
    errors: list[Mistake] | None = Field(
        default=None, description="Every mistake in the query or body, where there are some."
    )


class ProblemError(Exception):
    """A request that is not answered.

    Parameters
    ----------
    status : int
    detail : str
    errors : sequence of Mistake
    headers : mapping of str to str, optional
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: tuple[Mistake, ...] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors = status, detail, errors
        self.headers = dict(headers or {})


def problem_answer(error: ProblemError) -> Response:
    """The answer that says it."""
    problem = Problem(
        type="about:blank",
        title=HTTPStatus(error.status).phrase,
        status=error.status,
        detail=error.detail,
        errors=list(error.errors) or None,
    )
    return Response(
        problem.model_dump_json(exclude_none=True),
        status=error.status,
        headers=error.headers,
        content_type=MEDIA_TYPE,
    )


def problem_of(error: HTTPException) -> ProblemError:
    """What Flask or a page has refused, with the headers that belong to it."""
    kept: dict[str, Any] = {
        name: value
        for name, value in error.get_headers()
        if name in {"Allow", "Location", "Retry-After"}
    }
    status = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
    if status == HTTPStatus.UNAUTHORIZED:
        kept["WWW-Authenticate"] = "Bearer"
    return ProblemError(status, error.description or "", headers=kept)
