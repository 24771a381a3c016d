"""`pumonitor demo`: the whole walk on real e-mails, with the truth beside the estimates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pumonitor.cli.outcome import errors_as_messages
from pumonitor.cli.progress import progress_bar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from pumonitor.demo.comparison import Comparison
    from pumonitor.demo.emails import ScoredMails

__all__ = ["demo"]


def demo(
    *,
    keep: Annotated[
        Path,
        typer.Option(
            metavar="DIRECTORY", help="Where the scored mails, MLflow's store and the report stay."
        ),
    ] = Path("pumonitor-demo"),
) -> None:
    """Evaluate a spam filter on 3,921 real e-mails, and compare with the truth.

    A model is trained on the first month; of the spam in the next two, users report a share.
    The reports are all that the evaluation sees. The true labels are in the data, which is the
    point: every estimate can be held against them. Works offline, in under a minute.
    """
    from rich.console import Console

    with errors_as_messages():
        console = Console(highlight=False)
        with progress_bar() as step:
            from pumonitor.demo.audit import audited_share
            from pumonitor.demo.comparison import compare
            from pumonitor.demo.emails import THRESHOLD, score_later_mails
            from pumonitor.demo.tracking import evaluate_in_mlflow

            _make_directory(keep)
            step("Training on the first month, scoring the next two", 0.05)
            mails = score_later_mails()
            mails.frame.to_csv(keep / "scored.csv", index=False)
            audit = audited_share(mails.frame["spam"])
            # The truth the estimates are held against is that of these very mails.
            config = {"threshold": THRESHOLD, "target": "window"}
            step("Evaluating in MLflow, share of spam from the scores", 0.3)
            automatic = evaluate_in_mlflow(
                mails.frame,
                directory=keep,
                run_name="share of spam from the scores",
                report="report.html",
                config={**config, "class_prior": "auto"},
            )
            step("Evaluating in MLflow, share of spam from an audit", 0.7)
            audited = evaluate_in_mlflow(
                mails.frame,
                directory=keep,
                run_name="share of spam from an audit",
                report="report-audit.html",
                config={**config, "class_prior": audit},
            )
            compared = compare(mails.frame, automatic, audited)
        _print_story(console, mails, audit)
        console.print(_table(compared))
        _print_verdict(console, compared)
        _print_next(console, keep)


def _make_directory(directory: Path) -> None:
    from pumonitor.errors import InputError

    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"--keep {directory} cannot be made: {error.strerror or error}"
        raise InputError(msg) from None


def _print_story(console: Console, mails: ScoredMails, audit: tuple[float, float, float]) -> None:
    from pumonitor.demo.audit import AUDITED_MAILS
    from pumonitor.demo.emails import REPORTED_SHARE, THRESHOLD
    from pumonitor.report.numbers import percent_with_interval, rows

    frame = mails.frame
    reported, spam = int(frame["reported"].sum()), int(frame["spam"].sum())
    first, last = frame["time"].iloc[0], frame["time"].iloc[-1]
    told = (
        "[bold]A spam filter in production, where only reports tell[/]",
        f"Real mails of one mailbox (OpenIntro, 2012). A model trained on the first "
        f"{rows(mails.n_trained)} has scored the next {rows(len(frame))}, {first.day} {first:%B} "
        f"to {last.day} {last:%B}; {THRESHOLD:g} and above goes to the spam folder.",
        f"Users reported {rows(reported)} of the {rows(spam)} spam mails: simulated, each with "
        f"probability {REPORTED_SHARE:g}. The evaluation sees scores and reports, no true label.",
        f"Somebody also checked {AUDITED_MAILS} mails picked at random (simulated too): "
        f"{percent_with_interval(*audit)} are spam.",
    )
    console.print()
    for sentence in told:
        console.print(sentence)
        console.print()


def _table(compared: Sequence[Comparison]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("\n95% intervals", no_wrap=True)
    table.add_column("\nNaive", justify="right", style="dim")
    table.add_column("Share of spam from\nthe scores alone", no_wrap=True)
    table.add_column("Share of spam from\nthe audit", no_wrap=True)
    table.add_column("\nTruth", justify="right", style="bold")
    for row in compared:
        cells = [
            f"[green]{_estimate(*estimate)}[/]" if holds else f"[red]{_estimate(*estimate)}*[/]"
            for estimate, holds in zip(row.estimates, row.holds, strict=True)
        ]
        table.add_row(_title(row), _number(row.uncorrected), *cells, _number(row.truth))
    return table


def _title(row: Comparison) -> str:
    from pumonitor.names import TITLES

    return "Share of spam" if row.name == "class_prior" else TITLES[row.name]


def _number(value: float) -> str:
    return f"{value:.3f}"


def _estimate(value: float, low: float, high: float) -> str:
    """Clip to what the metrics here can be at most; every one of them is at most 1."""
    value, low, high = (min(max(part, -1.0), 1.0) for part in (value, low, high))
    return rf"{_number(value)} \[{_number(low)}, {_number(high)}]"


def _print_verdict(console: Console, compared: Sequence[Comparison]) -> None:
    console.print(
        "\n[dim]Naive: every mail nobody reported counted as good. An interval with a * misses "
        "the truth.[/]\n"
    )
    for which, prior in enumerate(("the scores alone", "the audited share")):
        missed = [_title(row) for row in compared if not row.holds[which]]
        but = f"; missed: {', '.join(missed)}" if missed else ""
        held = len(compared) - len(missed)
        console.print(f"With {prior}, {held} of {len(compared)} intervals hold the truth{but}.")
    console.print(
        "\nScores and reports alone tell the share of spam only roughly, and too high where good "
        "mail looks like spam; a small audit sharpens all that depends on it. AUL and recall do "
        "not."
    )


def _print_next(console: Console, directory: Path) -> None:
    from pumonitor.demo.emails import THRESHOLD
    from pumonitor.demo.tracking import store_uri

    steps = {
        "Open the report (and report-audit.html beside it)": str(directory / "report.html"),
        "See the runs": f"mlflow ui --backend-store-uri {store_uri(directory)}",
        "Try it on the file": (
            f"pumonitor evaluate {directory / 'scored.csv'} --labels reported --scores score "
            f"--threshold {THRESHOLD:g}"
        ),
    }
    console.print()
    for title, command in steps.items():
        console.print(f"[bold]{title}[/]")
        # Not wrapped, so that it can be copied.
        console.print(f"  {command}", markup=False, soft_wrap=True)
    console.print()
