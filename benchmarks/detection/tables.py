"""Tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

__all__ = ["show"]


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as wide as it needs to be; the first column is text, others are numbers."""
    table = Table(title=title, title_justify="left")
    for at, column in enumerate(columns):
        table.add_column(column, justify="right" if at else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    wanted = Console(width=1000).measure(table).maximum
    Console(width=wanted).print(table)
