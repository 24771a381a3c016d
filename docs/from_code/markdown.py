"""Pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["cell", "table"]


def cell(text: str) -> str:
    """Text within a table: on one line, its bars escaped; within code they may stand."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(one if one.startswith("`") else one.replace("|", "\\|") for one in parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; without rows nothing."""
    lines = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines]) + "\n"
