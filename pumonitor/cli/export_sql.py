"""`pumonitor export sql`: the counts of a monitor's windows as plain SQL, or as a dbt model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config, MonitorName
from pumonitor.cli.outcome import errors_as_messages
from pumonitor.text import moment_text

if TYPE_CHECKING:
    from pumonitor.sources.column_types.column_kinds import Kind
    from pumonitor.sources.column_types.dialects import Dialect

_MODEL = "{{ config(materialized='incremental', incremental_strategy='append') }}\n"


def export_sql(
    monitor: MonitorName,
    *,
    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Whose SQL to write: snowflake, bigquery, redshift, trino, databricks, spark, "
            "postgresql, duckdb or sqlite.",
        ),
    ],
    predictions: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="Table or view of predictions, with its schema; by default the one that the "
            "configuration names.",
        ),
    ] = None,
    positives: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="The same of what was confirmed."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Count the windows of which a moment came after this, such as 2026-01-31T06:00Z; "
            "by default since one window ago.",
        ),
    ] = None,
    now: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Count them as they are known now, or at this time."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=KIND",
            help="What a column holds, where it is not what is usual: integer, number, single, "
            "text, boolean, moment (a time with its zone), naive (without) or date. May be given "
            "several times.",
        ),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="Table of counts that the statements make, if it is not there, and add to.",
        ),
    ] = None,
    dbt: Annotated[
        bool, typer.Option("--dbt", help="Write a model of dbt that adds to its own table.")
    ] = False,
    config: Config = DEFAULT_CONFIG,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write; without it the SQL is printed."),
    ] = None,
) -> None:
    """Write SQL that counts a monitor's windows where the rows are, for a table of counts.

    Nothing is connected to and no row is read: run the SQL with your own tools, ahead of the round
    that needs it. It gives a small table of counts, which source: counts://... reads. Without
    --into and --dbt it is one SELECT.

    Example: pumonitor export sql card-fraud --engine snowflake --into risk.card_fraud_counts
    """
    with errors_as_messages():
        from pumonitor.errors import InputError
        from pumonitor.sources.counted.statement import table_definition

        if dbt and into is not None:
            msg = "--dbt and --into exclude each other: a model of dbt has a table of its own"
            raise InputError(msg)
        dialect = _dialect(engine)
        selects, segments = _selects(
            monitor,
            dialect,
            config=config,
            tables=(predictions, positives),
            period=(since, now),
            kinds=dict(map(_kind, kind or [])),
        )
        if into is not None:
            path = ".".join(map(dialect.named, into.split(".")))
            made = table_definition(into, segments=segments, dialect=dialect)
            added = [f"INSERT INTO {path} {one}" for one in selects]
            text = ";\n\n".join([made, *added]) + ";\n"
        else:
            text = _together(selects)
            text = f"{_MODEL}{{% raw %}}\n{text}{{% endraw %}}\n" if dbt else text
        if output is None:
            typer.echo(text, nl=False)
        else:
            output.write_text(text, encoding="utf-8")
            typer.echo(f"{output} written: {len(selects)} windows", err=True)


def _selects(
    name: str,
    dialect: Dialect,
    *,
    config: Path,
    tables: tuple[str | None, str | None],
    period: tuple[str | None, str | None],
    kinds: dict[str, Kind],
) -> tuple[list[str], int]:
    """A statement for each window, and how many segments there are."""
    from datetime import UTC, datetime

    from pumonitor.cli.moments import moment
    from pumonitor.errors import InputError
    from pumonitor.monitor.app import chosen_monitors
    from pumonitor.monitor.config.file import read_configuration
    from pumonitor.monitor.windows.collect import request_at
    from pumonitor.monitor.windows.opening import columns_of, refuse_reviews, windows_since
    from pumonitor.sources.counted.statement import DeclaredTables, counting_statement

    configuration = read_configuration(config, needs="ledger").configuration
    (chosen,) = chosen_monitors(configuration, name).values()
    refuse_reviews(chosen)
    until = datetime.now(UTC) if period[1] is None else moment(period[1], option="--now")
    after = None if period[0] is None else moment(period[0], option="--since")
    windows = windows_since(chosen, after, until)
    if not windows:
        msg = (
            f"no window of {name} had a moment between --since and {moment_text(until)}: there is "
            "nothing to count"
        )
        raise InputError(msg)
    made, known = columns_of(chosen)
    places = [
        given or source.table
        for given, source in zip(
            tables, (chosen.predictions.source, chosen.positives.source), strict=True
        )
    ]
    if places[0] is None or places[1] is None:
        option = "--predictions" if places[0] is None else "--positives"
        msg = f"the configuration names no table there: say which one is counted, {option} TABLE"
        raise InputError(msg)
    declared = DeclaredTables(
        predictions=places[0],
        prediction_columns=made,
        positives=places[1],
        label_columns=known,
        kinds=kinds,
    )
    statements = [
        counting_statement(
            declared,
            request_at(chosen, window, until),
            dialect=dialect,
            score_scale=chosen.score_scale,
            counted_at=until,
        )
        for window in windows
    ]
    return statements, len(made.segments)


def _together(selects: list[str]) -> str:
    if len(selects) == 1:
        return f"{selects[0]}\n"
    parts = (
        f"SELECT * FROM (\n{one}\n) AS window_{place}"  # noqa: S608 (made by us)
        for place, one in enumerate(selects)
    )
    return "\nUNION ALL\n".join(parts) + "\n"


def _dialect(name: str) -> Dialect:
    from pumonitor.errors import InputError, did_you_mean
    from pumonitor.sources.column_types import dialects
    from pumonitor.sources.column_types.spark_dialect import Spark
    from pumonitor.sources.column_types.warehouses import WAREHOUSES

    known: dict[str, type[Dialect]] = {
        **WAREHOUSES,
        "spark": Spark,
        "postgresql": dialects.PostgreSQL,
        "duckdb": dialects.DuckDB,
        "sqlite": dialects.SQLite,
    }
    if name not in known:
        msg = f"--engine must be one of {', '.join(known)}, got {name}{did_you_mean(name, known)}"
        raise InputError(msg)
    return known[name]()


def _kind(given: str) -> tuple[str, Kind]:
    from typing import get_args

    from pumonitor.errors import InputError
    from pumonitor.sources.column_types.column_kinds import Kind

    column, mark, kind = given.rpartition("=")
    kinds = set(get_args(Kind)) - {"cell", "empty", "other"}
    if not mark or kind not in kinds:
        listed = ", ".join(sorted(kinds))
        msg = f"--kind is COLUMN=KIND with a kind of {listed}, got {given}"
        raise InputError(msg)
    return column, kind  # type: ignore[return-value]
