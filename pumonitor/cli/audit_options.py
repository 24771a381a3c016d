"""Options of `pumonitor audit`, of files and of monitors."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pumonitor.cli.addresses import read_variables
from pumonitor.cli.options import DATA, OUTPUT

AUDIT = "Audit"
MONITOR = "Of a monitor"


class Fair(StrEnum):
    """Whether confirmations are checked or taken for a fair sample."""

    check = "check"
    assume = "assume"


SomeFile = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE]",
        help="CSV or Parquet file, or a quoted pattern such as 'scored/*.parquet'; without it, "
        "--monitor.",
        callback=read_variables,
    ),
]
SomeLabels = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="1 confirmed positive, 0 unconfirmed, -1 confirmed negative.",
        rich_help_panel=DATA,
    ),
]
SomeScores = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Score, higher = more positive.", rich_help_panel=DATA),
]
SomeThreshold = Annotated[
    float | None,
    typer.Option(
        help="Score at or above it is predicted positive; 0.5 without it.", rich_help_panel=DATA
    ),
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Id of each row.", rich_help_panel=DATA),
]
OfMonitor = Annotated[
    str | None,
    typer.Option(
        "--monitor",
        metavar="MONITOR",
        help="Name of the monitor in the configuration, in place of a file.",
        rich_help_panel=MONITOR,
    ),
]
Windows = Annotated[
    str | None,
    typer.Option(
        metavar="PERIOD",
        help="Windows that start in it: 2026-03, 2026-03-01, or 2026-01-01..2026-02-01, whose end "
        "is not part of it. Those that are not mature yet are named and left out.",
        rich_help_panel=MONITOR,
    ),
]
ModelVersion = Annotated[
    str | None,
    typer.Option(
        metavar="VERSION",
        help="Of which rows of this model version are drawn, if there are several.",
        rich_help_panel=MONITOR,
    ),
]
Cases = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="How many cases to review; without it and --width 300, or as the monitor's audits "
        "say.",
        rich_help_panel=AUDIT,
    ),
]
Width = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC=WIDTH",
        help="In place of --cases: how wide the 95% interval of a metric may be, as in f1=.15; "
        "may be repeated.",
        rich_help_panel=AUDIT,
    ),
]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC",
        help="For which metrics to spread the cases: f1 or those of --width; may be repeated.",
        rich_help_panel=AUDIT,
    ),
]
Above = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Share of the cases at or above the threshold, such as 85%, where a team reviews "
        "these anyway; the rest lies below. The plan tells what it costs.",
        rich_help_panel=AUDIT,
    ),
]
FairOption = Annotated[
    Fair,
    typer.Option(
        help="check: allow for confirmations that follow the score. assume: take them for a fair "
        "sample, which makes recall and AUC surer, and wrong where they are not.",
        rich_help_panel=AUDIT,
    ),
]
KnownLabelFrequency = Annotated[
    str | None,
    typer.Option(
        "--label-frequency",
        metavar="LOW,HIGH",
        help="What is known besides of the share of the positives that is confirmed by now.",
        rich_help_panel=AUDIT,
    ),
]
Design = Annotated[
    Path | None,
    typer.Option(
        metavar="JSON",
        help="The design, which reviewers must not see; without it, beside the cases with the "
        "ending .audit.json.",
        rich_help_panel=AUDIT,
    ),
]
Verdicts = Annotated[
    Path | None,
    typer.Option(
        metavar="CSV",
        help="The file of cases with its column verdict filled in.",
        rich_help_panel=AUDIT,
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON, nothing else.", rich_help_panel=OUTPUT)
]


def needed(**given: str | None) -> tuple[str, ...]:
    """Options that a file needs; the first that is missing is refused."""
    for name, value in given.items():
        if value is None:
            what = "FILE, or --monitor" if name == "file" else f"--{name}"
            msg = f"Missing {what}."
            raise typer.BadParameter(msg)
    return tuple(one for one in given.values() if one is not None)


def not_with_monitor(**given: object) -> None:
    """Refuse what is for files only."""
    for name, value in given.items():
        if value:
            what = "FILE" if name == "file" else f"--{name.replace('_', '-')}"
            msg = f"{what} and --monitor exclude each other: the configuration of the monitor says"
            raise typer.BadParameter(f"{msg} where its rows are and what is shown of them")


def widths_of(given: list[str] | None) -> dict[str, float] | None:
    """Read --width: METRIC=WIDTH."""
    if not given:
        return None
    widths = {}
    for one in given:
        name, _, width = one.partition("=")
        try:
            widths[name.strip()] = float(width)
        except ValueError:
            msg = f"'{one}' must be METRIC=WIDTH, as in f1=.15"
            raise typer.BadParameter(msg, param_hint="--width") from None
    return widths


def share_of(above: str | None) -> float | None:
    """Read --above: 85% or .85."""
    if above is None:
        return None
    written = above.strip()
    try:
        share = float(written.removesuffix("%")) / (100 if written.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 < share < 1:
        msg = f"'{above}' must be a share of the cases between 0 and 1, such as 85% or .85"
        raise typer.BadParameter(msg, param_hint="--above")
    return share
