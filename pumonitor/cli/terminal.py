"""What writes to terminals and logs: text that comes from data stays text there."""

from __future__ import annotations

import logging
from typing import Any

from rich.console import Console as RichConsole

from pumonitor.plain_text import one_line, printable

__all__ = ["Console", "OneLineFormatter"]


class Console(RichConsole):
    """Rich's, which lets control characters through: what it colours is ours, all else is data."""

    def render_str(self, text: str, **options: Any) -> Any:
        """As Rich does, with escapes in place of control characters but line breaks."""
        return super().render_str(printable(text), **options)


class OneLineFormatter(logging.Formatter):
    """One line for each record; tracebacks follow below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        """Line breaks and control characters of a message are escaped."""
        return one_line(super().formatMessage(record))
