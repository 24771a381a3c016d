"""Render class priors by method for the terminal: numbers, drawn intervals, reasons for none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pumonitor.results import ClassPriorEstimate
from pumonitor.text import count_text, number_text, percent_text, percent_with_interval

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from pumonitor.tables import ScoreTable

_NUMBERS_WIDTH = 76
"""Width of the numbers in characters; on a wider terminal the intervals are drawn too."""

_NARROWEST, _WIDEST = 16, 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """Result of a method: an estimate, or the reason why there is none."""

    method: str
    seconds: float
    estimate: ClassPriorEstimate | None = None
    reason: str = ""


def rendered(
    tried: Sequence[Tried], table: ScoreTable, *, name: str, scenario: str, width: int
) -> Iterator[RenderableType]:
    """Yield what to print, from top to bottom.

    Parameters
    ----------
    tried : sequence of Tried
        In the order shown.
    table : ScoreTable
        Score table of the data.
    name : str
        Name of the data.
    scenario : str
    width : int
        Width of the terminal in characters; on a wide one the intervals are drawn.
    """
    from rich.text import Text

    negative = f", {count_text(table.n_negative)} confirmed negative" if table.n_negative else ""
    yield Text(f"\n{name}", style="bold")
    yield Text(
        f"{count_text(table.n_labeled)} confirmed positive, {count_text(table.n_unlabeled)} "
        f"unconfirmed{negative}; {scenario}\n"
    )
    estimates = {one.method: one.estimate for one in tried if one.estimate is not None}
    yield _table(tried, estimates, width=width)
    yield ""
    for reason, methods in _reasons(tried).items():
        yield Text.assemble((f"{', '.join(methods)}: ", "bold"), reason)
    yield from _account(*next(iter(estimates.items())))
    assumed = [method for method in estimates if _reads_probabilities(method)]
    if assumed:
        yield Text.assemble(
            (f"{', '.join(assumed)}: ", "bold"),
            "valid only if the score is the probability of being confirmed.",
        )
    yield Text(
        "Hidden positives: share of positives among the unconfirmed rows. Without a count or "
        "a reference, and where labels are a fair sample, it is an upper bound unless some "
        "negatives are unlike all positives; it is too low if easy positives are confirmed first, "
        "as by a review queue.",
        style="dim",
    )
    yield ""


def _table(
    tried: Sequence[Tried], estimates: dict[str, ClassPriorEstimate], *, width: int
) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    level = percent_text(next(iter(estimates.values())).confidence_level)
    room = min(width - _NUMBERS_WIDTH, _WIDEST)
    end = _end_of_picture(list(estimates.values()))
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    table.add_column("Method", no_wrap=True)
    table.add_column(f"Hidden positives ({level})")
    if room >= _NARROWEST:
        scale = percent_text(end)
        table.add_column(f"0%{scale:>{room - 2}}", no_wrap=True, style="cyan")
    table.add_column(f"Class prior ({level})")
    table.add_column("Seconds", justify="right", style="dim")
    for place, one in enumerate(tried):
        seconds = number_text(one.seconds)
        if one.estimate is None:
            cells = ["–", *([""] if room >= _NARROWEST else []), "–", seconds]
            table.add_row(one.method, *cells, style="dim")
            continue
        prior = one.estimate
        low, high = prior.unlabeled_prior_interval
        cells = [percent_with_interval(prior.unlabeled_prior, low, high)]
        if room >= _NARROWEST:
            cells.append(_picture(prior.unlabeled_prior, low, high, end=end, room=room))
        cells.append(percent_with_interval(prior.value, prior.low, prior.high))
        table.add_row(one.method, *cells, seconds, style="bold" if place == 0 else "")
    return table


def _end_of_picture(estimates: Sequence[ClassPriorEstimate]) -> float:
    """Right end of the scale: at most three times the first value."""
    highest = max(one.unlabeled_prior_interval[1] for one in estimates)
    first = estimates[0]
    wanted = max(3 * first.unlabeled_prior, 1.2 * first.unlabeled_prior_interval[1])
    return float(max(min(highest, wanted, 1.0), 1e-9))


def _picture(value: float, low: float, high: float, *, end: float, room: int) -> str:
    """Draw an interval as a line with a dot at the value, and an arrow if it exceeds the scale.

    Examples
    --------
    >>> _picture(0.5, 0.2, 0.8, end=1.0, room=11)
    '  ├──●──┤  '
    >>> _picture(0.9, 0.1, 1.0, end=0.5, room=11)
    '  ├───────→'
    """

    def column(share: float) -> int:
        return round(min(max(share / end, 0.0), 1.0) * (room - 1))

    first, last = column(low), column(high)
    marks = [" "] * room
    marks[first : last + 1] = "─" * (last + 1 - first)
    marks[first] = "├"
    marks[last] = "┤"
    if value <= end:
        marks[column(value)] = "●"
    if high > end * (1 + 1e-9):
        marks[last] = "→"
    return "".join(marks)


def _reasons(tried: Sequence[Tried]) -> dict[str, list[str]]:
    """Reason to the methods that have no estimate because of it."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one in tried:
        if one.estimate is None:
            found[one.reason].append(one.method)
    return found


def _account(method: str, prior: ClassPriorEstimate) -> Iterator[RenderableType]:
    """Diagnostics of an estimator: sentences as they are, numbers with their names."""
    from rich.text import Text

    numbers = {name: part for name, part in prior.diagnostics.items() if not isinstance(part, str)}
    for sentence in (part for part in prior.diagnostics.values() if isinstance(part, str)):
        yield Text.assemble((f"{method}: ", "bold"), sentence)
    if numbers:
        listed = [f"{name.replace('_', ' ')} {_shown(part)}" for name, part in numbers.items()]
        yield Text.assemble((f"{method}: ", "bold"), f"{', '.join(listed)}.")


def _shown(part: object) -> str:
    return number_text(part) if isinstance(part, float) else str(part)


def _reads_probabilities(method: str) -> bool:
    from pumonitor.prior import METHODS

    return method in METHODS and METHODS[method].reads == "probabilities"
