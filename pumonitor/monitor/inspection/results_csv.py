"""Results as CSV, for the command and the pages alike."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, TextIO

from pumonitor.monitor.ledger.records.results import PublishedResult

__all__ = ["write_results_csv"]


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
    writer = csv.DictWriter(file, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)


def _cell(value: Any) -> Any:
    """Quote text that a spreadsheet would take for a formula, and keep text on its line."""
    if not isinstance(value, str):
        return value
    value = value.replace("\r", "\\r").replace("\n", "\\n")
    if value[:1] in {"=", "+", "-", "@", "\t", "\r"}:
        return f"'{value}"
    return value
