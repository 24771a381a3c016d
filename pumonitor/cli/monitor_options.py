"""Options that the commands of a monitor share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from pumonitor.cli.options import OUTPUT

DEFAULT_CONFIG: Final = Path("pumonitor.yaml")

Config = Annotated[Path, typer.Option(metavar="YAML", help="The configuration file.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON, nothing else.", rich_help_panel=OUTPUT)
]
MonitorName = Annotated[
    str, typer.Argument(metavar="MONITOR", help="Name of the monitor in the configuration.")
]
SomeMonitor = Annotated[
    str | None,
    typer.Argument(
        metavar="[MONITOR]",
        help="Name of the monitor in the configuration; without it, all monitors.",
    ),
]
