"""The README and the pages of docs/, with the examples in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Block", "blocks", "documents"]

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r"^(?:<!-- example: (?P<note>[^\n]*) -->\n+)?"
    r"(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)```",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a document."""

    document: str
    line: int
    language: str
    text: str
    note: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def documents() -> list[Path]:
    """Those that people wrote."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[Block]:
    """All blocks of a language, in order."""
    found = []
    for document in documents():
        text = document.read_text(encoding="utf-8")
        for match in _BLOCK.finditer(text):
            if match["language"] != language:
                continue
            lines = match["text"].splitlines()
            found.append(
                Block(
                    document=str(document.relative_to(ROOT)),
                    line=text.count("\n", 0, match.start("language")) + 1,
                    language=language,
                    text="\n".join(line.removeprefix(match["indent"]) for line in lines) + "\n",
                    note=match["note"] or "",
                )
            )
    return found
