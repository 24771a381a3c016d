"""A configuration with other rules for one monitor, to try them out."""

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
    """The configuration of a file with these rules, as YAML each, in place of a monitor's.

    Raises
    ------
    InputError
        If a rule is no YAML mapping, or means nothing; it quotes the rule, which is in no file.
    """
    document = read_document(path.read_text(encoding="utf-8-sig"), name=str(path)).value
    document["monitors"][monitor]["rules"] = [_rule(text) for text in rules]
    text = yaml.safe_dump(document, sort_keys=False)
    tell = partial(_rules_error, monitor=monitor, rules=rules)
    return read_configuration_text(text, path=path, needs="ledger", tell=tell).configuration


def _rule(text: str) -> dict[str, Any]:
    """What was typed, read as a file is."""
    shown = repr(shortened(text, most=200))
    read = read_document(text, name=f"--rule {shown}")
    if read.problems:
        raise problems_error(f"--rule {shown}", read.problems)
    if not isinstance(read.value, dict):
        msg = f"--rule takes a mapping such as '{{metric: aul, below: 0.8}}', got {shown}"
        raise InputError(msg)
    return read.value


def _rules_error(problems: Sequence[Problem], *, monitor: str, rules: Sequence[str]) -> InputError:
    """What is wrong, by the rule as it was typed."""
    own = ("monitors", monitor, "rules")
    numbered = re.compile(rf"(?:{re.escape(monitor)}\.)?rules\[(\d+)\]")
    told: list[str] = []
    for problem in problems:
        place = problem.place
        if place[:3] == own and len(place) > 3:
            name = f"--rule {rules[int(place[3])]!r}"
            told.append(
                str(problems_error(name, [Problem(place=place[4:], message=problem.message)]))
            )
        else:
            # What rules need of each other, of their monitor and of destinations.
            told.append(numbered.sub(lambda at: f"--rule {rules[int(at[1])]!r}", problem.message))
    return InputError("\n".join(dict.fromkeys(told)))
