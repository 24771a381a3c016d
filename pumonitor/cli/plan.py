"""`pumonitor plan`: estimate the confirmed positives needed to detect a drop in time."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config, MonitorName
from pumonitor.cli.opened import opened_ledger
from pumonitor.cli.progress import progress_bar
from pumonitor.text import given_text, number_text, span_text

if TYPE_CHECKING:
    from pumonitor.cli.terminal import Console
    from pumonitor.monitor.config.sections.rule_values import Change
    from pumonitor.monitor.inspection.label_plans import LabelPlan


def plan(
    monitor: MonitorName,
    *,
    drop: Annotated[
        str,
        typer.Option(
            metavar="AMOUNT",
            help="The drop to detect: a number such as 0.05, or a share of the usual value "
            "such as 10%.",
        ),
    ],
    within: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Time within which the drop is to be detected, such as 7d or 2w.",
            show_default=True,
        ),
    ] = "7d",
    metric: Annotated[
        str, typer.Option(metavar="METRIC", help="Metric whose drop is to be detected.")
    ] = "auc",
    false_alarms_per_year: Annotated[
        float,
        typer.Option(metavar="NUMBER", help="Accepted number of false alarms a year."),
    ] = 1.0,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Estimate how many confirmed positives per window it takes to detect a drop within some time.

    The variation of the metric is taken from the windows of the reference, and the detector of
    `shift` rules is run on simulated windows with more and with fewer confirmed positives, and on
    longer windows. Below it stands what counting a window reads and how long a round takes, from
    plans and statistics of its source, and from past windows.

    Example: pumonitor plan card-fraud --metric auc --drop 0.05 --within 7d
    """
    from pumonitor.cli.terminal import Console, print_json
    from pumonitor.plain_values import plain_fields

    with opened_ledger(config, monitor) as (configuration, monitors, ledger):
        from datetime import UTC, datetime

        from pumonitor.cli.metric_option import checked_metric
        from pumonitor.errors import InputError
        from pumonitor.monitor.config.values.durations import read_duration
        from pumonitor.monitor.inspection.label_plans import plan_labels
        from pumonitor.monitor.inspection.reading_cost import planned_cost
        from pumonitor.monitor.windows.opening import open_monitor_source

        checked_metric(metric, option="--metric")
        if not 0 < false_alarms_per_year < math.inf:
            msg = f"--false-alarms-per-year must be above 0, got {false_alarms_per_year:g}"
            raise InputError(msg)
        wanted = _drop(drop)
        try:
            days = read_duration(within).total_seconds() / 86_400
        except ValueError as error:
            msg = f"--within {error}"
            raise InputError(msg) from None
        chosen = monitors[monitor]
        with progress_bar(logged_as="plan") as step:
            step("Trying numbers of confirmed positives", None)
            found = plan_labels(
                ledger,
                chosen,
                metric=metric,
                drop=wanted,
                within_days=days,
                false_alarms_per_year=false_alarms_per_year,
            )
            step("Asking what windows cost", None)
            cost = planned_cost(
                chosen,
                ledger,
                open_source=open_monitor_source,
                now=datetime.now(UTC),
                mask=configuration.mask,
            )
    if as_json:
        print_json(plain_fields(found) | {"cost": cost})
    else:
        console = Console(highlight=False)
        _print(console, found, share=drop if wanted.relative else "")
        for said in () if cost is None else cost.said:
            console.print(f"{said}.", markup=False)


def _drop(text: str) -> Change:
    """Read the drop, as in a rule."""
    from pumonitor.errors import InputError
    from pumonitor.monitor.config.sections.rule_values import as_change

    try:
        given: float | str = float(text)
    except ValueError:
        given = text
    try:
        return as_change(given)
    except ValueError as error:
        got = "" if "got" in str(error) else f", got {text}"
        msg = f"--drop {error}{got}"
        raise InputError(msg) from None


def _print(console: Console, found: LabelPlan, *, share: str) -> None:
    from rich.table import Table

    from pumonitor.monitor.inspection.seen_by_length import said_of_lengths

    by = f"{number_text(found.drop)} ({share})" if share else given_text(found.drop)
    table = Table(
        "confirmed positives per window", "half are detected within", "nine in ten within"
    )
    for one in found.seen_after:
        cells = [
            span_text(timedelta(days=windows * found.window_days))
            if math.isfinite(windows)
            else "not detected"
            for windows in (one.median, one.most)
        ]
        enough = one.median * found.window_days <= found.within_days
        table.add_row(f"{one.labels:,}", *cells, style="green" if enough else "")
    console.print(table)
    if found.labels_needed is None:
        console.print(
            f"A drop of {found.metric} by {by} cannot be detected within "
            f"{given_text(found.within_days)} days with any number of confirmed positives: windows "
            f"vary with a standard deviation of {number_text(found.noise.between_windows)} even "
            "when nothing changes."
        )
    else:
        console.print(
            f"A drop of {found.metric} by {by} is detected within {given_text(found.within_days)} "
            f"days in half of all cases with {found.labels_needed:,} confirmed positives per "
            f"window or more; a usual window has {found.labels_now:,}."
        )
    console.print(f"With windows as they are now: {said_of_lengths(found.by_length)}.")
    console.print(
        f"Days count from when a window is mature ({given_text(found.maturity_days)} days after "
        f"its end). Estimated from {found.windows} windows in which nothing had changed."
    )
