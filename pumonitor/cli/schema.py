"""`pumonitor schema`: print the JSON Schema of the configuration, for editors."""

from __future__ import annotations

from typing import Annotated

import typer


def schema(
    *,
    api: Annotated[
        bool, typer.Option("--api", help="Print the OpenAPI document of the JSON API instead.")
    ] = False,
) -> None:
    """Print the JSON Schema of pumonitor.yaml, with which editors complete and check it.

    Example: pumonitor schema > pumonitor.schema.json
    """
    import json

    if api:
        from pumonitor.monitor.dashboard.api.openapi import document

        typer.echo(json.dumps(document(), indent=2))
        return
    from pumonitor.monitor.config.file import configuration_schema

    typer.echo(json.dumps(configuration_schema(), indent=2))
