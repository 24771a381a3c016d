"""Render an Evaluation for the terminal: a table of estimates, with the findings below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pumonitor.names import GROUPS, MEANING, UNCORRECTED_OF, title
from pumonitor.report.estimate_table import reasons_for_doubt
from pumonitor.report.numbers import interval_text, number, percent_with_interval, rows
from pumonitor.report.review_words import how_known
from pumonitor.report.uncorrected import uncorrected_value
from pumonitor.report.verdict import verdict
from pumonitor.results import Estimate, Evaluation

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_WIDE = 140
"""Width of the terminal from which the meaning of each estimate is shown."""

_SHOWN_IN_A_COLUMN = set(UNCORRECTED_OF.values())


def rendered(ev: Evaluation, *, name: str, width: int) -> Iterator[RenderableType]:
    """Yield what to print, from top to bottom.

    Parameters
    ----------
    ev : Evaluation
    name : str
        Name of the data.
    width : int
        Width of the terminal in characters; a wide one shows a sentence on each estimate.
    """
    from rich.padding import Padding
    from rich.text import Text

    yield Text(f"\n{name}", style="bold")
    if ev.assumption is not None:
        yield Text(ev.assumption.sentence)
    yield Text(_facts(ev))
    yield Text(f"{_prior(ev)}\n")
    for sentence in verdict(ev):
        yield Padding(Text(sentence), (0, 0, 0, 2))
    yield ""
    yield _table(ev, with_meaning=width >= _WIDE)
    yield ""
    for line in _footnotes(ev):
        yield Text(line, style="dim")
    for finding in ev.warnings:
        mark, style = ("Warning", "yellow") if finding.severity == "warning" else ("Note", "cyan")
        yield Padding(Text.assemble((f"{mark}: ", f"bold {style}"), finding.sentence), (1, 0, 0, 0))
    yield ""


def _facts(ev: Evaluation) -> str:
    settings = ev.settings
    negative = settings["n_negative"]
    also = f", {rows(negative)} confirmed negative" if negative else ""
    known = how_known(None if ev.reviews is None else ev.reviews.counts.totals())
    return (
        f"{rows(settings['n_labeled'])} confirmed positive{known}, {rows(settings['n_unlabeled'])} "
        f"unconfirmed{also}; threshold {settings['threshold']:g}, {settings['scenario']}"
    )


def _prior(ev: Evaluation) -> str:
    prior = ev.class_prior
    known = "taken as known" if prior.is_known else prior.method
    share = percent_with_interval(prior.value, prior.low, prior.high)
    return f"Share of positives: {share}, {known}"


def _table(ev: Evaluation, *, with_meaning: bool) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("Estimate")
    table.add_column("Value", justify="right", style="bold")
    table.add_column(f"{100 * ev.settings['confidence_level']:g}% interval")
    table.add_column("Uncorrected", justify="right", style="dim")
    if with_meaning:
        table.add_column("Meaning", style="dim", ratio=1)
    doubted = reasons_for_doubt(ev)
    for heading, names in GROUPS.items():
        present = [name for name in names if name in ev.estimates]
        present = [name for name in present if name not in _SHOWN_IN_A_COLUMN]
        if not present:
            continue
        table.add_row(f"[italic cyan]{heading}[/]")
        for name in present:
            cells = _cells(ev, ev[name], is_doubted=name in doubted)
            table.add_row(*cells, *([_meaning(name)] if with_meaning else []))
        table.add_section()
    return table


def _meaning(name: str) -> str:
    """One sentence on the meaning of an estimate."""
    if name.endswith("_threshold"):
        return ""
    return MEANING.get(name, "").partition(". ")[0].rstrip(".")


def _cells(ev: Evaluation, estimate: Estimate, *, is_doubted: bool) -> tuple[str, str, str, str]:
    is_where = estimate.name.endswith("_threshold")
    shown = "    at threshold" if is_where else f"  {title(estimate.name, ev.settings)}"
    naive = uncorrected_value(ev, estimate.name)
    uncorrected = "" if naive is None else number(naive)
    if estimate.undefined_reason is not None:
        return shown, "undefined", estimate.undefined_reason, uncorrected
    value, low, high = estimate.displayed
    interval = "known" if low == high and estimate.se_sampling == 0 else interval_text(low, high)
    if estimate.infeasible:
        interval += f" [yellow](estimated {number(estimate.value)}: impossible)[/]"
    mark = "[yellow]![/]" if is_doubted or estimate.infeasible else ""
    return shown, f"{number(value)}{mark}", interval, uncorrected


def _footnotes(ev: Evaluation) -> Iterator[str]:
    yield "Uncorrected: every unconfirmed row counted as negative."
    for reason in dict.fromkeys(reasons_for_doubt(ev).values()):
        yield f"!: {reason}"
    resolution = ev.settings["resolution"]
    if resolution > 0:
        yield (
            "Rows were counted by score bin, which changes AUL and AUC by at most "
            f"{resolution:.1g}."
        )
