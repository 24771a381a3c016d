"""A configuration with other rules for one monitor, to simulate them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from pumonitor.errors import InputError, shortened
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.file import read_configuration_text
from pumonitor.monitor.config.text.problems import Problem, problems_error
from pumonitor.monitor.config.text.yaml_document import read_document

__all__ = ["with_rules"]


def with_rules(path: Path, monitor: str, rules: Sequence[str]) -> Configuration:
    """Read a configuration file with a monitor's rules replaced.

    Parameters
    ----------
    path : Path
    monitor : str
    rules : sequence of str
        One rule in YAML each.

    Raises
    ------
    InputError
        If a rule is no YAML mapping or is invalid. The message quotes the rule instead of a line.
    """
    document = read_document(path.read_text(encoding="utf-8-sig"), name=str(path)).value
    document["monitors"][monitor]["rules"] = [_rule(text) for text in rules]
    text = yaml.safe_dump(document, sort_keys=False)
    make_error = partial(_rules_error, monitor=monitor, rules=rules)
    return read_configuration_text(
        text, path=path, needs="ledger", make_error=make_error
    ).configuration


def _rule(text: str) -> dict[str, Any]:
    """Read one rule from the command line."""
    shown = repr(shortened(text, most=200))
    read = read_document(text, name=f"--rule {shown}")
    if read.problems:
        raise problems_error(f"--rule {shown}", read.problems)
    if not isinstance(read.value, dict):
        msg = f"--rule must be a mapping such as '{{metric: aul, below: 0.8}}', got {shown}"
        raise InputError(msg)
    return read.value


def _rules_error(problems: Sequence[Problem], *, monitor: str, rules: Sequence[str]) -> InputError:
    """The error for all problems, with the text of each rule in place of its line."""
    own = ("monitors", monitor, "rules")
    numbered = re.compile(rf"(?:{re.escape(monitor)}\.)?rules\[(\d+)\]")
    messages: list[str] = []
    for problem in problems:
        place = problem.place
        if place[:3] == own and len(place) > 3:
            name = f"--rule {rules[int(place[3])]!r}"
            messages.append(
                str(problems_error(name, [Problem(place=place[4:], message=problem.message)]))
            )
        else:
            # Checks of rules against each other, their monitor and destinations.
            messages.append(
                numbered.sub(lambda at: f"--rule {rules[int(at[1])]!r}", problem.message)
            )
    return InputError("\n".join(dict.fromkeys(messages)))
