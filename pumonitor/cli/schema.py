"""`pumonitor schema`: print the JSON Schema of the configuration, for editors."""

from __future__ import annotations

import typer

__all__ = ["schema"]


def schema() -> None:
    """Print the JSON Schema of pumonitor.yaml, with which editors complete and check it.

    Example: pumonitor schema > pumonitor.schema.json
    """
    import json

    from pumonitor.monitor.config.file import configuration_schema

    typer.echo(json.dumps(configuration_schema(), indent=2))
