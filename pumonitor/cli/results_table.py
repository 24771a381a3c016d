"""Print results as a table: one line per window and series if it fits, else two-line cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pumonitor.names import estimate_text
from pumonitor.plain_text import one_line
from pumonitor.text import count_text, marked, moment_cell

if TYPE_CHECKING:
    from pumonitor.cli.terminal import Console
    from pumonitor.monitor.ledger.records.results import PublishedResult

_GAP = 2
_NARROW_GAP = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A row: window, series, and metric to its numbers."""

    window: str
    state: str
    version: str
    segment: str
    revision: str
    labeled: str
    numbers: dict[str, PublishedResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """A column: a heading and cells of one or two lines."""

    heading: str
    cells: tuple[str, ...]
    right: bool = True

    @property
    def width(self) -> int:
        parts = [part for cell in (self.heading, *self.cells) for part in cell.split("\n")]
        return max(map(len, parts))


def print_results(
    console: Console, rows: Sequence[PublishedResult], metrics: Sequence[str]
) -> None:
    """Print all metrics, however narrow the console is.

    If a row does not fit on one line it gets two, with the interval below its value. Columns that
    still do not fit follow in further tables.
    """
    lines = _lines(rows)
    metrics = [name for name in metrics if any(name in line.numbers for line in lines)]
    fixed, numbers, gap = _wide(lines, metrics), _numbers(lines, metrics, _number), _GAP
    if _width([*fixed, *numbers], gap) > console.width:
        fixed, gap = _narrow(lines), _NARROW_GAP
        numbers = _numbers(lines, metrics, _number_in_two)
    for place, some in enumerate(_packed(fixed, numbers, gap=gap, width=console.width)):
        if place:
            console.print()
        console.print(_table([*fixed, *some], gap=gap))
    where = "value (95% interval)" if gap == _GAP else "the 95% interval is below each value"
    if any(row.infeasible_reason for row in rows if row.metric in metrics):
        where += "; !: impossible, or computed from a number that is"
    if any(":" in line.window for line in lines):
        where = f"windows by their start in UTC; {where}"
    console.print(
        f"[dim]{where}; an empty cell is an undefined value; --format csv has the reason[/]"
    )


def _lines(rows: Sequence[PublishedResult]) -> list[_Line]:
    by_series: dict[tuple[Any, ...], dict[str, PublishedResult]] = {}
    for row in rows:
        key = (row.window_start, row.model_version, row.segment, row.revision)
        by_series.setdefault(key, {})[row.metric] = row
    several = len({(key[0], key[3]) for key in by_series}) > len({key[0] for key in by_series})
    found = []
    for (start, version, segment, revision), numbers in by_series.items():
        first = next(iter(numbers.values()))
        found.append(
            _Line(
                window=moment_cell(start),
                state=first.state,
                version=one_line(version),
                segment=one_line(segment),
                revision=str(revision) if several else "",
                labeled="" if first.n_labeled is None else count_text(first.n_labeled),
                numbers=numbers,
            )
        )
    return found


def _wide(lines: Sequence[_Line], _metrics: Sequence[str]) -> list[_Column]:
    columns = [
        _Column(heading="Window", cells=tuple(one.window for one in lines), right=False),
        _Column(heading="State", cells=tuple(one.state for one in lines), right=False),
        _Column(heading="Version", cells=tuple(one.version for one in lines), right=False),
        _Column(heading="Segment", cells=tuple(one.segment for one in lines), right=False),
        _Column(heading="Revision", cells=tuple(one.revision for one in lines)),
        _Column(heading="Labeled", cells=tuple(one.labeled for one in lines)),
    ]
    return [one for one in columns if any(one.cells)]


def _narrow(lines: Sequence[_Line]) -> list[_Column]:
    """Columns with cells of two lines: state below window, segment below version."""

    def two(above: str, below: str) -> str:
        return f"{above}\n{below}" if above and below else above or below

    revised = [f"{one.state} {one.revision}".strip() for one in lines]
    columns = [
        _Column(
            heading="Window\nstate",
            cells=tuple(
                f"{one.window}\n{state}" for one, state in zip(lines, revised, strict=True)
            ),
            right=False,
        ),
        _Column(
            heading=two(
                "Version" if any(one.version for one in lines) else "",
                "segment" if any(one.segment for one in lines) else "",
            ),
            cells=tuple(two(one.version, one.segment) for one in lines),
            right=False,
        ),
        _Column(heading="No. of\nlabels", cells=tuple(one.labeled for one in lines)),
    ]
    return [one for one in columns if any(one.cells)]


def _numbers(lines: Sequence[_Line], metrics: Sequence[str], shown: Any) -> list[_Column]:
    broken = shown is _number_in_two
    return [
        _Column(
            heading=name.replace("_", "_\n") if broken else name,
            cells=tuple(shown(line.numbers.get(name)) for line in lines),
        )
        for name in metrics
    ]


def _packed(
    fixed: Sequence[_Column], numbers: Sequence[_Column], *, gap: int, width: int
) -> list[list[_Column]]:
    """Divide columns among tables: as many per table as fit, at least one."""
    found: list[list[_Column]] = [[]]
    for one in numbers:
        if found[-1] and _width([*fixed, *found[-1], one], gap) > width:
            found.append([])
        found[-1].append(one)
    return found


def _width(columns: Sequence[_Column], gap: int) -> int:
    return sum(one.width for one in columns) + gap * (len(columns) - 1)


def _table(columns: Sequence[_Column], *, gap: int) -> Any:
    from rich.box import Box
    from rich.markup import escape
    from rich.table import Table

    # A box with a line below the headings only.
    box = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
    table = Table(
        box=box,
        show_edge=False,
        pad_edge=False,
        padding=(0, gap - 1, 0, 0),
        header_style="bold",
    )
    for one in columns:
        table.add_column(
            escape(one.heading),
            justify="right" if one.right else "left",
            overflow="fold",
            min_width=min(one.width, 12),
        )
    for cells in zip(*(one.cells for one in columns), strict=True):
        table.add_row(*map(escape, cells))
    return table


def _number(row: PublishedResult | None) -> str:
    if row is None or row.value is None:
        return ""
    ends = _ends(row)
    interval = f" ({' to '.join(ends)})" if ends else ""
    return f"{_value(row)}{interval}{' assumed' if row.assumed else ''}"


def _number_in_two(row: PublishedResult | None) -> str:
    if row is None or row.value is None:
        return ""
    if row.assumed:
        return f"{_value(row)}\nassumed"
    ends = _ends(row)
    return f"{_value(row)}\n{'–'.join(map(_short, ends))}" if ends else _value(row)


def _value(row: PublishedResult) -> str:
    return marked(estimate_text(row.metric, row.value), row.infeasible_reason)


def _ends(row: PublishedResult) -> tuple[str, ...]:
    """Ends of the interval as text; none where the number is counted or taken as known."""
    if row.low is None or row.high is None or row.low == row.high:
        return ()
    return estimate_text(row.metric, row.low), estimate_text(row.metric, row.high)


def _short(number: str) -> str:
    """Without the leading zero; 1 as 1.0."""
    return "1.0" if number == "1.00" else re.sub(r"^(-?)0\.", r"\1.", number)
