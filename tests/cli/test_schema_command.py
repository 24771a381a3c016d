"""`pumonitor schema`: what editors complete a configuration with."""

import json

from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.rules import KINDS


def test_the_schema_is_printed_and_names_every_key():
    done = CliRunner().invoke(app, ["schema"])
    assert done.exit_code == 0
    schema = json.loads(done.stdout)
    keys = {
        "state",
        "tracking",
        "destinations",
        "keep_delivered",
        "keep_evaluations",
        "at_once",
        "monitors",
        "pages",
    }
    assert set(schema["properties"]) == keys
    monitor = schema["$defs"]["Monitor"]["properties"]
    assert set(monitor) == set(Monitor.model_fields)
    assert {"from", "for"} <= set(schema["$defs"]["ChangeRule"]["properties"])


def test_the_schema_tells_the_kinds_of_rules_apart_by_their_keys():
    schema = json.loads(CliRunner().invoke(app, ["schema"]).stdout)
    kinds = schema["$defs"]["Monitor"]["properties"]["rules"]["items"]["oneOf"]
    keys = {name: set(schema["$defs"][name]["properties"]) for name in named(kinds)}
    assert set(keys) == {model.__name__ for model in KINDS.values()}
    assert len(keys) >= 10
    assert keys["Stale"] == {"health", "after", "severity", "to", "repeat", "runbook", "name"}
    assert {name for name, own in keys.items() if "detector" in own} == {"ShiftRule"}
    assert {name for name, own in keys.items() if "from" in own} == {"ChangeRule"}
    assert {name for name, own in keys.items() if "warning" in own} == {"LimitRule", "ChangeRule"}
    assert all(schema["$defs"][name]["additionalProperties"] is False for name in keys)


def named(kinds):
    return [one["$ref"].rpartition("/")[2] for one in kinds]
