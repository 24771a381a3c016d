"""How `pumonitor audit draw --between` draws cases between the deployed model and a challenger."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from pumonitor.cli.outcome import errors_as_messages
from pumonitor.cli.progress import progress_bar
from pumonitor.errors import InputError, PumonitorError, no_such
from pumonitor.text import moment_text

if TYPE_CHECKING:
    from pumonitor.monitor.challenging.between import DrawnBetween
    from pumonitor.monitor.challenging.challengers import Challenger
    from pumonitor.monitor.config.sections.monitor import Monitor
    from pumonitor.monitor.ledger.ledger import Ledger
    from pumonitor.ports import Pane

_CHAMPION: Final = "champion"
_CASES: Final = 200


def draw_between_models(
    monitor: str,
    between: tuple[str, str],
    out: Path,
    *,
    windows: str | None,
    cases: int | None,
    seed: str | None,
    config: Path,
) -> None:
    """Draw an audit between the deployed model and a challenger into a file, and store it."""
    with errors_as_messages():
        with progress_bar() as step:
            from pumonitor.cli.audit_files import refuse_existing, write_cases
            from pumonitor.monitor.app import chosen_monitors, open_ledger
            from pumonitor.monitor.challenging.between import draw_between
            from pumonitor.monitor.challenging.judged import challengers_of
            from pumonitor.monitor.challenging.seen import series_of
            from pumonitor.monitor.changes import local_user
            from pumonitor.monitor.config.file import read_configuration
            from pumonitor.monitor.windows.opening import open_monitor_source

            refuse_existing(out)
            name = _challenger_of(between)
            configuration = read_configuration(config).configuration
            chosen = chosen_monitors(configuration, monitor)[monitor]
            known = challengers_of(configuration, chosen)
            if name not in known:
                raise InputError(no_such("challenger", name, known))
            challenger = known[name]
            if isinstance(challenger, PumonitorError):
                raise challenger
            with open_ledger(configuration) as ledger:
                drawn = draw_between(
                    chosen,
                    challenger,
                    series_of(chosen, challenger),
                    _panes(ledger, chosen, challenger, windows),
                    cases=cases or _CASES,
                    seed=seed,
                    actor=local_user(),
                    open_source=open_monitor_source,
                    on_window=lambda start: step(f"Scoring {moment_text(start)}", None),
                )
                write_cases(
                    out,
                    [(one.number, str(one.id), drawn.shown[one.number]) for one in drawn.cases],
                    audit=drawn.audit.name,
                    columns=() if chosen.audits is None else chosen.audits.columns,
                )
                try:
                    ledger.reviews.add(drawn.audit, drawn.cases)
                except BaseException:
                    # A file that the state database does not know of cannot be read.
                    out.unlink()
                    raise
        _print(drawn, monitor, name, out, asked=cases or _CASES)


def _challenger_of(between: tuple[str, str]) -> str:
    """The one of the two that is not the deployed model."""
    others = [one for one in between if one != _CHAMPION]
    if len(others) != 1:
        msg = (
            f"--between takes {_CHAMPION}, the deployed model, and the name of a challenger, got "
            f"{between[0]} and {between[1]}"
        )
        raise InputError(msg)
    return others[0]


def _panes(
    ledger: Ledger, monitor: Monitor, challenger: Challenger, windows: str | None
) -> list[Pane]:
    """Mature windows of a period, or the newest one, that a challenger can be judged on."""
    from pumonitor.monitor.challenging.seen import judged_since, mature_panes
    from pumonitor.monitor.config.file import configuration_hash
    from pumonitor.monitor.rules.windows.named_period import read_period

    found = mature_panes(ledger, monitor, configuration=configuration_hash(monitor))
    period = None if windows is None else read_period(windows, zone=monitor.zone)
    if period is None:
        # The last one may have no rows, where predictions have stopped.
        with_rows = (one for one in reversed(found) if _has_rows(ledger, monitor, one))
        found = list(islice(with_rows, 1))
    else:
        found = [one for one in found if period.start <= one.window.start < period.end]
    if not found:
        msg = (
            f"{monitor.name} has no mature window"
            + ("" if windows is None else f" in {windows}")
            + ": pumonitor run evaluates what is due"
        )
        raise InputError(msg)
    since = judged_since(ledger, monitor, challenger)
    kept = [one for one in found if since.counts(one.window.start, one.window.end)]
    if not kept:
        moment, why = since.latest or (found[0].window.start, "another version was deployed")
        msg = (
            f"{challenger.name} cannot be judged on windows that began before "
            f"{moment_text(moment)}, when {why}: give later ones by --windows"
        )
        raise InputError(msg)
    return kept


def _has_rows(ledger: Ledger, monitor: Monitor, pane: Pane) -> bool:
    rows = ledger.results(monitor.name, since=pane.window.start, until=pane.window.end, segment="")
    return bool(rows)


def _print(drawn: DrawnBetween, monitor: str, challenger: str, out: Path, *, asked: int) -> None:
    champion, other, both = drawn.flagged
    windows = len(drawn.audit.windows)
    typer.echo(
        f"Of {champion + both:,} rows that each model flags in {windows} "
        f"window{'s' * (windows != 1)}, {champion:,} are flagged by the deployed model alone and "
        f"{other:,} by {challenger} alone."
    )
    if len(drawn.cases) < asked:
        typer.echo(f"There are unlabeled rows on both sides for {len(drawn.cases)} cases only.")
    typer.echo(
        f"Audit {drawn.audit.name}: {len(drawn.cases)} cases are in {out}, half of them of each "
        "side, in random order.\n"
        "Fill in its column verdict with 1, 0 or undecided, in the order of the file.\n"
        f"Then: pumonitor audit read {out} --monitor {monitor}\n"
        f"And: pumonitor challenge {monitor}"
    )
