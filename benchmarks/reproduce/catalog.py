"""All rows there are, paper by paper."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from benchmarks.reproduce.rows import PAPERS, Row
from pumonitor.errors import no_such

__all__ = ["all_rows", "chosen"]


def all_rows() -> tuple[Row, ...]:
    """The rows of each paper that has a module here, in the order of `PAPERS`.

    Raises
    ------
    ValueError
        If two rows have the same id, which would share a place in the cache.
    """
    rows: list[Row] = []
    for paper in PAPERS:
        name = f"{__package__}.{paper}"
        if find_spec(name) is not None:
            rows += import_module(name).ROWS
    ids = [row.id for row in rows]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        raise ValueError(f"row ids must be unique, more than one row is called {twice}")
    return tuple(rows)


def chosen(rows: tuple[Row, ...], pattern: str | None) -> tuple[Row, ...]:
    """Rows of the paper so called, or else those whose id holds the pattern.

    Raises
    ------
    ValueError
        If no row does.
    """
    if pattern is None:
        return rows
    found = tuple(row for row in rows if row.paper == pattern) or tuple(
        row for row in rows if pattern in row.id
    )
    if not found:
        papers = dict.fromkeys(row.paper for row in rows)
        raise ValueError(no_such("paper or row", pattern, (*papers, *(row.id for row in rows))))
    return found
