"""How `pumonitor audit` reads, shows and lists the audits of a monitor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pumonitor.cli.audit_of_monitor import no_audit, opened
from pumonitor.cli.opened import opened_ledger
from pumonitor.cli.outcome import errors_as_messages, settings_as_input
from pumonitor.errors import InputError, no_such

if TYPE_CHECKING:
    from pumonitor.monitor.ledger.reviews import Received


def read_of_monitor(
    path: Path, monitor: str, *, reviewer: str, config: Path, as_json: bool
) -> None:
    """Read a file of verdicts into the state database."""
    with errors_as_messages():
        from pumonitor.cli.audit_files import read_verdict_columns
        from pumonitor.monitor.audits.reading import given_verdicts, lines_digest
        from pumonitor.monitor.audits.unused import not_used_said, unused_audits
        from pumonitor.monitor.changes import local_user

        columns = read_verdict_columns(path)
        if not any((one or "").strip() for one in columns["verdict"]):
            msg = (
                f"no line of {path} has a verdict: give 1 for positive or 0 for negative for at "
                f"least one of its {len(columns['verdict'])} lines, in the column verdict"
            )
            raise InputError(msg)
        with opened(config, monitor) as (chosen, ledger, _):
            lines = given_verdicts(columns, zone=chosen.zone, reviewer=reviewer)
            done = ledger.reviews.read(
                monitor,
                lines,
                source=path.name,
                digest=lines_digest(lines),
                actor=local_user(),
            )
            audits = {one.audit for one in done.judged.usable}
            found = [one for one in ledger.audits_as_read(monitor) if one.name in audits]
            unused = {
                name: why for name, why in unused_audits(ledger, chosen).items() if name in audits
            }
    # Windows of a former configuration are due as well, and wait until it is put to use again.
    windows = done.reopened if audits - set(unused) else 0
    if as_json:
        refused: dict[str, int] = {}
        for (_, reason), named in done.judged.refused.items():
            refused[reason] = refused.get(reason, 0) + len(named)
        counts = {"added": done.added, "known": done.known, "windows": windows}
        unread = {one.name: one.unread for one in found}
        from pumonitor.cli.terminal import print_json

        known = {"unread": unread, "not_used": unused, "refused": refused}
        print_json({"monitor": monitor, **counts, **known})
        return
    _print_received(monitor, done, windows)
    for one in found:
        typer.echo(
            f"Audit {one.name}: {one.cases - one.unread} of {one.cases} cases read, "
            f"{one.conflicts} with verdicts that contradict each other."
        )
        if one.name in unused:
            said = not_used_said(one.name, unused)
            typer.echo(f"{said[0].upper()}{said[1:]}.")


def show_of_monitor(
    monitor: str,
    audit: str | None,
    *,
    confidence_level: float,
    report: Path | None,
    config: Path,
    as_json: bool,
) -> None:
    """Print an audit: by score bin, whether labels are fair, and what it says by itself."""
    with errors_as_messages():
        from pumonitor.cli.audit_tables import print_shown
        from pumonitor.cli.terminal import print_json
        from pumonitor.monitor.audits.shown import shown_audit
        from pumonitor.monitor.audits.status import audits_view

        with (
            settings_as_input(),
            opened(config, monitor) as (chosen, ledger, _),
        ):
            audits = audits_view(ledger, chosen)
            by_name = {status.audit: status for status in audits.audits}
            if not by_name:
                raise InputError(no_audit(monitor))
            name = audits.newest_decided if audit is None else audit
            if name not in by_name:
                raise InputError(no_such("audit", name, by_name))
            status = by_name[name]
            read = {one.name: one for one in ledger.audits_as_read(monitor)}
            shown = shown_audit(
                ledger,
                chosen,
                read[name],
                earlier=[
                    read[earlier.audit]
                    for earlier in audits.audits[: audits.audits.index(status)]
                    if earlier.is_current == status.is_current
                ],
                confidence_level=confidence_level,
            )
            waiting = audits.waiting_since(name) if audit is None else []
            if report is not None:
                from pumonitor.cli.written_report import write_report

                write_report(
                    shown.evaluation(curves=True),
                    report,
                    source=f"{monitor}, audit {name}",
                    without_audit=shown.without(curves=True),
                )
        if as_json:
            print_json(status.to_dict() | shown.to_dict() | {"waiting": waiting})
            return
        for newer in waiting:
            typer.echo(f"Audit {newer}, which is newer, waits for verdicts: pumonitor audit read")
        print_shown(status, shown)
        if report is not None:
            typer.echo(f"Report: {report}")


def status_of_monitors(monitor: str | None, *, config: Path, as_json: bool) -> None:
    """List audits of one monitor or all."""
    with opened_ledger(config, monitor) as (_, monitors, ledger):
        from pumonitor.cli.audit_tables import print_audits
        from pumonitor.cli.terminal import print_json
        from pumonitor.monitor.audits.status import audits_view

        found = [audits_view(ledger, one) for one in monitors.values()]
    if as_json:
        print_json(found)
        return
    for audits in found:
        print_audits(audits)


def _print_received(monitor: str, done: Received, windows: int) -> None:
    from pumonitor.cli.terminal import Console

    console = Console(highlight=False)
    verdicts = "verdict" if done.added == 1 else "verdicts"
    console.print(
        f"{done.added} new {verdicts} on audits of {monitor}, {done.known} read before.",
        markup=False,
    )
    for sentence in done.judged.said():
        console.print(f"Not used: {sentence}", markup=False)
    if windows:
        evaluated = "1 window is" if windows == 1 else f"{windows} windows are"
        console.print(
            f"{evaluated} evaluated with them in the next round: pumonitor run", markup=False
        )
