"""A sentence with details below it, as text, Markdown or HTML; what is data is never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from markupsafe import escape

from pumonitor.monitor.delivery.notifications.message import Format

_LONGEST_TITLE: Final = 160
_MARKDOWN: Final = re.compile(r"([\\`*\[\]#|~]|(?<!\w)_|_(?!\w))")
"""Slack shows backslashes, so underscores within a word, which emphasise nothing, have none."""
_MENTION: Final = re.compile(r"@(?=\w)")


def title_line(text: str) -> str:
    """One line of at most 160 characters, without line breaks or other control characters."""
    line = plain(text)
    return line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1]}…"


def plain(text: str) -> str:
    """Put on one line, without control characters; "@" in the data mentions nobody."""
    printable = "".join(one if one.isprintable() else " " for one in text)
    return _MENTION.sub("@\u200b", " ".join(printable.split()))


def written(
    sentence: str,
    details: Iterable[tuple[str, str]],
    format: Format,  # noqa: A002 (its name outside)
    *,
    heading: str = "",
) -> str:
    """Write a sentence and its details, as names and values.

    Parameters
    ----------
    sentence : str
    details : iterable of pair of str
    format : {"text", "markdown", "html"}
    heading : str, optional
        Above the sentence, where there are several.
    """
    write = {"text": _as_text, "markdown": _as_markdown, "html": _as_html}[format]
    return write(sentence, details, heading)


def _as_text(sentence: str, details: Iterable[tuple[str, str]], heading: str) -> str:
    lines = [f"{name}: {value}" for name, value in details]
    return "\n".join([*([heading] if heading else []), sentence, *lines])


def _as_markdown(sentence: str, details: Iterable[tuple[str, str]], heading: str) -> str:
    above = [f"**{_in_markdown(heading)}**", ""] if heading else []
    lines = [f"- **{_in_markdown(name)}:** {_value_in_markdown(value)}" for name, value in details]
    return "\n".join([*above, _in_markdown(sentence), "", *lines])


def _as_html(sentence: str, details: Iterable[tuple[str, str]], heading: str) -> str:
    above = f"<h3>{escape(heading)}</h3>\n" if heading else ""
    lines = "".join(
        f"<tr><th align='left'>{escape(name)}</th><td>{_value_in_html(value)}</td></tr>\n"
        for name, value in details
    )
    return f"{above}<p>{escape(sentence)}</p>\n<table>\n{lines}</table>"


def _is_link(value: str) -> bool:
    return re.fullmatch(r"https?://[^\s<>\"'()\[\]]+", value) is not None


def _value_in_markdown(value: str) -> str:
    return value if _is_link(value) else _in_markdown(value)


def _value_in_html(value: str) -> str:
    shown = escape(value)
    return f"<a href='{shown}'>{shown}</a>" if _is_link(value) else str(shown)


def _in_markdown(text: str) -> str:
    """Text escaped for Markdown: some services need entities for < and >, others backslashes."""
    return _MARKDOWN.sub(r"\\\1", text.replace("<", "‹").replace(">", "›"))
