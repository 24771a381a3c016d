"""Numbers and times have one text: no other file formats a float, a moment or a share."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FORMATS = re.compile(r"\.\{?\w|%|[.\d][efg]$")
"""Of a number with a precision, a share, or a moment; `:,` of whole numbers and `:g`, which gives
back in a message what somebody wrote, are free."""
SUSPICIOUS = re.compile(r"\{[^{}]*:[^{}]*[.%f]|strftime")

ALLOWED = {
    "pumonitor/text.py": "the formatters",
    "pumonitor/_score_grid.py": "bounds of cells in SQL",
    "pumonitor/monitor/challenging/between.py": "cells of a CSV",
    "pumonitor/report/drawing/": "coordinates of SVG, ticks of axes as Vega writes them",
    "pumonitor/report/curve_chart.py": "numbers of a chart, rounded for its size",
    "pumonitor/plain_text.py": "durations as a configuration writes them",
    "pumonitor/monitor/delivery/": "moments of messages that programs read, formats of an axis",
    "pumonitor/monitor/onboarding/proposals.py": "moments as a configuration writes them",
    "pumonitor/monitor/page_addresses.py": "moments of an address",
    "pumonitor/monitor/rules/reference/reference_windows.py": "a key",
    "pumonitor/monitor/rules/windows/named_period.py": "names of months in a configuration",
    "pumonitor/monitor/windows/losses.py": "a moment in a command",
    "pumonitor/sources/": "literals of SQL",
}


def formatted(source: str) -> list[int]:
    """Lines that format a number or a moment by themselves."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            spec = ast.unparse(node.format_spec)[2:-1]
            is_cut = node.conversion == ord("r")
            if FORMATS.search(spec) and spec != "g" and not is_cut:
                lines.append(node.lineno)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            lines += [node.lineno] if node.func.attr == "strftime" else []
    return lines


def test_no_file_has_a_text_of_numbers_of_its_own() -> None:
    own = {}
    for path in [*ROOT.glob("pumonitor/**/*.py"), *ROOT.glob("plugins/**/*.py")]:
        name, source = str(path.relative_to(ROOT)), path.read_text()
        if name.startswith(tuple(ALLOWED)) or not SUSPICIOUS.search(source):
            continue
        if lines := formatted(source):
            own[name] = lines
    assert own == {}, "use pumonitor.text"


def test_it_is_seen_where_one_has() -> None:
    own = 'f"{x:.3f} {y:.1%} {t:%Y-%m-%d} {z:,.0f}" + t.strftime(how)'
    assert formatted(own) == [1] * 5
    assert formatted('f"{n:,} of {limit:g}, {name:<8}, {given!r:.80}"') == []


def test_every_exception_is_one() -> None:
    for name in ALLOWED:
        files = [ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py")
        assert any(formatted(path.read_text()) for path in files), name
