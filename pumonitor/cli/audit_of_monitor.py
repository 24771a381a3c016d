"""How `pumonitor audit` plans and draws audits of a monitor, into its state database."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pumonitor.cli.audit_options import share_of, widths_of
from pumonitor.cli.outcome import errors_as_messages, settings_as_input
from pumonitor.cli.progress import progress_bar
from pumonitor.errors import InputError
from pumonitor.text import moment_cell

if TYPE_CHECKING:
    from datetime import datetime

    from pumonitor.audit_plan import AuditPlan
    from pumonitor.monitor.audits.audited_windows import WindowsToAudit
    from pumonitor.monitor.audits.drawing import DrawnCases, Step
    from pumonitor.monitor.config.configuration import Configuration
    from pumonitor.monitor.config.sections.monitor import Monitor
    from pumonitor.monitor.ledger.ledger import Ledger
    from pumonitor.monitor.ledger.records.audits import StoredAudit
    from pumonitor.ports import PredictionSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Of which windows of a monitor, and how many cases."""

    monitor: str
    windows: str | None
    model_version: str | None
    cases: int | None
    width: dict[str, float] | None
    metrics: list[str] | None
    above: float | None
    config: Path

    @classmethod
    def of(
        cls,
        monitor: str,
        windows: str | None,
        model_version: str | None,
        cases: int | None,
        width: list[str] | None,
        metric: list[str] | None,
        *,
        above: str | None,
        config: Path,
    ) -> Asked:
        """From options."""
        return cls(
            monitor=monitor,
            windows=windows,
            model_version=model_version,
            cases=cases,
            width=widths_of(width),
            metrics=metric or None,
            above=share_of(above),
            config=config,
        )

    @property
    def plan(self) -> dict[str, Any]:
        """Arguments of a plan; None where the configuration decides."""
        given = {"cases": self.cases, "width": self.width, "metrics": self.metrics}
        return {**given, "above": self.above}


def plan_of_monitor(asked: Asked, *, as_json: bool) -> None:
    """Plan an audit of windows, and print it."""
    with errors_as_messages():
        with progress_bar() as step, settings_as_input():
            from pumonitor.monitor.audits.drawing import plan_windows

            with opened(asked.config, asked.monitor) as (monitor, ledger, _):
                windows = _windows(asked, monitor, ledger)
                found = plan_windows(monitor, windows, asked=asked.plan, progress=step)
        if as_json:
            taken = {"windows": [one.window.start.isoformat() for one in windows.panes]}
            waiting = [
                {"start": one.start.isoformat(), "mature_at": one.mature_at.isoformat()}
                for one in windows.waiting
            ]
            written = found.to_dict() | taken | {"windows_waiting": waiting}
            typer.echo(json.dumps(written, allow_nan=False))
            return
        _print_plan(asked, found)
        _print_windows([one.window.start for one in windows.panes], windows)


def draw_of_monitor(asked: Asked, out: Path, *, seed: str | None, more: int | None) -> None:
    """Draw an audit of windows, or more cases of one, into a file and the state database."""
    if more is not None and (asked.cases or asked.width or asked.metrics or seed):
        msg = "--more adds to an audit as it was drawn: leave out --cases, --width and --seed"
        raise typer.BadParameter(msg)
    with errors_as_messages():
        with progress_bar() as step, settings_as_input():
            from pumonitor.cli.audit_files import refuse_existing

            refuse_existing(out)
            with opened(asked.config, asked.monitor) as (monitor, ledger, configuration):
                with _source(monitor) as source:
                    if more is None:
                        drawn, store = _draw(
                            asked, monitor, ledger, configuration, source, seed, step
                        )
                    else:
                        drawn, store = _extend(asked, monitor, ledger, source, more, step)
                _write(drawn, monitor, out)
                try:
                    store()
                except BaseException:
                    # A file that the state database does not know of cannot be read.
                    out.unlink()
                    raise
        _print_plan(asked, drawn.plan)
        _print_windows([one.start for one in drawn.audit.windows], drawn)
        _print_drawn(asked, drawn, out)


@contextmanager
def opened(config: Path, name: str) -> Iterator[tuple[Monitor, Ledger, str]]:
    """The monitor, the ledger, and the hash of its configuration."""
    from pumonitor.monitor.app import chosen_monitors, open_ledger
    from pumonitor.monitor.config.file import configuration_hash, read_configuration

    configuration: Configuration = read_configuration(config, needs="ledger").configuration
    (monitor,) = chosen_monitors(configuration, name).values()
    with open_ledger(configuration) as ledger:
        yield monitor, ledger, configuration_hash(monitor)


@contextmanager
def _source(monitor: Monitor) -> Iterator[PredictionSource]:
    from pumonitor.monitor.windows.opening import open_monitor_source

    source = open_monitor_source(monitor)
    try:
        yield source
    finally:
        source.close()


def _windows(asked: Asked, monitor: Monitor, ledger: Ledger) -> Any:
    from pumonitor.monitor.audits.audited_windows import windows_to_audit
    from pumonitor.monitor.config.file import configuration_hash
    from pumonitor.monitor.rules.windows.named_period import read_period

    if asked.windows is None:
        msg = "give --windows: a month, a day, or from one date to another, as in 2026-03"
        raise InputError(msg)
    return windows_to_audit(
        ledger,
        monitor,
        configuration_hash(monitor),
        read_period(asked.windows, zone=monitor.zone),
        model_version=asked.model_version,
    )


def _draw(
    asked: Asked,
    monitor: Monitor,
    ledger: Ledger,
    configuration: str,
    source: PredictionSource,
    seed: str | None,
    step: Step,
) -> tuple[DrawnCases, Any]:
    """A new audit, and what stores it."""
    from pumonitor.monitor.audits.drawing import draw_windows
    from pumonitor.monitor.changes import local_user

    windows = _windows(asked, monitor, ledger)
    ledger.reviews.refuse_drawn(
        monitor.name,
        configuration,
        model_version=windows.model_version,
        starts=[one.window.start for one in windows.panes],
    )
    drawn = draw_windows(
        monitor,
        source,
        windows,
        configuration=configuration,
        actor=local_user(),
        asked=asked.plan,
        seed=seed,
        progress=step,
    )
    return drawn, lambda: ledger.reviews.add(drawn.audit, drawn.cases)


def _extend(
    asked: Asked,
    monitor: Monitor,
    ledger: Ledger,
    source: PredictionSource,
    more: int,
    step: Step,
) -> tuple[DrawnCases, Any]:
    """More cases of an audit, and what stores them."""
    from pumonitor.monitor.audits.audited_windows import windows_of_audit
    from pumonitor.monitor.audits.drawing import draw_more
    from pumonitor.monitor.changes import local_user

    audit = _audit_to_extend(asked, monitor, ledger)
    drawn = draw_more(
        monitor,
        source,
        audit,
        ledger.reviews.cases(audit.name),
        windows_of_audit(ledger, monitor, audit),
        more=more,
        actor=local_user(),
        above=asked.above,
        progress=step,
    )
    chances = drawn.inclusion
    return drawn, lambda: ledger.reviews.extend(
        drawn.audit, drawn.cases, inclusion=chances, actor=local_user()
    )


def _audit_to_extend(asked: Asked, monitor: Monitor, ledger: Ledger) -> StoredAudit:
    """The last audit that is used, or that of the windows asked for."""
    from pumonitor.monitor.audits.unused import not_used_said, unused_audits
    from pumonitor.monitor.rules.windows.named_period import read_period

    found = list(ledger.reviews.all(monitor.name))
    if asked.model_version is not None:
        found = [one for one in found if one.model_version == asked.model_version]
    if asked.windows is not None:
        period = read_period(asked.windows, zone=monitor.zone)
        found = [
            one
            for one in found
            if any(period.start <= window.start < period.end for window in one.windows)
        ]
    if not found:
        raise InputError(no_audit(monitor.name))
    unused = unused_audits(ledger, monitor)
    used = [one for one in found if one.name not in unused]
    if not used:
        msg = f"{not_used_said(found[-1].name, unused)}; draw a new one, without --more"
        raise InputError(msg)
    return used[-1]


def no_audit(monitor: str) -> str:
    """Which audits there are, where the one that was asked for is not among them."""
    return (
        f"{monitor} has no such audit: pumonitor audit status --monitor {monitor} lists those it "
        "has, and audit draw draws one"
    )


def _write(drawn: DrawnCases, monitor: Monitor, out: Path) -> None:
    from pumonitor.cli.audit_files import write_cases

    columns = () if monitor.audits is None else monitor.audits.columns
    write_cases(
        out,
        [(one.number, str(one.id), drawn.shown[one.number]) for one in drawn.cases],
        audit=drawn.audit.name,
        columns=columns,
    )


def _print_plan(asked: Asked, plan: AuditPlan) -> None:
    from pumonitor.cli.audit_tables import print_plan

    period = "" if asked.windows is None else f", {asked.windows}"
    print_plan(plan, source=f"{asked.monitor}{period}")


def _print_windows(taken: Sequence[datetime], found: WindowsToAudit | DrawnCases) -> None:
    """Which windows cases are from, and which not: they wait, or have too few positives."""
    from pumonitor.monitor.audits.audited_windows import listed

    starts = listed(moment_cell(start) for start in taken)
    typer.echo(f"From {len(taken)} {_windows_word(taken)}: {starts} UTC")
    if found.waiting:
        are = "is" if len(found.waiting) == 1 else "are"
        typer.echo(
            f"Not from {len(found.waiting)} {_windows_word(found.waiting)} that {are} "
            f"not evaluated as mature yet: {listed(found.waiting)}"
        )
    left_out = found.left_out
    if left_out:
        have = "has" if len(left_out) == 1 else "have"
        typer.echo(
            f"{len(left_out)} {_windows_word(left_out)} {have} too few confirmed positives to be "
            f"evaluated and no cases are drawn from there: {', '.join(left_out)} UTC"
        )


def _windows_word(some: Sequence[object]) -> str:
    return "window" if len(some) == 1 else "windows"


def _print_drawn(asked: Asked, drawn: DrawnCases, out: Path) -> None:
    kinds = [one.kind for one in drawn.cases]
    typer.echo(
        f"Audit {drawn.audit.name}: {len(kinds)} lines are in {out}: {kinds.count('case')} cases, "
        f"and {kinds.count('seed')} known positives and {kinds.count('again')} cases given twice "
        "among them.\n"
        "Fill in its column verdict with 1, 0 or undecided, in the order of the file.\n"
        f"Then: pumonitor audit read {out} --monitor {asked.monitor}"
    )
