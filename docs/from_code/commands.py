"""The page of commands, from the command line application itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import typer.main
from typer.core import TyperCommand

from docs.from_code.markdown import table
from pumonitor.cli.app import app

__all__ = ["all_commands", "page"]

_EXAMPLE = re.compile(r"Example: (pumonitor .*?)\.?$")
_BRACES = re.compile(r"\{(\w+)\}")
_NOTES = re.compile(r"\[((?:required|default|env var)[^\]]*)\]")

_HEAD = """# Commands

Made from the program itself; `pumonitor COMMAND --help` prints the same. Exit statuses and environment
variables are on [a page of their own](environment.md).

"""


def all_commands() -> dict[str, TyperCommand]:
    """Each command under its full name, such as "alerts list"."""
    return dict(_below(typer.main.get_command(app), ""))


def _below(command: object, name: str) -> Iterator[tuple[str, TyperCommand]]:
    for part, one in getattr(command, "commands", {}).items():
        yield from _below(one, f"{name} {part}".strip())
    if not hasattr(command, "commands"):
        yield name, command  # type: ignore[misc]


def page() -> str:
    """Markdown."""
    return _HEAD + "\n".join(_described(name, one) for name, one in all_commands().items())


def _described(name: str, command: TyperCommand) -> str:
    context = command.make_context(name, [], resilient_parsing=True)
    _, _, usage = " ".join(command.get_usage(context).split()).partition(f"{name} ")
    usage = _BRACES.sub(r"\1", usage.replace("[[", "[").replace("]]", "]"))
    paragraphs = [" ".join(one.split()) for one in (command.help or "").split("\n\n")]
    lines = [f"## {name}", "", f"```text\npumonitor {name} {usage}\n```", ""]
    for one in paragraphs:
        lines += [_EXAMPLE.sub(r"Example: `\1`", one), ""]
    rows = []
    for option in command.params:
        names, said = option.get_help_record(context) or ("", "")
        if option.name == "help" or not names:
            continue
        head = f"`{names}`"
        rows.append((head, _NOTES.sub(lambda found: f"*{found[1]}*", said)))
    lines.append(table(("argument or option", "meaning"), rows))
    return "\n".join(lines) + "\n"
