"""Render a Comparison for the terminal: a table of models and sentences on their differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pumonitor.comparison_result import Comparison, Lead
from pumonitor.names import title
from pumonitor.report.review_words import how_known
from pumonitor.text import count_text, given_text, number_text, percent_with_interval, with_interval
from pumonitor.views.estimates import EstimateView, views_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_DECIDING = ("f1", "aul", "ll_score")
_ALSO = ("precision", "recall")
_WIDE = 120
"""Width of the terminal from which precision and recall are shown too."""


def rendered(found: Comparison, *, name: str, width: int) -> Iterator[RenderableType]:
    """Yield what to print, from top to bottom.

    Parameters
    ----------
    found : Comparison
    name : str
        Name of the data.
    width : int
        Width of the terminal in characters; a wide one shows precision and recall too.
    """
    from rich.padding import Padding
    from rich.text import Text

    settings = found.settings
    yield Text(f"\n{name}", style="bold")
    if found.assumption is not None:
        yield Text(found.assumption.sentence)
    reviews = settings.get("reviews")
    known = how_known(None if reviews is None else reviews["rows"])
    yield Text(
        f"{count_text(settings['n_labeled'])} confirmed positive{known}, "
        f"{count_text(settings['n_unlabeled'])} unconfirmed; {settings['scenario']}"
    )
    if reviews is not None:
        of = settings["ranked_by"]
        whose = "another score" if of is None else f"the score of {of}"
        yield Text(f"The review queue was filled by {whose}.")
    yield Text(f"{_prior(found)}\n")
    if found.no_verdict is not None:
        yield Padding(Text(f"No verdict. {found.no_verdict}", style="yellow"), (0, 0, 0, 2))
    for metric in _DECIDING if found.no_verdict is None else ():
        ranks = found.ranks[metric]
        if any(ranks.values()):
            yield Padding(Text(_sentence(found.lead(metric), found)), (0, 0, 0, 2))
    if found.caution is not None:
        yield Padding(Text(found.caution, style="yellow"), (0, 0, 0, 2))
    yield ""
    yield _table(found, (*_DECIDING, *_ALSO) if width >= _WIDE else _DECIDING)
    yield ""
    for sentence in found.sentences():
        yield Padding(Text(f"! {sentence}", style="yellow"), (0, 0, 0, 2))


def _prior(found: Comparison) -> str:
    prior = found.class_prior
    known = "taken as known" if prior.is_known else prior.method
    share = percent_with_interval(prior.value, prior.low, prior.high)
    source = "" if found.prior_from is None else f", from the scores of {found.prior_from}"
    return f"Share of positives: {share}, {known}{source}"


def _sentence(lead: Lead, found: Comparison) -> str:
    shown = title(lead.metric, found.settings)
    if lead.withheld is not None:
        return f"{shown}: no verdict, {lead.withheld}."
    if lead.difference is None:
        return f"{shown}: only {lead.best} has a value."
    value, low, high = lead.difference.displayed
    by = with_interval(value, low, high)
    if lead.is_clear:
        return f"{shown}: {lead.best} is better than {lead.second}; the difference is {by}."
    return (
        f"{shown}: {lead.best} cannot be distinguished from {lead.second}; the difference is {by}."
    )


def _table(found: Comparison, metrics: tuple[str, ...]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("Model", min_width=min(max(map(len, found.models)), 20))
    table.add_column("Threshold", justify="right")
    for metric in metrics:
        table.add_column(title(metric, found.settings), no_wrap=True)
    ranks = found.ranks
    for model in sorted(found.models, key=lambda model: ranks["f1"][model] or len(ranks["f1"])):
        ranked = found.no_verdict is None
        views = views_of(found[model], found.settings)
        cells = [
            _cell(views[metric], ranks[metric][model] if ranked else None) for metric in metrics
        ]
        table.add_row(escape(model), given_text(found.settings["threshold"][model]), *cells)
    return table


def _cell(view: EstimateView, rank: int | None) -> str:
    if view.value is None:
        return "undefined"
    value = view.value_text.replace("!", "[yellow]![/]")
    shown = f"{value}\n[dim]{view.interval_text}[/]"
    if view.came_out is not None:
        shown += f"\n[yellow]{number_text(view.came_out)}: impossible[/]"
    return f"[bold green]{shown}[/]" if rank == 1 else shown
