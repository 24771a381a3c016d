"""Whether a dashboard has only keys that Grafana's typed SDK knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.cog.runtime import panelcfg_config
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models import dashboard as model

__all__ = ["unknown_keys"]

register_default_plugins()


def unknown_keys(written: dict[str, Any]) -> list[str]:
    """Places of keys that the SDK's classes do not have, and of values that they read otherwise.

    The SDK reads a dashboard with keys that it does not know and leaves them out: what it writes
    again then differs.
    """
    found = list(_differences(written, _again(model.Dashboard, written), ""))
    for number, panel in enumerate(written.get("panels", [])):
        place = f"panels[{number}]"
        for at, query in enumerate(panel.get("targets") or []):
            again = _again(model.DataSourceRef, query["datasource"])
            found += _differences(query["datasource"], again, f"{place}.targets[{at}].datasource")
        for at, link in enumerate(panel.get("links") or []):
            again = _again(model.DashboardLink, link)
            found += _differences(link, again, f"{place}.links[{at}]")
        for at, step in enumerate(panel.get("transformations") or []):
            again = _again(model.DataTransformerConfig, step)
            found += _differences(step, again, f"{place}.transformations[{at}]")
        found += _of_fields(panel, place)
    return list(dict.fromkeys(found))


def _of_fields(panel: dict[str, Any], place: str) -> Iterator[str]:
    """Unknown keys of links of fields, and overrides of properties that fields do not have."""
    fields = panel.get("fieldConfig") or {}
    for at, link in enumerate(fields.get("defaults", {}).get("links") or []):
        again = _again(model.DashboardLink, link)
        yield from _differences(link, again, f"{place}.fieldConfig.defaults.links[{at}]")
    for at, override in enumerate(fields.get("overrides") or []):
        where = f"{place}.fieldConfig.overrides[{at}]"
        yield from _differences(
            override, _again(model.DashboardFieldConfigSourceOverrides, override), where
        )
        for one in override.get("properties", []):
            yield from _of_property(panel["type"], one, where)


def _of_property(panel: str, override: dict[str, Any], place: str) -> Iterator[str]:
    """What a field of such a panel does not have."""
    first, _, own = str(override.get("id")).rpartition(".")
    config = panelcfg_config(panel)
    read = None if config is None else config.field_config_from_json_hook
    if panel == "table":
        read = common.TableFieldOptions.from_json  # which the SDK does not register
    if first != "custom":
        read = model.FieldConfig.from_json
    given = {own: override.get("value")}
    again = {} if read is None else _written(read(given))
    yield from _differences(given, again, f"{place}.{first}")


def _again(kind: Any, written: dict[str, Any]) -> Any:
    return _written(kind.from_json(written))


def _written(of: Any) -> Any:
    return json.loads(json.dumps(of, cls=JSONEncoder))


def _differences(given: Any, again: Any, place: str) -> Iterator[str]:
    """Places at which what was given is not in what was written again."""
    if isinstance(given, dict) and isinstance(again, dict):
        for name, value in given.items():
            where = f"{place}.{name}".lstrip(".")
            if name not in again:
                yield where
            else:
                yield from _differences(value, again[name], where)
    elif isinstance(given, list) and isinstance(again, list) and len(given) == len(again):
        for at, (one, other) in enumerate(zip(given, again, strict=True)):
            yield from _differences(one, other, f"{place}[{at}]")
    elif given != again:
        yield place
