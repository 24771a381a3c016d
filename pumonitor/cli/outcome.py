"""Exit status of commands, and errors as one message on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from pumonitor.cli.addresses import masked
from pumonitor.errors import InputError, PumonitorError
from pumonitor.plain_text import printable

ALERTED: Final = 1
"""Everything worked and an alert fires; only with --fail-on-alert."""

NOT_BETTER: Final = 1
"""Everything worked, and the gate does not call a challenger better."""

BAD_INPUT: Final = 2
"""Bad usage or bad input: the options, the configuration or the data have to change."""

FAILED: Final = 3
"""An operation failed although its input was valid."""


@contextmanager
def errors_as_messages() -> Iterator[None]:
    """Context that prints an expected error on stderr, without traceback, and exits."""
    try:
        yield
    except PumonitorError as error:
        typer.secho("Error: ", err=True, fg=typer.colors.RED, bold=True, nl=False)
        typer.echo(printable(masked(str(error))), err=True)
        raise typer.Exit(BAD_INPUT if isinstance(error, InputError) else FAILED) from None


@contextmanager
def settings_as_input() -> Iterator[None]:
    """Context in which an option out of range is bad input.

    The message of the error says which option it is and what it must satisfy.
    """
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None
