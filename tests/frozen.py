"""Results of long simulations as they were: `make test-slow` repeats them, `make test` a few runs.

`frozen.json` holds each result with its day and command. After a change that is meant to move
one, write it anew: the command there, with FREEZE=1 in front.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

FILE = Path(__file__).with_suffix(".json")


def shares(runs: int) -> float:
    """The least share of `runs` intervals at 95% that hold: three binomial errors below."""
    return float(0.95 - 3 * (0.95 * 0.05 / runs) ** 0.5)


def assert_as_frozen(
    request: pytest.FixtureRequest, found: Mapping[str, float], *, tolerance: float = 0.025
) -> None:
    """Hold the numbers of a slow test to those of the day they were frozen.

    `tolerance` is what another processor or another NumPy may change: a few runs of hundreds.
    """
    frozen = json.loads(FILE.read_text()) if FILE.exists() else {}
    test = request.node.nodeid
    numbers = {name: round(float(value), 4) for name, value in found.items()}
    if os.environ.get("FREEZE"):
        frozen[test] = {
            "day": f"{datetime.now(UTC):%Y-%m-%d}",
            "command": f"pytest -m slow '{test}'",
            "found": numbers,
        }
        FILE.write_text(json.dumps(frozen, indent=1, sort_keys=True) + "\n")
    assert test in frozen, f"no result is frozen: FREEZE=1 pytest -m slow '{test}'"
    assert numbers == pytest.approx(frozen[test]["found"], abs=tolerance)
