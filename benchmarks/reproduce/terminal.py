"""What the terminal shows: a bar for each row under way, a table for each paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.reproduce import words
from benchmarks.reproduce.rows import Paper, Row
from benchmarks.reproduce.run import Outcome, run_row

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["paper_table", "run_with_progress"]

_STYLE: Final = {"inside": "green", "outside": "bold red", "shown": "dim"}


def run_with_progress(row: Row, *, folder: Path, quick: bool, fresh: bool) -> Outcome:
    """Run a row with a bar on stderr; where nobody watches, with a line when it is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    console = Console(stderr=True, highlight=False)
    with Progress(
        "{task.description}",
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(row.id, total=None)

        def report(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        outcome = run_row(row, folder=folder, quick=quick, fresh=fresh, report=report)
    how = "no data" if outcome.result is None else "stored" if outcome.from_cache else "computed"
    console.print(f"{row.id}: {how}", style="dim", markup=False)
    return outcome


def paper_table(paper: Paper, outcomes: list[Outcome]) -> Table:
    """Figure, printed, ours and whether they agree, row by row."""
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=f"{paper.title}\n{paper.authors}",
        title_justify="left",
        title_style="bold",
        header_style="dim",
    )
    table.add_column("Figure", overflow="fold")
    table.add_column("Printed", justify="right", no_wrap=True)
    table.add_column("Ours ± Monte-Carlo error", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for outcome in outcomes:
        title = Text(f"{outcome.row.title} ({outcome.repetitions} repetitions)", style="bold")
        table.add_row(title, "", "", "", end_section=False)
        if outcome.result is None:
            table.add_row(Text(f"  {outcome.missing}", style="yellow"), "", "", "no data")
            table.add_section()
            continue
        for figure in outcome.result.figures:
            verdict = words.verdict(figure)
            table.add_row(
                Text(f"  {figure.name}"),
                words.printed(figure),
                words.ours(figure),
                Text(verdict, style=_STYLE[verdict]),
            )
        table.add_section()
    return table
