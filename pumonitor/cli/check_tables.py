"""Tables of `pumonitor check`: rows of sources, rules and when they are judged, destinations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pumonitor.plain_text import one_line

if TYPE_CHECKING:
    from rich.padding import Padding
    from rich.table import Table

    from pumonitor.service.checking import DestinationLook
    from pumonitor.service.rule_outlook import RuleOutlook

__all__ = ["destinations_table", "rows_table", "rules_table"]


def rows_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Any]) -> Padding:
    """The first rows of a source, the type of each column below its name."""
    from rich.markup import escape

    table = _table()
    names = list(rows[0]) if rows else list(columns)
    for name in names:
        table.add_column(f"{escape(str(name))}\n[dim]{escape(str(columns.get(name, '')))}[/]")
    for row in rows:
        table.add_row(*(escape(one_line(str(row[name]))) for name in names))
    return _indented(table)


def rules_table(rules: Iterable[RuleOutlook], *, destinations: Sequence[str]) -> Padding:
    """What fires when, how often for nothing, from which window on, and who is told."""
    from rich.markup import escape

    table = _table("Rule", "Fires when", "Severity", "From the window of", "Tells")
    for one in rules:
        since = "no predictions yet"
        if one.first_window is not None and one.judged_at is not None:
            since = f"{_day(one.first_window)}, judged {_day(one.judged_at)}"
        told = ", ".join(destinations if one.to is None else one.to) or "nobody"
        fires = one.fires
        if one.quiet is not None:
            fires += f"; false alarms: {one.quiet.said()}"
        if one.sees:
            fires += f"; {one.sees}"
        table.add_row(escape(one.rule), escape(fires), one.severity, since, escape(told))
    return _indented(table)


def destinations_table(destinations: Iterable[DestinationLook]) -> Padding:
    """Where alerts go, and whether what is secret about it could be read."""
    from rich.markup import escape

    table = _table("Destination", "Kind", "Secrets")
    for one in destinations:
        table.add_row(escape(one.name), one.kind, escape(one.secrets))
    return _indented(table)


def _table(*columns: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _indented(table: Table) -> Padding:
    from rich.padding import Padding

    return Padding(table, (0, 0, 0, 2))


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}".removesuffix(" 00:00")
