"""`pumonitor challenge`: whether a challenger is surely better than the deployed model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from pumonitor.cli.monitor_options import DEFAULT_CONFIG, AsJson, Config, MonitorName
from pumonitor.cli.outcome import errors_as_messages
from pumonitor.cli.progress import progress_bar
from pumonitor.errors import InputError, PumonitorError
from pumonitor.text import interval_text, moment_text, signed_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pumonitor.cli.progress import Step
    from pumonitor.monitor.challenging.judged import JudgedChallenger
    from pumonitor.monitor.config.configuration import Configuration
    from pumonitor.monitor.config.sections.monitor import Monitor
    from pumonitor.monitor.ledger.ledger import Ledger
    from pumonitor.monitor.views.challengers import TrainedView

_NOT_BETTER: Final = 1
_NOT_JUDGED: Final = 3

TrainedOn = Literal["all", "recent", "weighted"]
"""As `training_rows` takes it, which loads NumPy."""


def challenge(
    monitor: MonitorName,
    *,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="models:/NAME/VERSION",
            help="Judge this version of the registry, in place of those of the configuration.",
        ),
    ] = None,
    trained_on: Annotated[
        TrainedOn | None,
        typer.Option(
            "--train",
            help="First train a challenger on mature windows and register it: on all; on recent "
            "ones, since the last alert began or the newest third; or on all, recent ones weighted "
            "more.",
        ),
    ] = None,
    hold_out: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="With --train, leave out the newest N windows: the challenger is judged on them "
            "at once. Without it, on windows to come.",
        ),
    ] = 0,
    config: Config = DEFAULT_CONFIG,
    as_json: AsJson = False,
) -> None:
    """Compare challengers with the deployed model on all mature windows so far, and judge them.

    Windows that a challenger has not scored yet are scored now, as far as they came after its
    training rows. The verdict is better, worse, not yet (with the number of labels that would do)
    or cannot be judged, as where confirmations were chosen by one model's score. It may be asked
    for as often as you like: intervals hold at all times together.

    With --train the learner is pumonitor.sklearn.ChallengerClassifier, on the features that the
    configuration names; the new version gets the alias challenger, or that of the configuration.

    The pages of `pumonitor pages` and the JSON API show the same verdicts, with charts.

    There is no verdict before five windows have labels, nor while these do not rule out that mainly
    the highest rows of one of the models were reviewed. A monitor with reviews is judged by these
    and by complaints instead.

    Exit status 0: a challenger is surely better. 1: none is. 3: none is, and one could not be found
    or could not score, as where the registry cannot be used; that is said first.

    Example: pumonitor challenge card-fraud
    """
    from pumonitor.cli.terminal import Console, print_json

    with errors_as_messages():
        from pumonitor.monitor.app import chosen_monitors, open_ledger
        from pumonitor.monitor.challenging.challengers import (
            AlreadyDeployedError,
            NoVersionYetError,
        )
        from pumonitor.monitor.challenging.judged import (
            challengers_of,
            judged,
            score_challengers,
        )
        from pumonitor.monitor.challenging.noted import judge_and_note, note_found
        from pumonitor.monitor.config.file import read_configuration
        from pumonitor.monitor.views.challengers import ScoredChallengersView
        from pumonitor.monitor.windows.opening import open_monitor_source

        configuration = read_configuration(config).configuration
        chosen = chosen_monitors(configuration, monitor)[monitor]
        _check_asked(chosen, is_given=model is not None, trained_on=trained_on, hold_out=hold_out)
        with progress_bar(logged_as="challenge") as step, open_ledger(configuration) as ledger:
            trained = None
            if trained_on is not None:
                trained = _trained(configuration, chosen, ledger, trained_on, hold_out, step)
                # Under its own name where the configuration has one for the alias.
                model = None if trained.is_configured else trained.link
            step("Looking for challengers", None)
            known = challengers_of(
                configuration, chosen, also=None if model is None else {_name_of(model): model}
            )
            if model is None:
                note_found(ledger, chosen, known)
            scored = score_challengers(
                configuration,
                chosen,
                ledger,
                open_source=open_monitor_source,
                challengers=known,
                at_once=True,
                on_window=lambda name, start: step(f"Scoring {moment_text(start)} by {name}", None),
            )
            found = judged(
                chosen,
                ledger,
                {name: one for name, one in known.items() if not isinstance(one, PumonitorError)},
            )
            if model is None:
                judge_and_note(ledger, chosen)
        failures = [
            *(
                (f"challenger {name}", one)
                for name, one in known.items()
                if isinstance(one, NoVersionYetError)
            ),
            *scored.failures,
        ]
        if as_json:
            print_json(
                ScoredChallengersView(
                    monitor=monitor,
                    trained=trained,
                    challengers=[one.view() for one in found.values()],
                    scored=scored.windows,
                    failures=[f"{what}: {error}" for what, error in failures],
                )
            )
        else:
            _print(Console(highlight=False), monitor, found, failures, trained)
            for one in known.values():
                if isinstance(one, AlreadyDeployedError):
                    typer.echo(f"Note: {one}")
    if not any(one.judgement.verdict == "better" for one in found.values()):
        raise typer.Exit(_NOT_JUDGED if failures else _NOT_BETTER)


def _check_asked(
    monitor: Monitor, *, is_given: bool, trained_on: str | None, hold_out: int
) -> None:
    """Refuse what cannot be judged or held out."""
    if hold_out and trained_on is None:
        msg = "--hold-out is for --train: it leaves out windows when a challenger is trained"
        raise InputError(msg)
    if monitor.challengers is None and not is_given and trained_on is None:
        msg = (
            f"monitor {monitor.name} has no challengers: add the section challengers to it, or "
            "give --model or --train"
        )
        raise InputError(msg)


def _trained(
    configuration: Configuration,
    monitor: Monitor,
    ledger: Ledger,
    trained_on: TrainedOn,
    hold_out: int,
    step: Step,
) -> TrainedView:
    from pumonitor.monitor.challenging.training import train_and_register
    from pumonitor.monitor.windows.opening import open_monitor_source

    return train_and_register(
        configuration,
        monitor,
        ledger,
        trained_on,
        open_source=open_monitor_source,
        hold_out=hold_out,
        on_step=lambda what: step(what, None),
    )


def _name_of(link: str) -> str:
    """The name under which a version is judged that the configuration does not name."""
    return link.removeprefix("models:/").replace("/", "-").replace("@", "-")


def _print(
    console: Any,
    monitor: str,
    found: dict[str, JudgedChallenger],
    failures: Sequence[tuple[str, Exception]],
    trained: TrainedView | None,
) -> None:
    """What failed comes first: without it a verdict reads as if nothing had been due."""
    if trained is not None:
        console.print(trained.sentence, markup=False, soft_wrap=True)
    for what, error in failures:
        console.print(f"{what}: {error}", markup=False, soft_wrap=True, style="yellow")
    if failures:
        console.print()
    if not found:
        console.print(f"{monitor}: no challenger could be judged", markup=False)
    else:
        _print_judgements(console, monitor, found)


def _print_judgements(console: Any, monitor: str, found: dict[str, JudgedChallenger]) -> None:
    from pumonitor.cli.terminal import TableColumn, print_table

    console.print(f"[bold]{monitor}[/]: challengers beside the deployed model")
    colors = {"better": "green", "worse": "red", "not yet": "yellow", "cannot be judged": "yellow"}
    views = [one.view() for one in found.values()]
    lines = [
        (view if place == 0 else None, condition)
        for view in views
        for place, condition in enumerate(view.conditions)
    ]

    def of_first(text: Any) -> Any:
        """Of the first line of a challenger alone."""
        return lambda line: "" if line[0] is None else text(line[0])

    def of_value(text: Any) -> Any:
        return lambda line: "" if line[1].value is None else text(line[1])

    columns = [
        TableColumn("challenger", of_first(lambda view: view.challenger)),
        TableColumn(
            "verdict",
            of_first(lambda view: view.verdict),
            style=of_first(lambda view: colors[view.verdict]),
        ),
        TableColumn("difference of", lambda line: str(line[1].metric)),
        TableColumn("value", of_value(lambda one: signed_text(one.value)), is_right=True),
        TableColumn(
            "interval", of_value(lambda one: interval_text(one.low, one.high, as_text=signed_text))
        ),
        TableColumn("labels", of_first(lambda view: f"{view.labels:,}"), is_right=True),
    ]
    print_table(console, lines, columns, box=None, pad_edge=False, show_edge=False)
    for view in views:
        windows = len(view.windows)
        by = f"{view.scored_by}, {windows} window{'s' * (windows != 1)}"
        console.print(f"\n{view.challenger} ({by}): {view.reason}", markup=False, soft_wrap=True)
