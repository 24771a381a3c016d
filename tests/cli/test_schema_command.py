"""`pumonitor schema`: what editors complete a configuration with."""

import json

from typer.testing import CliRunner

from pumonitor.cli.app import app
from pumonitor.monitor.config.configuration import Monitor


def test_the_schema_is_printed_and_names_every_key():
    done = CliRunner().invoke(app, ["schema"])
    assert done.exit_code == 0
    schema = json.loads(done.stdout)
    keys = {"state", "tracking", "destinations", "keep_delivered", "monitors"}
    assert set(schema["properties"]) == keys
    monitor = schema["$defs"]["Monitor"]["properties"]
    assert set(monitor) == set(Monitor.model_fields)
    assert {"from", "for"} <= set(schema["$defs"]["Rule"]["properties"])
