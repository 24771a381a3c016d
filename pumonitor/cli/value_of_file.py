"""What rows of a file are worth: `--value` and `--value-unit` of evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pumonitor.cli.options import DATA

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pumonitor.sources.one_table.scored_rows import ScoredRows

Value = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="What is at stake in each row, such as an amount, 0 or more: adds recall, precision, "
        "caught and missed by value. Reads every row into memory.",
        rich_help_panel=DATA,
    ),
]
ValueUnit = Annotated[
    str | None,
    typer.Option(
        metavar="WORD", help="What --value is in, such as EUR, for texts.", rich_help_panel=DATA
    ),
]


def value_of_rows(rows: ScoredRows, column: str | None) -> NDArray[Any] | None:
    """The column as numbers, with its words where some are none, which are then refused.

    Parameters
    ----------
    rows : ScoredRows
        Read with this column as a text.
    column : str, optional
    """
    import numpy as np

    if column is None:
        return None
    texts = rows.texts[column]
    filled = np.where(texts == "", "nan", texts)
    try:
        return filled.astype(np.float64)
    except ValueError:
        return np.array([_as_number(text) for text in filled], dtype=object)


def _as_number(text: str) -> float | str:
    """The number, or the text where it is none."""
    try:
        return float(text)
    except ValueError:
        return text
