"""Configuration in the documentation is valid: whole files, and pieces put into one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.from_code.configuration import schema
from pumonitor.errors import InputError
from pumonitor.monitor.config.file import read_configuration_text
from tests.docs.documents import Block, blocks

YAML = blocks("yaml")
_BASE = """
state: sqlite:///pumonitor.db
destinations:
  oncall: {webhook: https://example.org/oncall}
  hook: {webhook: https://example.org/hook}
  retrain: {webhook: https://example.org/retrain}
monitors:
  card-fraud:
    predictions:
      source: predictions.parquet
      id: id
      time: scored_at
      score: score
      segments: [country, merchant]
    positives: {source: positives.parquet, id: id, known_at: known_at}
    window: 1d
    maturity: 30d
    threshold: 0.8
    reference: {start: 2026-01-01, end: 2026-02-01}
"""
_VALUES = {"_PASSWORD": "pw", "_SECRET": "a-secret-of-enough-letters", "PAGER_URL": "json://host"}


def whole(given: Any) -> dict[str, Any]:
    """A configuration with the piece in its place."""
    configuration: dict[str, Any] = yaml.safe_load(_BASE)
    (monitor,) = configuration["monitors"].values()
    if isinstance(given, list):
        monitor["rules"] = given
        return configuration
    if "monitors" in given and all("predictions" in one for one in given["monitors"].values()):
        return dict(given)
    described = schema()
    for key, value in given.items():
        if key == "monitors":
            (piece,) = value.values()
            monitor.update(piece)
        elif key in ("predictions", "positives"):
            monitor[key] |= value
        elif key in described["$defs"]["Monitor"]["properties"]:
            monitor[key] = value
        elif key == "destinations":
            configuration[key] |= value
        elif key in described["properties"]:
            configuration[key] = value
        else:
            pytest.fail(f"{key} is no key of a configuration: mark the block as text")
    return configuration


def environment(text: str) -> dict[str, str]:
    """A value for each variable that is named."""
    found = {}
    for name in re.findall(r"\$\{(\w+)\}", text):
        ends = (value for end, value in _VALUES.items() if name.endswith(end))
        default = "postgresql+psycopg://me@host/db" if name.startswith("WAREHOUSE") else None
        found[name] = next(ends, default or "https://example.org/x")
    return found


def check(text: str) -> None:
    """Read it as `pumonitor check` does, up to opening the tables."""
    # Braces of ${NAME} are read by us and not by YAML, which takes them for those of a mapping.
    plain = re.sub(r"\$\{(\w+)\}", r"<<\1>>", text)
    dumped = yaml.safe_dump(whole(yaml.safe_load(plain)), sort_keys=False)
    written = re.sub(r"<<(\w+)>>", r"${\1}", dumped)
    read_configuration_text(written, path=Path("pumonitor.yaml"), environment=environment(text))


@pytest.mark.parametrize("block", [one for one in YAML if not one.note], ids=str)
def test_configuration_is_valid(block: Block) -> None:
    try:
        check(block.text)
    except InputError as error:
        pytest.fail(str(error))


def test_a_wrong_key_and_a_wrong_value_are_noticed() -> None:
    for wrong in ("- {metric: aul, belw: 0.7}", "- {metric: aull, below: 0.7}"):
        with pytest.raises(InputError):
            check(wrong)
    assert YAML != []
