"""Progress on stderr: a bar where somebody watches, lines in the logs of slow commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

__all__ = ["Step", "progress_bar"]

Step = Callable[[str, float | None], None]
"""Called with a step's name and the share of it done; None when that cannot be told."""


@contextmanager
def progress_bar(*, logged_as: str | None = None) -> Iterator[Step]:
    """Show steps as they go; nothing of the bar is left once they are done.

    Parameters
    ----------
    logged_as : str, optional
        Name of the command in the lines that it writes where stderr is no terminal: one for each
        stage and each quarter of one. Without it there are none.
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
        # Until the first step is told, modules are loaded.
        task = progress.add_task("Beginning", total=None)

        def step(name: str, done: float | None) -> None:
            if done is None:
                progress.update(task, description=name, total=None)
            else:
                progress.update(task, description=name, total=1.0, completed=done)

        yield step


class _Lines:
    """Steps as lines of a log."""

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
