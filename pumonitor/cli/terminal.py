"""Write to terminals and logs with control characters of data escaped."""

from __future__ import annotations

import logging
from typing import Any

from rich.console import Console as RichConsole

from pumonitor.plain_text import one_line, printable


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
