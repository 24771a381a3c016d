"""A table of figures: for the terminal, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

if TYPE_CHECKING:
    import pandas
    from rich.console import Group

__all__ = ["FigureTable", "watched"]

T = TypeVar("T")

# By the last word of a column's name.
_FORMATS: Final = {
    "MAE": ".4f",
    "bias": "+.4f",
    "p95": ".3f",
    "coverage": ".3f",
    "width": ".3f",
    "seconds": ".3g",
    "ratio": ".2g",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class FigureTable:
    """Rows of figures under a title.

    Attributes
    ----------
    title : str
    frame : pandas.DataFrame
        NaN where there is no figure.
    notes : tuple of str
        Sentences to go below.
    """

    title: str
    frame: pandas.DataFrame
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, None where there is no figure."""
        rows = [
            {name: None if _is_absent(value) else value for name, value in row.items()}
            for row in self.frame.to_dict("records")
        ]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}

    def to_rich(self) -> Group:
        """As the terminal shows it: title, table, notes."""
        from rich import box
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD)
        for number, name in enumerate(self.frame.columns):
            justify: Literal["left", "right"] = "left" if number == 0 else "right"
            table.add_column(str(name), justify=justify, no_wrap=number == 0)
        for row in self.frame.to_dict("records"):
            table.add_row(*(_shown(str(name), value) for name, value in row.items()))
        notes = [Text(f"  {note}", style="dim") for note in self.notes]
        return Group(Text(self.title, style="bold"), table, *notes, Text())


def watched(items: Iterable[T], description: str) -> Iterator[T]:
    """The items one by one, with a bar on stderr; where nobody watches, a line every tenth."""
    from rich.console import Console
    from rich.progress import track

    items = items if isinstance(items, Sequence) else list(items)
    console = Console(stderr=True, highlight=False)
    if console.is_terminal:
        yield from track(items, description, console=console, transient=True)
        return
    every = math.ceil(len(items) / 10)
    for number, item in enumerate(items):
        if number % every == 0:
            console.print(f"{description}: {number} of {len(items)}", markup=False)
        yield item


def _is_absent(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _shown(name: str, value: Any) -> str:
    if _is_absent(value):
        return "-"
    if isinstance(value, float):
        return format(value, _FORMATS.get(name.rsplit(" ", 1)[-1], ".3g"))
    return str(value)
