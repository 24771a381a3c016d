"""Results as CSV, for the command and the pages alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, TextIO

from pumonitor.monitor.ledger.records.results import PublishedResult
from pumonitor.plain_text import write_csv


def write_results_csv(rows: Iterable[Mapping[str, Any]], file: TextIO) -> None:
    """Write a header and a line for each result.

    Parameters
    ----------
    rows : iterable of mapping
        As `plain_row` makes them of `PublishedResult`: the fields are the columns.
    file : text file

    Examples
    --------
    >>> import io
    >>> file = io.StringIO()
    >>> write_results_csv([{"monitor": "card-fraud", "segment": "=1+1", "value": 0.5}], file)
    >>> file.getvalue().splitlines()[1][:18]
    "card-fraud,,'=1+1,"
    """
    names = [field.name for field in fields(PublishedResult)]
    write_csv(file, names, ([_on_one_line(row.get(name, "")) for name in names] for row in rows))


def _on_one_line(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return value.replace("\r", "\\r").replace("\n", "\\n")
