"""The page of the JSON API: its operations, from the document that it serves itself."""

from __future__ import annotations

from typing import Any

from docs.from_code.markdown import table
from pumonitor.monitor.dashboard.api.openapi import BELOW, document

__all__ = ["page"]

_HEAD = f"""# JSON API

Made from the code. All that the [pages](../pages.md) show and do, for programs, at `{BELOW}` of the same address: alone, or
below `/pumonitor` inside MLflow's server. `pumonitor schema --api` prints the OpenAPI 3.1 document, and the API
serves it as `{BELOW}/openapi.json`.

```sh
curl -H "Authorization: Bearer $TOKEN" "https://pumonitor.example.org{BELOW}/results?metric=f1&state=mature"
```

## Who may ask

Alone, at an address of this machine and without `--host-names`, whoever asks may read and change everything. With
`--host-names`, a token is needed, which `pumonitor tokens create NAME` prints once:
[rights and sessions](../pages.md#for-other-machines). Inside MLflow's server its accounts decide, and no token is needed.
Monitors that may not be seen do not exist, in lists too. Who sends more than twenty wrong tokens in
a minute (a hundred cookies of sessions that there are not) is answered 429. After so many different ones only tokens that
were right before are looked up.

A change with `Authorization: Bearer` needs nothing else. With the cookie of a session it must come from a page of the same
address: `Origin` and `Sec-Fetch-Site` say so. Bodies are `application/json`.

## Numbers, lists and changes

- Names and values are those of `--json` of the commands, of CSV, and of an event in the body of a webhook; numbers are those of
  the pages and of `/metrics`. A number that is undefined is null, with the reason beside it. Times are ISO 8601 in UTC; times in a
  query bear their offset.
- Every list has a `limit`. `next` of an answer is the `cursor` of the next stretch; windows that are added meanwhile move
  nothing from one stretch to another. A stretch of results may be shorter than its limit although there is a `next`.
- Every read has a strong `ETag`. With `If-None-Match` it is answered 304 while nothing is stored that could change it;
  answers that depend on the time hold for a minute.
- An answer is made at one moment of the state database.
- A change that can be read and cannot be made as things are is answered 409, with the reason in `detail`: no firing alert
  matches, all that match are acknowledged already, `until` has passed. Read the present state, and ask again if it is still needed.
- A parameter that is not known is refused (400), with those that are. Errors are `application/problem+json` (RFC 9457):
  `type`, `title`, `status`, `detail`, and `errors` for each mistake in a query or body.

## Operations

"""


def page() -> str:
    """Markdown."""
    described = document()
    paths, schemas = described["paths"], described["components"]["schemas"]
    operations = [
        (path, method, one) for path, methods in paths.items() for method, one in methods.items()
    ]
    rows = [
        (f"`{method.upper()} {path}`", one["summary"], _names(one, schemas))
        for path, method, one in operations
    ]
    parts = [_HEAD, table(("operation", "what it does", "query, or keys of the body"), rows)]
    parts += ["\n## Parameters\n", table(("name", "meaning", "values"), _parameters(operations))]
    parts.append(
        "\n## Answers\n\nJSON of commands, columns of CSV and webhooks have the same fields.\n"
    )
    for name, schema in sorted(schemas.items()):
        if "Body" not in name and schema.get("properties"):
            parts += [f"### {name}\n", f"{schema.get('description', '')}\n", _fields(schema)]
    return "\n".join(parts)


def _fields(schema: dict[str, Any]) -> str:
    fields = schema["properties"].items()
    return table(
        ("field", "meaning"),
        ((f"`{name}`", field.get("description", "")) for name, field in fields),
    )


def _names(one: dict[str, Any], schemas: dict[str, Any]) -> str:
    query = [part["name"] for part in one.get("parameters", ()) if part["in"] == "query"]
    return ", ".join(f"`{name}`" for name in [*query, *_keys(one, schemas)])


def _keys(one: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    body = one.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return list(schemas.get(name, {}).get("properties", ()))


def _parameters(operations: list[tuple[str, str, dict[str, Any]]]) -> list[tuple[str, str, str]]:
    found = {}
    for _, _, one in operations:
        for part in one.get("parameters", ()):
            schema = part["schema"]
            values = schema.get("enum") or schema.get("items", {}).get("enum") or ()
            limits = [str(schema[name]) for name in ("minimum", "maximum") if name in schema]
            said = ", ".join(f"`{value}`" for value in values) or " to ".join(limits)
            found.setdefault(part["name"], (f"`{part['name']}`", part["description"], said))
    return list(found.values())
