"""Texts of HTML templates: what stands between tags of blocks, and what is read aloud."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

__all__ = ["texts_of_template"]

_STATEMENT: Final = re.compile(r"\{%.*?%\}|\{#.*?#\}", flags=re.DOTALL)
_FILLED: Final = re.compile(r"\{\{\s*([a-z_.]+).*?\}\}", flags=re.DOTALL)
_INLINE: Final = frozenset({"a", "b", "code", "em", "i", "small", "span", "strong", "time"})
_READ: Final = frozenset({"alt", "aria-label", "placeholder", "title"})
_SILENT: Final = frozenset({"script", "style"})


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._words = ""
        self._silent = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _INLINE:
            self.end()
        self._silent = tag in _SILENT
        self.found += [value for name, value in attrs if name in _READ and value]

    def handle_endtag(self, tag: str) -> None:
        if tag not in _INLINE:
            self.end()
        self._silent = False

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._words += data

    def end(self) -> None:
        """Take what has been read as one text."""
        self.found.append(self._words)
        self._words = ""


def texts_of_template(source: str) -> list[str]:
    """Texts of two words or more, in order and each once; `{name}` for what is filled in.

    Examples
    --------
    >>> texts_of_template('<p>No <b>{{ what.title | lower }}</b> yet{% if x %}.{% endif %}</p><p>One')
    ['No {title} yet.']
    """
    reader = _Texts()
    plain = _STATEMENT.sub("", source)
    reader.feed(_FILLED.sub(lambda found: "{" + found[1].rpartition(".")[2] + "}", plain))
    reader.end()
    texts = (" ".join(text.split()) for text in reader.found)
    return list(dict.fromkeys(text for text in texts if _is_sentence(text)))


def _is_sentence(text: str) -> bool:
    return len(re.findall(r"(?<!\{)\b[A-Za-z][a-z']+", text)) > 1
