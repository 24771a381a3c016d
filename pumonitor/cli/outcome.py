"""Exit status of commands, and errors as one message on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from pumonitor.errors import InputError, PumonitorError
from pumonitor.plain_text import printable

__all__ = ["ALERTED", "BAD_INPUT", "FAILED", "errors_as_messages"]

ALERTED: Final = 1
"""Everything worked, and what it found is bad: only where that was asked for."""

BAD_INPUT: Final = 2
"""Bad usage or bad input: what was asked or given has to change."""

FAILED: Final = 3
"""Something failed that was asked for properly."""


@contextmanager
def errors_as_messages() -> Iterator[None]:
    """Say an expected error on stderr, without a traceback, and exit with its status."""
    try:
        yield
    except PumonitorError as error:
        typer.secho("Error: ", err=True, fg=typer.colors.RED, bold=True, nl=False)
        typer.echo(printable(str(error)), err=True)
        raise typer.Exit(BAD_INPUT if isinstance(error, InputError) else FAILED) from None
