"""A configuration with other rules for one monitor, to simulate them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import TypeAdapter, ValidationError

from pumonitor.errors import InputError, shortened
from pumonitor.monitor.config.configuration import Configuration
from pumonitor.monitor.config.file import problems_of, read_configuration_text
from pumonitor.monitor.config.sections.monitor import Monitor
from pumonitor.monitor.config.sections.rules import Rule
from pumonitor.monitor.config.text.problems import Problem, problems_error
from pumonitor.monitor.config.text.yaml_document import read_document

_RULES: Final = TypeAdapter(tuple[Rule, ...])


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


def with_rule(monitor: Monitor, text: str) -> Monitor:
    """A monitor with one rule in place of its own; no file and no variable is read.

    Parameters
    ----------
    monitor : Monitor
    text : str
        The rule in YAML.

    Raises
    ------
    InputError
        If it is no YAML mapping or is invalid.
    """
    below = ("monitors", monitor.name, "rules")
    given = [_rule(text, called="the rule", trusted=False)]
    try:
        rules = _RULES.validate_python(given)
        monitor.check_rules(rules)
    except ValidationError as error:
        problems = [
            Problem(place=one.place[4:], message=one.message)
            for one in problems_of(error, below=below)
        ]
        raise problems_error("the rule", problems) from None
    except ValueError as error:
        msg = f"the rule: {str(error).removeprefix('rules[0]').lstrip(': ')}"
        raise InputError(msg) from None
    return monitor.model_copy(update={"rules": rules})


def _rule(text: str, *, called: str = "--rule", trusted: bool = True) -> dict[str, Any]:
    """Read one rule."""
    shown = repr(shortened(text, most=200))
    read = read_document(text, name=f"{called} {shown}", trusted=trusted)
    if read.problems:
        raise problems_error(f"{called} {shown}", read.problems)
    if not isinstance(read.value, dict):
        msg = f"{called} must be a mapping such as '{{metric: aul, below: 0.8}}', got {shown}"
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
