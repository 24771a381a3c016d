"""Tables of `pumonitor check`: rows of sources, rules, destinations, audits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pumonitor.plain_text import one_line
from pumonitor.text import moment_cell, times_text, with_interval

if TYPE_CHECKING:
    from rich.padding import Padding
    from rich.table import Table

    from pumonitor.monitor.inspection.check import DestinationSummary
    from pumonitor.monitor.inspection.rule_outlook import RuleOutlook
    from pumonitor.prior.followed.worth_of_audits import Worth

_NARROWER: Final = 0.9


def rows_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Any]) -> Padding:
    """Table of the first rows of a source, with the type of each column below its name."""
    from rich.markup import escape

    table = _table()
    names = list(rows[0]) if rows else list(columns)
    for name in names:
        table.add_column(f"{escape(str(name))}\n[dim]{escape(str(columns.get(name, '')))}[/]")
    for row in rows:
        table.add_row(*(escape(one_line(str(row[name]))) for name in names))
    return _indented(table)


def rules_table(rules: Iterable[RuleOutlook], *, destinations: Sequence[str]) -> Padding:
    """Table of rules: condition, expected false alarms, first usable window, destinations."""
    from rich.markup import escape

    table = _table("Rule", "Fires when", "Severity", "First window", "Notifies")
    for one in rules:
        since = "no predictions yet"
        if one.first_window is not None and one.judged_at is not None:
            since = f"{moment_cell(one.first_window)}, evaluated {moment_cell(one.judged_at)}"
        destination_names = ", ".join(destinations if one.to is None else one.to) or "nobody"
        fires = one.fires
        if one.quiet is not None:
            fires += f"; false alarms: {one.quiet.said()}"
        if one.sees:
            fires += f"; {one.sees}"
        table.add_row(
            escape(one.rule), escape(fires), one.severity, since, escape(destination_names)
        )
    return _indented(table)


def destinations_table(destinations: Iterable[DestinationSummary]) -> Padding:
    """Table of destinations, and whether their secrets could be read."""
    from rich.markup import escape

    table = _table("Destination", "Kind", "Secrets")
    for one in destinations:
        table.add_row(escape(one.name), one.kind, escape(one.secrets))
    return _indented(table)


def audits_table(audits: Iterable[Worth]) -> Padding:
    """Table of class priors without and with audits, now and after a break of the model."""
    table = _table("Audit", "Now", "After a break of the model")
    for one in audits:
        known = "nothing" if one.cases is None else f"an audit of {one.cases:,} random cases"
        table.add_row(known, *(with_interval(*numbers) for numbers in (one.now, one.after_break)))
    return _indented(table)


def audits_said(audits: Sequence[Worth]) -> str:
    """Sentence on the value of audits, and how to configure one."""
    measured, *others = [
        (one.cases, (one.after_break[2] - one.after_break[1]) / one.after_break[0])
        for one in audits
    ]
    largest, width = others[-1]
    if width > _NARROWER * measured[1]:
        said = (
            f"Here the scores alone give an interval as narrow as an audit of {largest:,} "
            "random cases."
        )
    else:
        audited = ", ".join(f"{times_text(of)} with an audit of {cases:,}" for cases, of in others)
        said = (
            f"After the break the interval is {times_text(measured[1])} as wide as its "
            f"value, {audited}. To enter an audit: class_prior: {{positives: ..., cases: ..., of: "
            "{start: ..., end: ...}}; to enter a share known from elsewhere: {value: ..., "
            "low: ..., high: ..., of: ...}."
        )
    return (
        f"{said} Computed from this monitor's own rows. It is assumed that an audit finds the "
        "share that the scores estimate, and that the break gives half of the rows the scores "
        "of other rows for five windows."
    )


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
