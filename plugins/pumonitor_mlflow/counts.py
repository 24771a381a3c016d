"""A table of counts from the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pumonitor.errors import InputError
from pumonitor.tables import ScoreTable


def as_score_table(table: Any) -> ScoreTable:
    """Read a ScoreTable, a mapping of lists, or a data frame with a row for each cell.

    Parameters
    ----------
    table : ScoreTable, mapping or data frame
        A mapping has the keys of `ScoreTable.from_counts`. A frame (pandas, polars, Arrow) has
        the columns ``lower``, ``upper``, ``labeled``, ``unlabeled`` and optionally ``negative``,
        its rows in any order, as a group-by leaves them.

    Raises
    ------
    InputError
        If columns are missing or unknown, or the counts cannot be used.
    TypeError
        If it is something else.

    Examples
    --------
    >>> as_score_table({"edges": [0.0, 0.5, 1.0], "labeled": [1, 4], "unlabeled": [9, 1]}).n_labeled
    5
    """
    if isinstance(table, ScoreTable):
        return table
    if isinstance(table, Mapping):
        return ScoreTable.from_dict(table)
    import narwhals as nw

    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        msg = (
            "table must be a ScoreTable, a mapping or a data frame with columns lower, upper, "
            f"labeled, unlabeled and optionally negative, got {type(table).__name__}"
        )
        raise TypeError(msg) from None
    missing = [name for name in ("lower", "upper", "labeled", "unlabeled") if name not in frame]
    if missing:
        msg = (
            f"table lacks the columns {', '.join(missing)}: it has {', '.join(frame.columns)}; "
            "each row is a score cell with its lowest and highest score and the rows counted in it"
        )
        raise InputError(msg)
    known = ("lower", "upper", "labeled", "unlabeled", "negative")
    unknown = [name for name in frame.columns if name not in known]
    if unknown:
        msg = (
            f"table has unknown columns: {', '.join(unknown)}; if they divide the cells, sum the "
            f"counts over them, and keep only {', '.join(known)}"
        )
        raise InputError(msg)
    frame = frame.sort("lower")
    return ScoreTable.from_dict({name: frame[name].to_numpy() for name in frame.columns})
