"""Write to terminals and logs with control characters of data escaped; tables and JSON of views."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import typer
from rich.console import Console as RichConsole

from pumonitor.plain_text import one_line, printable
from pumonitor.plain_values import plain


class Console(RichConsole):
    """Rich's console with control characters escaped, as text may come from data."""

    def render_str(self, text: str, **options: Any) -> Any:
        """Render text like Rich, with control characters except line breaks escaped."""
        return super().render_str(printable(text), **options)


class OneLineFormatter(logging.Formatter):
    """Log formatter with one line per record; tracebacks follow below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        """The message with line breaks and control characters escaped."""
        return one_line(super().formatMessage(record))


class TableColumn(NamedTuple):
    """A column of a table: a heading, and the text and the colour of a view's cell."""

    heading: str
    text: Callable[[Any], str]
    style: Callable[[Any], str] = lambda view: ""
    is_right: bool = False


def print_table(
    console: RichConsole, views: Iterable[Any], columns: Sequence[TableColumn], **look: Any
) -> None:
    """Print a row for each view.

    Parameters
    ----------
    console : Console
    views : iterable
    columns : sequence of TableColumn
    **look
        As Rich's table takes it.
    """
    from rich.markup import escape
    from rich.table import Table

    table = Table(**look)
    for column in columns:
        table.add_column(column.heading, justify="right" if column.is_right else "left")
    for view in views:
        cells = ((escape(column.text(view)), column.style(view)) for column in columns)
        table.add_row(*(f"[{style}]{text}[/]" if style else text for text, style in cells))
    console.print(table)


def print_json(value: Any) -> None:
    """Print JSON of a view, a record, or several."""
    typer.echo(json.dumps(plain(value), indent=1, allow_nan=False))
