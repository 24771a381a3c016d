"""Render an Evaluation for the terminal: a table of estimates, with the findings below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pumonitor.names import UNCORRECTED_OF
from pumonitor.report.review_words import how_known
from pumonitor.report.verdict import verdict
from pumonitor.results import Evaluation
from pumonitor.text import count_text, given_text, number_text, percent_text, percent_with_interval
from pumonitor.views.estimates import EstimateView, estimate_groups

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_WIDE = 140
"""Width of the terminal from which the meaning of each estimate is shown."""


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
    also = f", {count_text(negative)} confirmed negative" if negative else ""
    known = how_known(None if ev.reviews is None else ev.reviews.counts.totals())
    return (
        f"{count_text(settings['n_labeled'])} confirmed positive{known}, "
        f"{count_text(settings['n_unlabeled'])} unconfirmed{also}; threshold "
        f"{given_text(settings['threshold'])}, {settings['scenario']}"
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
    table.add_column(f"{percent_text(ev.settings['confidence_level'])} interval")
    table.add_column("Uncorrected", justify="right", style="dim")
    if with_meaning:
        table.add_column("Meaning", style="dim", ratio=1)
    shown_beside = set(UNCORRECTED_OF.values())
    for heading, views in estimate_groups(ev).items():
        lines = [view for view in views if view.name not in shown_beside]
        if not lines:
            continue
        table.add_row(f"[italic cyan]{heading}[/]")
        for view in lines:
            table.add_row(*_cells(view), *([_meaning(view)] if with_meaning else []))
        table.add_section()
    return table


def _meaning(view: EstimateView) -> str:
    """One sentence on the meaning of an estimate."""
    if view.name.endswith("_threshold"):
        return ""
    return view.meaning.partition(". ")[0].rstrip(".")


def _cells(view: EstimateView) -> tuple[str, str, str, str]:
    heading = "    at threshold" if view.name.endswith("_threshold") else f"  {view.title}"
    interval = view.interval_text
    if view.came_out is not None:
        interval += f" [yellow](estimated {number_text(view.came_out)}: impossible)[/]"
    value = view.value_text.replace("!", "[yellow]![/]")
    return heading, value, interval, view.uncorrected_text


def _footnotes(ev: Evaluation) -> Iterator[str]:
    yield "Uncorrected: every unconfirmed row counted as negative."
    views = [view for views in estimate_groups(ev).values() for view in views]
    for note in dict.fromkeys(view.note for view in views if view.note and view.came_out is None):
        yield f"!: {note}"
    resolution = ev.settings["resolution"]
    if resolution > 0:
        yield (
            "Rows were counted by score bin, which changes AUL and AUC by at most "
            f"{number_text(resolution)}."
        )
