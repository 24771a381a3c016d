"""A progress bar on stderr, only where somebody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Step", "progress_bar"]

Step = Callable[[str, float | None], None]
"""Called with a step's name and the share of it done; None when that cannot be told."""


@contextmanager
def progress_bar() -> Iterator[Step]:
    """Show steps as they go, and nothing once they are done or when stderr is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task("", total=1.0)

        def step(name: str, done: float | None) -> None:
            if done is None:
                progress.update(task, description=name, total=None)
            else:
                progress.update(task, description=name, total=1.0, completed=done)

        yield step
