"""`pumonitor results`: print results as a table, CSV or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pumonitor.cli.changed_configuration import note_changed_configuration
from pumonitor.cli.monitor_options import DEFAULT_CONFIG, Config, MonitorName
from pumonitor.cli.opened import opened_ledger
from pumonitor.cli.options import OUTPUT

if TYPE_CHECKING:
    from datetime import datetime

    from pumonitor.monitor.config.sections.monitor import Monitor
    from pumonitor.monitor.ledger.ledger import Ledger
    from pumonitor.monitor.ledger.records.results import PublishedResult

__all__ = ["results"]

_SHOWN = ("class_prior", "aul", "auc", "precision", "recall", "f1")


class Format(StrEnum):
    """Output formats."""

    table = "table"
    csv = "csv"
    json = "json"


class States(StrEnum):
    """States of windows."""

    provisional = "provisional"
    mature = "mature"
    final = "final"


def results(
    monitor: MonitorName,
    *,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this metric; may be repeated. Without it the table shows "
            f"{', '.join(_SHOWN)}; CSV and JSON contain all metrics."
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="DATE", help="Windows that start at this time or later."),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--to", metavar="DATE", help="Windows that start before this time."),
    ] = None,
    state: Annotated[
        list[States] | None,
        typer.Option(help="Only windows in this state; may be repeated. mature includes final."),
    ] = None,
    model_version: Annotated[str | None, typer.Option(help="Only this model version.")] = None,
    segment: Annotated[
        str | None, typer.Option(help="Only this segment, as column=value; '' for all rows.")
    ] = None,
    revisions: Annotated[
        bool, typer.Option("--all-revisions", help="Include the earlier revisions of each window.")
    ] = False,
    format_: Annotated[
        Format, typer.Option("--format", help="Output format.", rich_help_panel=OUTPUT)
    ] = Format.table,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Print results by window: some metrics side by side, or all of them as CSV or JSON.

    The table has one row per window, version and segment, with the main metrics or those of
    --metric, on a narrow screen with the interval below its value. Below the table stand the
    source of the newest window's class prior, if it is followed over windows, what remains unknown
    about it, why windows have no numbers, what is doubtful about the newest mature window and the
    newest one, what is odd about rows, such as labels that match no prediction, and what read that
    window: engine, seconds, bytes, queries, versions of tables. CSV
    and JSON have one row for each metric of these.

    Their fields: monitor, model_version, segment, window_start, window_end, state, revision,
    as_of, metric, value, low, high, n_labeled, n_unlabeled, undefined_reason, infeasible,
    impossible, infeasible_reason, unclipped_value, unclipped_low, unclipped_high, assumed; times
    in ISO 8601, undefined values null or empty. An infeasible value came out outside its metric's
    possible range and is clipped to it; impossible values, and those computed with an impossible
    class prior, are no evidence for or against anything. A possible value that is computed from an
    impossible one has an infeasible_reason alone. An assumed class prior is given in the
    configuration and not measured.

    Example: pumonitor results card-fraud --metric f1 --format csv
    """
    with opened_ledger(config, monitor) as (configuration, _, ledger):
        from pumonitor.cli.metric_option import checked_metric
        from pumonitor.cli.moments import moment
        from pumonitor.monitor.inspection.insights import (
            finding_notes,
            prior_notes,
            undefined_notes,
        )

        metrics = metric or (list(_SHOWN) if format_ is Format.table else None)
        note_changed_configuration(
            ledger,
            [configuration.monitors[monitor]],
            config,
            then="To evaluate them under the present one",
        )
        rows = ledger.results(
            monitor,
            since=None if start is None else moment(start, option="--from"),
            until=None if end is None else moment(end, option="--to"),
            model_version=model_version,
            segment=segment,
            metrics=metrics,
            states=None if state is None else [one.value for one in state],
            revisions="all" if revisions else "latest",
        )
        notes: list[str] = []
        if format_ is Format.table and rows:
            starts = [row.window_start for row in rows]
            notes = [
                *undefined_notes(rows),
                *finding_notes(ledger, rows, segment=segment or ""),
                *_notes_on_rows(ledger, monitor, min(starts), max(starts)),
            ]
        assumption = ""
        if format_ is Format.table and "class_prior" in _metrics_of(rows):
            notes = [*prior_notes(ledger, rows, segment=segment or ""), *notes]
        if format_ is Format.table:
            assumption = _assumption(
                ledger, configuration.monitors[monitor], rows, segment=segment or ""
            )
        if metric and (missing := [one for one in metric if one not in _metrics_of(rows)]):
            known = ledger.metrics(monitor)
            printed = f"pumonitor results {monitor} --format csv"
            for one in missing if known else ():
                checked_metric(one, option="--metric", known=known, listed_by=printed)
        if format_ is Format.table:
            _print_table(monitor, rows, metrics or [], notes, assumption=assumption)
        else:
            _write(rows, format_)


def _assumption(
    ledger: Ledger, monitor: Monitor, rows: Sequence[PublishedResult], *, segment: str
) -> str:
    """What the newest results take for granted of their labels."""
    from pumonitor.monitor.inspection.label_outlook import assumption_of_window

    own = [row for row in rows if row.segment == segment]
    own = [row for row in own if row.metric == "recall" and row.value is not None] or own
    newest = max(own, key=lambda row: row.window_start, default=None)
    if newest is None:
        return ""
    stored = ledger.evaluation_behind(newest)
    if stored is None:
        return ""
    of_series = ledger.results(
        newest.monitor,
        since=newest.window_start,
        until=newest.window_end,
        model_version=newest.model_version,
        segment=segment,
    )
    return assumption_of_window(monitor, stored.evaluation, of_series)


def _notes_on_rows(ledger: Ledger, monitor: str, start: datetime, end: datetime) -> list[str]:
    """What is odd about the rows of these windows, and what read the newest one."""
    from datetime import timedelta

    from pumonitor.monitor.inspection.read_by import newest_counts, read_by_said
    from pumonitor.monitor.windows.input_findings import findings_of_windows, summed_up

    windows = ledger.windows(monitor, since=start, until=end + timedelta.resolution)
    notes = [f"Note: {line}" for line in summed_up(findings_of_windows(windows))]
    said = read_by_said(newest_counts(windows[-1])) if windows else []
    if said:
        told = "; ".join(f"{what[0].lower()}{what[1:]} {value}" for what, value in said)
        notes.append(f"The newest window: {told}.")
    return notes


def _write(rows: Sequence[PublishedResult], format_: Format) -> None:
    """Write all fields of the rows to stdout, as CSV or JSON."""
    if format_ is Format.json:
        from pumonitor.cli.terminal import print_json

        print_json(rows)
    else:
        import sys

        from pumonitor.monitor.ledger.records.results import PublishedResult
        from pumonitor.views.model import write_views_csv

        write_views_csv(rows, sys.stdout, model=PublishedResult)


def _metrics_of(rows: Sequence[PublishedResult]) -> set[str]:
    return {row.metric for row in rows}


def _print_table(
    monitor: str,
    rows: Sequence[PublishedResult],
    metrics: Sequence[str],
    notes: Sequence[str],
    *,
    assumption: str,
) -> None:
    from pumonitor.cli.results_table import print_results
    from pumonitor.cli.terminal import Console

    console = Console(highlight=False)
    if rows:
        if assumption:
            console.print(f"{assumption}\n", markup=False)
        print_results(console, rows, metrics)
        for note in notes:
            console.print(note, markup=False)
    else:
        console.print(
            f"{monitor} has no results for these options yet: start pumonitor run or pumonitor "
            "backfill."
        )
