"""A configuration with other rules for one monitor, to try them out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml

from pumonitor.errors import InputError
from pumonitor.service.config import Configuration
from pumonitor.service.config_file import read_configuration_text
from pumonitor.service.yaml_document import read_document

__all__ = ["with_rules"]


def with_rules(path: Path, monitor: str, rules: Sequence[str]) -> Configuration:
    """The configuration of a file with these rules, as YAML each, in place of a monitor's.

    Raises
    ------
    InputError
        If a rule is no YAML mapping, or means nothing.
    """
    document = read_document(path.read_text(encoding="utf-8-sig"), name=str(path)).value
    found = []
    for text in rules:
        try:
            rule = yaml.safe_load(text)
        except yaml.YAMLError:
            rule = None
        if not isinstance(rule, dict):
            msg = f"a rule is a mapping such as '{{metric: aul, below: 0.8}}', got {text!r}"
            raise InputError(msg)
        found.append(rule)
    document["monitors"][monitor]["rules"] = found
    text = yaml.safe_dump(document, sort_keys=False)
    return read_configuration_text(text, path=path, needs="ledger").configuration
