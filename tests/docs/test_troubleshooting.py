"""Messages that the troubleshooting page quotes are messages of the program."""

from __future__ import annotations

import ast
import re

import pytest

from tests.docs.documents import ROOT

_PAGE = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
_SECTIONS = re.findall(
    r"^\| the message says \|.*?\n(.*?)(?=^\S*#|\Z)", _PAGE, re.MULTILINE | re.DOTALL
)
_QUOTED = [
    quoted
    for section in _SECTIONS
    for row in section.splitlines()
    if row.startswith("| `")
    for quoted in re.findall(r"`([^`]+)`", row.split("|")[1])
]


@pytest.fixture(scope="module")
def program() -> str:
    """All text of the program, with a gap where a value is put in."""
    found = []
    for file in (ROOT / "pumonitor").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = (getattr(one, "value", None) for one in node.values)
                found.append("…".join(one if isinstance(one, str) else "" for one in parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n".join(re.sub(r"…+", "…", one) for one in found)


def _pieces(quoted: str) -> list[str]:
    """What is left of a message without the values in it."""
    parts = re.split(r"\.\.\.|'[^']*'|\bNAME\b|:start\b|extension \w+", quoted)
    return [one.strip(" ,:") for one in parts if len(one.strip(" ,:")) > 5]


@pytest.mark.parametrize("quoted", _QUOTED)
def test_the_program_says_so(quoted: str, program: str) -> None:
    assert [one for one in _pieces(quoted) if one not in program] == []


def test_messages_are_quoted_and_others_would_be_noticed(program: str) -> None:
    assert len(_QUOTED) >= 20
    assert "no such message anywhere" not in program
