"""Every key of pumonitor.yaml says in its JSON Schema what it means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from typer.testing import CliRunner

from pumonitor.cli.app import app


def _keys(schema: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Each key of each mapping in a schema, with what is said of it."""
    if isinstance(schema, list):
        for one in schema:
            yield from _keys(one, place)
        return
    if not isinstance(schema, dict):
        return
    for key, described in schema.get("properties", {}).items():
        yield f"{place}.{key}", described
        yield from _keys(described, f"{place}.{key}")
    for part in ("anyOf", "oneOf", "items", "additionalProperties"):
        yield from _keys(schema.get(part), place)
    for name, definition in schema.get("$defs", {}).items():
        yield from _keys(definition, name)


def test_every_key_says_what_it_means() -> None:
    printed = CliRunner().invoke(app, ["schema"])
    found = dict(_keys(json.loads(printed.stdout)))
    assert {
        "LimitRule.false_discovery_rate",
        "Stale.after",
        "Monitor.class_prior.of.start",
        ".state",
    } <= set(found)
    silent = [place for place, key in found.items() if len(key.get("description", "")) < 10]
    assert silent == []
