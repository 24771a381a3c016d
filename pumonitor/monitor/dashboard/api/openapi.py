"""The OpenAPI 3.1 document, made from the models that check requests and make answers."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from pumonitor import __version__
from pumonitor.monitor.dashboard.api.operations import OPERATIONS, Change, Operation, Read
from pumonitor.monitor.dashboard.api.problems import MEDIA_TYPE, Problem

__all__ = ["BELOW", "document"]

BELOW: Final = "/api/v1"
"""Where the API stands, below the pages."""

_REFERENCE: Final = "#/components/schemas/{model}"
_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_PATH: Final = {
    "monitor": ("Name of a monitor.", {"type": "string", "minLength": 1}),
    "start": ("Start of a window.", {"type": "string", "format": "date-time"}),
    "number": (
        "Number of a silence or note.",
        {"type": "integer", "minimum": 1, "maximum": 2_000_000_000},
    ),
}
_READ_PROBLEMS: Final = (400, 401, 404, 405, 421, 422, 429, 503)
_CHANGE_PROBLEMS: Final = (400, 401, 403, 404, 405, 409, 413, 415, 421, 422, 429, 503)


def document(*, server: str = BELOW, signs_in: bool = True) -> dict[str, Any]:
    """The document.

    Parameters
    ----------
    server : str
        Path of the API.
    signs_in : bool
        Whether a token is needed.
    """
    models: list[tuple[type[BaseModel], Any]] = [(Problem, "serialization")]
    for one in OPERATIONS:
        models.append((one.answer, "serialization"))
        if isinstance(one, Change):
            models.append((one.body, "validation"))
    names, schemas = models_json_schema(list(dict.fromkeys(models)), ref_template=_REFERENCE)
    paths: dict[str, dict[str, Any]] = {}
    for one in OPERATIONS:
        method = "get" if isinstance(one, Read) else "post"
        paths.setdefault(one.path, {})[method] = _operation(one, names, signs_in=signs_in)
    paths["/openapi.json"] = {"get": _of_the_document(signs_in=signs_in)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pumonitor",
            "version": __version__,
            "summary": "All that the pages show and do.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server}],
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _security(*, signs_in: bool) -> list[dict[str, list[str]]]:
    return [{"token": []}] if signs_in else [{}, {"token": []}]


def _of_the_document(*, signs_in: bool) -> dict[str, Any]:
    return {
        "operationId": "getDocument",
        "summary": "This document",
        "security": _security(signs_in=signs_in),
        "responses": {
            "200": {
                "description": "OK",
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
            **_problems((400, 401, 405, 421, 429)),
        },
    }


def _operation(one: Operation, names: Any, *, signs_in: bool) -> dict[str, Any]:
    status = str(one.status if isinstance(one, Change) else 200)
    answer: dict[str, Any] = {
        "description": (one.answer.__doc__ or one.summary).strip().splitlines()[0],
        "content": {"application/json": {"schema": names[one.answer, "serialization"]}},
    }
    if one.links:
        answer["links"] = {
            name: {"operationId": link.to, "parameters": dict(link.parameters)}
            for name, link in one.links.items()
        }
    found: dict[str, Any] = {
        "operationId": one.id,
        "summary": one.summary,
        "security": _security(signs_in=signs_in),
        "parameters": [_path_parameter(name) for name in _PARAMETER.findall(one.path)],
        "responses": {status: answer},
    }
    if isinstance(one, Read):
        found["parameters"] += query_parameters(one.query)
        answer["headers"] = {
            "ETag": {
                "description": "Changes when the answer does.",
                "schema": {"type": "string"},
            }
        }
        found["responses"]["304"] = {"description": "It is the answer of that If-None-Match."}
        found["responses"] |= _problems(_READ_PROBLEMS)
        if one.is_computed:
            found["responses"] |= _problems((403, 409))
    elif isinstance(one, Change):
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": names[one.body, "validation"]}},
        }
        found["responses"] |= _problems(_CHANGE_PROBLEMS)
    return found


def _path_parameter(name: str) -> dict[str, Any]:
    said, schema = _PATH[name]
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": said,
        "schema": schema,
    }


def query_parameters(query: type[BaseModel]) -> list[dict[str, Any]]:
    """Parameters of a query, as its model has them."""
    found = []
    for name, schema in query.model_json_schema().get("properties", {}).items():
        plain = _without_null(schema)
        said = plain.pop("description", "")
        found.append({"name": name, "in": "query", "description": said, "schema": plain})
    return found


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """What can stand in a query: a value or nothing, no null."""
    found = {key: value for key, value in schema.items() if key not in {"anyOf", "title"}}
    for one in schema.get("anyOf", ()):
        if one.get("type") != "null":
            found = {**one, **found}
    if found.get("default", "") is None:
        del found["default"]
    return found


def _problems(statuses: tuple[int, ...]) -> dict[str, Any]:
    schema = {"$ref": _REFERENCE.format(model=Problem.__name__)}
    return {
        str(status): {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": schema}},
        }
        for status in statuses
    }
