"""Progress on stderr: a bar on a terminal, lines in the logs of slow commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

Step = Callable[[str, float | None], None]
"""Called with a step's name and the share of it done, None if that is unknown."""


@contextmanager
def progress_bar(*, logged_as: str | None = None) -> Iterator[Step]:
    """Context that shows steps; the bar disappears at its end.

    Parameters
    ----------
    logged_as : str, optional
        Name of the command in the lines that are written if stderr is no terminal: one for each
        stage and each quarter of one. Without it no lines are written.
    """
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from pumonitor.cli.terminal import Console

    console = Console(stderr=True)
    if not console.is_terminal and logged_as is not None:
        yield _Lines(logged_as)
        return
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        # Shown while modules are loaded, until the first step.
        task = progress.add_task("Beginning", total=None)

        def step(name: str, done: float | None) -> None:
            if done is None:
                progress.update(task, description=name, total=None)
            else:
                progress.update(task, description=name, total=1.0, completed=done)

        yield step


class _Lines:
    """Writes steps as lines of a log."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._stage = ""
        self._quarters = 0

    def __call__(self, name: str, done: float | None) -> None:
        if done is None:
            if name != self._stage:
                self._say(name)
                self._quarters = 0
            self._stage = name
        elif int(4 * done) > self._quarters:
            self._quarters = int(4 * done)
            self._say(f"{name}, {25 * self._quarters}% done")

    def _say(self, text: str) -> None:
        typer.echo(f"pumonitor {self._command}: {text}", err=True)
