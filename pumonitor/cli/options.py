"""Arguments and options that more than one command takes, each with its one sentence of help."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from pumonitor.cli.addresses import read_variables

DATA, ASSUMPTIONS, OUTPUT = "Data", "Assumptions", "Output"


class ScenarioName(enum.StrEnum):
    """How the rows came to be."""

    SINGLE_TRAINING_SET = "single-training-set"
    CASE_CONTROL = "case-control"


class LabelOriginName(enum.StrEnum):
    """Where confirmed positives come from."""

    QUEUE = "queue"
    COMPLAINTS = "complaints"
    BOTH = "both"
    RANDOM = "random"


class TargetName(enum.StrEnum):
    """What the intervals are for."""

    PROCESS = "process"
    WINDOW = "window"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV or Parquet file, a quoted pattern such as 'scored/*.parquet', or a table of a "
        "lake: delta://PATH, iceberg://CATALOG/NAMESPACE.TABLE.",
        callback=read_variables,
    ),
]

Labels = Annotated[
    str,
    typer.Option(
        metavar="COLUMN",
        help="1 confirmed positive, 0 unconfirmed, -1 confirmed negative.",
        rich_help_panel=DATA,
    ),
]

SampleWeight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="How many rows each row stands for.", rich_help_panel=DATA),
]

Entity = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Whose row it is: card, customer, device. Labels of one entity tell less than as "
        "many of different ones, and intervals are as wide as that makes them.",
        rich_help_panel=DATA,
    ),
]

ClassPrior = Annotated[
    str,
    typer.Option(
        metavar="PRIOR",
        help="Share of positives in the population: 'auto' or a method's name to estimate it "
        "('propensity' weights each confirmed row by its propensity), a number if it is "
        "known, 'LOW,HIGH' or 'VALUE,LOW,HIGH' if it is known roughly, as from an audit. "
        "None of these corrects for confirmations that favour high scores.",
        rich_help_panel=ASSUMPTIONS,
    ),
]

LabelFrequencyText = Annotated[
    str | None,
    typer.Option(
        "--label-frequency",
        metavar="SHARE",
        help="In place of --class-prior: the share of the positives that is confirmed by now, "
        "a number, 'LOW,HIGH' or 'VALUE,LOW,HIGH'.",
        rich_help_panel=ASSUMPTIONS,
    ),
]

LabelOriginOption = Annotated[
    LabelOriginName | None,
    typer.Option(
        "--label-origin",
        help="Where confirmed positives come from. queue: a review of the highest scores; "
        "complaints: by themselves, as chargebacks and reports; both; random: cases drawn by "
        "chance. Those of a queue are refused unless --verdicts or --propensity tell how it chose.",
        rich_help_panel=ASSUMPTIONS,
    ),
]

Scenario = Annotated[
    ScenarioName,
    typer.Option(
        help="single-training-set: confirmed and unconfirmed rows together are the population; "
        "case-control: the unconfirmed rows alone are the population.",
        rich_help_panel=ASSUMPTIONS,
    ),
]

LabelPurityText = Annotated[
    str,
    typer.Option(
        "--label-purity",
        metavar="SHARE",
        help="Share of the confirmed positives that really are positive; below 1 if some "
        "confirmations are mistaken; 'auto' estimates it where the scores show that.",
        rich_help_panel=ASSUMPTIONS,
    ),
]

Propensity = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN|NUMBER",
        help="Column with the probability that a positive such as this row gets confirmed, if it "
        "differs between rows; for example the logged probability of being sent to review. It "
        "is read on confirmed rows only.",
        rich_help_panel=ASSUMPTIONS,
    ),
]

DetectionRate = Annotated[
    float,
    typer.Option(
        help="Share of the reviewed positives that the review finds; --propensity is multiplied by "
        "it.",
        rich_help_panel=ASSUMPTIONS,
    ),
]

MinPropensity = Annotated[
    float,
    typer.Option(
        help="Raise smaller propensities to this value, so that no row counts for more than 1 / "
        "value positives; 0 changes none.",
        rich_help_panel=ASSUMPTIONS,
    ),
]

Target = Annotated[
    TargetName,
    typer.Option(
        help="Intervals for the process these rows came from, or for these rows alone.",
        rich_help_panel=ASSUMPTIONS,
    ),
]

ConfidenceLevel = Annotated[
    float, typer.Option(help="Nominal coverage of intervals.", rich_help_panel=OUTPUT)
]

Seed = Annotated[
    int, typer.Option(help="Seed of the random draws behind intervals.", rich_help_panel=OUTPUT)
]
