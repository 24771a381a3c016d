"""Commands in the documentation are commands: their options are there, targets and modules too."""

from __future__ import annotations

import importlib.util
import re
import shlex

import pytest

from docs.from_code.commands import all_commands
from tests.docs.documents import ROOT, Block, blocks

SHELL = blocks("sh")
_COMMANDS = all_commands()
_TARGETS = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def lines(block: Block) -> list[list[str]]:
    """Its commands, word by word; what comes after a pipe or a semicolon is another one."""
    joined = block.text.replace("\\\n", " ")
    found = []
    for line in joined.splitlines():
        for part in re.split(r"\s(?:\|{1,2}|&&|;)\s", line):
            words = shlex.split(part, comments=True)
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words = words[1:]
            if words:
                found.append(words)
    return found


def problem(words: list[str]) -> str | None:
    """What is wrong with a command; None where nothing is."""
    if words[0] == "pumonitor":
        return _problem_of_ours(words[1:])
    if words[0] == "make":
        unknown = [one for one in words[1:] if "=" not in one and one not in _TARGETS]
        return f"make has no target {unknown}" if unknown else None
    if words[:2] == ["python", "-m"] and words[2].startswith(("benchmarks", "pumonitor")):
        return None if importlib.util.find_spec(words[2]) else f"there is no module {words[2]}"
    return None


def _problem_of_ours(words: list[str]) -> str | None:
    if words in (["--help"], ["--version"]):
        return None
    for length in (2, 1):
        name = " ".join(words[:length])
        if name in _COMMANDS:
            break
    else:
        return f"pumonitor has no command {words[0]!r}"
    # Variables are the reader's own.
    given = [re.sub(r"\$\{\w+\}", "value", one) for one in words[length:]]
    rest = [re.split(r"(?<=\w)[<>]", one)[0] for one in given]
    if ">" in rest:
        rest = rest[: rest.index(">")]
    if rest == ["--help"]:
        return None
    try:
        _COMMANDS[name].make_context(name, rest)
    except Exception as error:  # noqa: BLE001 (whatever the parser raises is the finding)
        return f"{name}: {getattr(error, 'message', error)}"
    return None


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_commands_can_be_given(block: Block) -> None:
    assert [found for words in lines(block) if (found := problem(words))] == []


def test_a_wrong_command_option_target_or_module_is_noticed() -> None:
    wrong = ["pumonitor evaluat x", "pumonitor run --config a --no-such", "make no-such"]
    wrong += ["python -m benchmarks.no_such", "pumonitor plan card-fraud"]
    assert [problem(shlex.split(one)) is not None for one in wrong] == [True] * 5
    assert SHELL != []
