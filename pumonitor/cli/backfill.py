"""`pumonitor backfill`: evaluate the past windows of a range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config, SomeMonitor
from pumonitor.cli.outcome import errors_as_messages
from pumonitor.cli.progress import Step, progress_bar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from pumonitor.cli.round_table import Left
    from pumonitor.cli.terminal import Console
    from pumonitor.monitor.backfill import Scope
    from pumonitor.monitor.config.configuration import Configuration
    from pumonitor.monitor.delivery.sending.delivery import Delivery

__all__ = ["backfill"]

_EVERY: Final = 2.0


class Which(StrEnum):
    """Windows in the ledger that are evaluated again."""

    missing = "missing"
    failed = "failed"
    all = "all"


def backfill(
    monitor: SomeMonitor = None,
    *,
    start: Annotated[
        str,
        typer.Option("--from", metavar="DATE", help="Windows that start at this time or later."),
    ],
    end: Annotated[
        str, typer.Option("--to", metavar="DATE", help="Windows that start before this time.")
    ],
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="DATE",
            help="Evaluate as if it were this time; labels that arrived later are left out, and "
            "tables in lakes are read in the version of then.",
        ),
    ] = None,
    reprocess: Annotated[
        Which,
        typer.Option(
            help="Evaluate the failed windows again, or all windows. A window gets a new revision "
            "only if its data or results differ."
        ),
    ] = Which.missing,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes.")] = 1,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, and do nothing.")
    ] = False,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Evaluate past windows as a daily run would have done, each as known at its own moments.

    Dates without a zone are UTC; weeks start on Monday. Results and reports wait in the outbox
    and are sent at the end. It can be stopped and started again, and other runs may work at the
    same time. Exit statuses are those of pumonitor run.

    Example: pumonitor backfill card-fraud --from 2026-01-01 --to 2026-04-01 --workers 2
    """
    import json

    from pumonitor.cli.terminal import Console

    console = Console(highlight=False)
    with errors_as_messages():
        with progress_bar(logged_as="backfill") as step:
            from pumonitor.cli.moments import moment
            from pumonitor.cli.round_table import as_json as to_json
            from pumonitor.cli.round_table import exit_status, print_round
            from pumonitor.monitor.app import utc_now
            from pumonitor.monitor.backfill import backfill as work
            from pumonitor.monitor.config.file import read_configuration

            first, last = _range(start, end)
            known_by = None if as_of is None else moment(as_of, option="--as-of")
            now = utc_now() if known_by is None else known_by
            configuration = read_configuration(config).configuration
            if dry_run:
                scopes = _scopes(configuration, monitor, start=first, end=last, now=now)
            else:
                done = work(
                    config,
                    monitor,
                    start=first,
                    end=last,
                    as_of=known_by,
                    reprocess=reprocess.value,
                    workers=workers,
                    on_progress=step,
                )
                done.deliveries, left = _deliver(configuration, monitor, now=now, step=step)
        if dry_run:
            _print_scopes(console, scopes, as_json=as_json)
            return
        if as_json:
            typer.echo(json.dumps(to_json(done, left)))
        else:
            print_round(console, done, left)
    if status := exit_status(done, left):
        raise typer.Exit(status)


def _range(start: str, end: str) -> tuple[datetime, datetime]:
    """The times of --from and --to, in order."""
    from pumonitor.cli.moments import moment
    from pumonitor.errors import InputError

    first, last = moment(start, option="--from"), moment(end, option="--to")
    if last <= first:
        msg = f"--to {end} must be after --from {start}: the range does not include its end"
        raise InputError(msg)
    return first, last


def _scopes(
    configuration: Configuration,
    monitor: str | None,
    *,
    start: datetime,
    end: datetime,
    now: datetime,
) -> list[Scope]:
    """What would be done for each monitor."""
    from pumonitor.monitor.app import open_jobs
    from pumonitor.monitor.backfill import scope_of

    with open_jobs(
        configuration, monitor=monitor, clock=lambda: now, deliver=False, migrates=False
    ) as jobs:
        return [scope_of(jobs, name, start=start, end=end, now=now) for name in jobs.monitors]


def _deliver(
    configuration: Configuration, monitor: str | None, *, now: datetime, step: Step
) -> tuple[Mapping[str, Delivery], Left]:
    """Send everything that waits in the outbox, and see what is left."""
    from datetime import timedelta

    from pumonitor.cli.backfill import show_delivery
    from pumonitor.cli.round_table import Left
    from pumonitor.monitor.app import open_jobs

    with open_jobs(configuration, monitor=monitor, clock=lambda: now) as jobs:
        outbox = jobs.ledger.outbox
        # Long enough for everything: no window is waiting, and reports take time.
        budget = timedelta(minutes=30)
        with show_delivery(lambda: sum(one.messages for one in outbox.waiting().values()), step):
            deliveries = jobs.deliver(budget=budget, for_files=budget)
        return deliveries, Left.by(jobs, monitor, now=now)


def _print_scopes(console: Console, scopes: list[Scope], *, as_json: bool) -> None:
    import json

    from pumonitor.monitor.backfill import windows_named

    if as_json:
        rows = [
            {
                "monitor": one.monitor,
                "windows": len(one.windows),
                "in_ledger": len(one.known),
                "panes_due": one.panes_due,
                "panes_done": one.panes_done,
            }
            for one in scopes
        ]
        typer.echo(json.dumps(rows))
        return
    for one in scopes:
        console.print(
            f"{one.monitor}: {windows_named(one.windows)}, {len(one.known)} of them in the state "
            f"database. Of their {one.panes_due} evaluations, {one.panes_due - one.panes_done} are "
            "still to be done."
        )


@contextmanager
def show_delivery(waiting: Callable[[], int], step: Step) -> Iterator[None]:
    """Context that shows every two seconds, and at its end, the share of delivered messages.

    Parameters
    ----------
    waiting : callable
        Returns the number of undelivered messages.
    step : Step
        Receives the progress.
    """
    step("Delivering", None)
    at_first = waiting()
    if at_first == 0:
        yield
        return
    ended = Event()

    def report() -> None:
        left = waiting()
        done = max(at_first - left, 0)
        step(f"Delivering, {done:,} of {at_first:,} messages", done / at_first)

    def watch() -> None:
        while not ended.wait(_EVERY):
            report()

    watcher = Thread(target=watch, name="delivery progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
    report()
