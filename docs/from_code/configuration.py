"""The page of configuration keys, from the JSON Schema that `pumonitor schema` prints."""

from __future__ import annotations

import json
import re
from typing import Any

from typer.testing import CliRunner

from docs.from_code.markdown import table
from pumonitor.cli.app import app
from pumonitor.monitor.config.sections.destinations import KINDS as KINDS_OF_DESTINATIONS
from pumonitor.monitor.config.sections.rules import KINDS, MetricRule

__all__ = ["page", "schema"]

_HEAD = """# Configuration

Every key of `pumonitor.yaml`, made from the schema that `pumonitor schema` prints; editors use that schema
to complete and check the file. `${NAME}` anywhere in a value reads the environment variable `NAME`, or the
file that `NAME_FILE` names; `$${` is a plain `${`. Passwords and tokens are refused when they are written
out. Paths are relative to the folder of the file.

"""
_PLACES = {
    "": ("The file", ""),
    "Tracking": ("tracking", "MLflow, as `tracking: {uri: ..., ui: ...}`."),
    "Pages": (
        "pages",
        "Where people open the pages, as `pages: {address: ...}`. More on [pages](../pages.md#links-to-pages).",
    ),
    "Destination": (
        "destinations",
        f"Who is notified: a name, and one of {', '.join(f'`{kind}`' for kind in KINDS_OF_DESTINATIONS)}. "
        "More on [alerts](../alerts.md#destinations).",
    ),
    "Monitor": ("monitors", "A monitor under its name. More on [monitoring](../monitor.md)."),
    "Predictions": ("predictions", ""),
    "Positives": ("positives", ""),
    "Source": (
        "source",
        "A path, pattern or address as text, or a mapping. More on "
        "[object stores](../object-stores.md).",
    ),
    "GivenPrior": ("class_prior", "More on [the class prior](../class-prior.md#of-a-monitor)."),
    "Reference": ("reference", ""),
    "Audits": ("audits", "More on [audits](../audits.md#in-a-monitor)."),
    "Verdicts": ("verdicts", "Of [audits](#audits)."),
    "Rule": (
        "rules",
        "A list of rules. What a rule looks at makes its kind, and a kind takes only its own keys. Each "
        "has an example on [alerts](../alerts.md).",
    ),
}
_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")


def schema() -> dict[str, Any]:
    """What the command prints."""
    printed = CliRunner().invoke(app, ["schema"])
    found: dict[str, Any] = json.loads(printed.stdout)
    return found


def page() -> str:
    """Markdown."""
    whole = schema()
    definitions = {"": whole, **whole["$defs"]}
    rules = rule_kinds(whole)
    order = [*_PLACES, *(name for name in definitions if name not in {*_PLACES, *rules})]
    parts = [_HEAD]
    for name in order:
        if name in definitions:
            parts += _section(name, definitions[name], definitions)
        elif name == "GivenPrior":
            given = definitions["Monitor"]["properties"]["class_prior"]
            parts += _forms(name, given)
        elif name == "Rule":
            parts += _rules(rules)
    return "\n".join(parts)


def rule_kinds(whole: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schema of each kind of rule, by its name."""
    kinds = whole["$defs"]["Monitor"]["properties"]["rules"]["items"]["oneOf"]
    names = [one["$ref"].rpartition("/")[2] for one in kinds]
    return {name: whole["$defs"][name] for name in names}


def _rules(kinds: dict[str, dict[str, Any]]) -> list[str]:
    """One table of all keys: with the rules that take them, where not all do."""
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    models = {one.__name__: one for one in KINDS.values() if issubclass(one, MetricRule)}
    for name, kind in kinds.items():
        called = "".join(
            f"`{key}: {kind['properties'][key]['const']}`"
            for key in ("health", "audit")
            if key in kind["properties"]
        ) or ", ".join(f"`{key}`" for key in models[name].made_by)
        for key, described in kind["properties"].items():
            is_needed = key in kind.get("required", ())
            default = "required" if is_needed else _default(described.get("default"))
            row = (f"`{key}`", described.get("description", ""), _takes(described), default)
            rows.setdefault(row, []).append(called)
    every = len(kinds)
    listed = [(*row, "all" if len(own) == every else ", ".join(own)) for row, own in rows.items()]
    title, text = _PLACES["Rule"]
    listed.sort(key=lambda row: row[0] not in {"`metric`", "`health`", "`audit`"})
    head = ("key", "meaning", "takes", "without it", "rules")
    return [f"## {title}", "", text, "", table(head, listed), ""]


def _section(name: str, found: dict[str, Any], definitions: dict[str, Any]) -> list[str]:
    title, text = _PLACES.get(name, (name.lower(), ""))
    mapping = next((one for one in found.get("anyOf", ()) if "properties" in one), found)
    summary = "" if name == "" else mapping.get("description", "")
    rows = []
    required = mapping.get("required", ())
    for key, described in mapping["properties"].items():
        default = _default(described.get("default")) if key not in required else "required"
        takes = _takes(described)
        if key == "class_prior":
            takes = "`auto`, a method, a number, a list or [a mapping](#class_prior)"
        rows.append((f"`{key}`", described.get("description", ""), takes, default))
    head = ("key", "meaning", "takes", "without it")
    return [f"## {title}", "", summary, "", text, "", table(head, rows), ""]


def _forms(name: str, given: dict[str, Any]) -> list[str]:
    title, text = _PLACES[name]
    rows = []
    for form in given["anyOf"]:
        for key, described in form.get("properties", {}).items():
            rows.append((f"`{key}`", described.get("description", ""), form["description"]))
    for key, described in _of(given).items():
        rows.append((f"`of.{key}`", described["description"], "The period"))
    head = ("key", "meaning", "form")
    return [f"## {title}", "", given["description"] + ".", "", text, "", table(head, rows), ""]


def _of(given: dict[str, Any]) -> dict[str, Any]:
    forms = (one.get("properties", {}).get("of") for one in given["anyOf"])
    found: dict[str, Any] = next(one for one in forms if one)["properties"]
    return found


def _takes(described: dict[str, Any]) -> str:
    """Which values a key takes, in a few words."""
    if "$ref" in described:
        name = described["$ref"].rpartition("/")[2]
        return f"[{_PLACES.get(name, (name.lower(), ''))[0]}](#{_anchor(name)})"
    if "oneOf" in described:
        return "[rules](#rules)"
    if "anyOf" in described:
        parts = [_takes(one) for one in described["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(part for part in parts if part))
    if "enum" in described:
        values = described["enum"]
        if len(values) > 12:
            return "a [name of a metric](metrics.md)"
        return ", ".join(f"`{one}`" for one in values)
    if "const" in described:
        return f"`{described['const']}`"
    return _kind(described)


def _kind(described: dict[str, Any]) -> str:
    kind = described.get("type")
    if kind == "array":
        return f"list of {_takes(described.get('items', {})) or 'values'}"
    if kind == "object":
        inner = described.get("additionalProperties")
        if isinstance(inner, dict):
            return f"names, each with {_takes(inner)}" if "$ref" in inner else "mapping of text"
        return "mapping"
    examples = ", ".join(f"`{one}`" for one in described.get("examples", ()))
    words = {
        "string": "text",
        "number": "number",
        "integer": "whole number",
        "boolean": "true or false",
    }
    said = words.get(str(kind), "")
    if described.get("format") == "password":
        return "text; a password or secret in it as `${NAME}`"
    if described.get("format") == "date":
        return "date or time"
    return f"{said} such as {examples}" if examples else said


def _anchor(name: str) -> str:
    return _PLACES.get(name, (name.lower(), ""))[0].casefold().replace(" ", "-")


def _default(value: Any) -> str:
    if value is None or value in ([], {}):
        return ""
    if value == "*" * len(str(value)):
        return ""  # An address: it may hold a password, and its description has it.
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str) and (found := _ISO.fullmatch(value)) and any(found.groups()):
        parts = zip(found.groups(), "dhms", strict=True)
        return f"`{''.join(f'{number}{unit}' for number, unit in parts if number)}`"
    return f"`{value}`"
