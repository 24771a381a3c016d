"""One page for each decision of ARCHITECTURE.md: a paragraph there that begins in bold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from docs.from_code.markdown import slug

__all__ = ["Decision", "read"]

_ARCHITECTURE = Path(__file__).parents[2] / "ARCHITECTURE.md"
_BEGINS = re.compile(r"^\*\*(.+?)\*\*", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision, with its title and its text."""

    title: str
    text: str

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return slug(self.title)

    @property
    def page(self) -> str:
        """Markdown; found by the search after the pages for users."""
        return f"---\nsearch: {{boost: 0.2}}\n---\n\n# {self.title}\n\n{self.text}\n"


def read() -> list[Decision]:
    """All decisions, in the order of the file."""
    architecture = _ARCHITECTURE.read_text(encoding="utf-8")
    _, _, after = architecture.partition("## Decisions and their reasons\n")
    found = []
    for text in re.split(r"^(?=\*\*)", after, flags=re.MULTILINE):
        begin = _BEGINS.match(text)
        if begin is None:
            continue
        title = begin[1].strip(" .,:").replace("\n", " ").replace("`", "")
        body = text.partition("\n## ")[0].strip()
        found.append(Decision(title=title, text=body))
    return found
