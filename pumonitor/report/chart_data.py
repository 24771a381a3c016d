"""Data of a chart as one string: charts are copied many times while they are put together."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair

__all__ = ["csv_data"]


def csv_data(rows: list[dict[str, Any]]) -> altair.InlineData:
    r"""Rows of numbers and words, None where there is no value, inside the chart as CSV.

    A column is numeric when its values are; altair copies lists of points, but not a string,
    each time a layer is added, which takes seconds in a page of charts.

    Examples
    --------
    >>> csv_data([{"x": 0.5, "y": None}, {"x": 1.0, "y": 2.0}]).values
    'x,y\n0.5,\n1.0,2.0\n'
    """
    import altair as alt

    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    words = {name for row in rows for name, value in row.items() if isinstance(value, str)}
    kinds = {name: "string" if name in words else "number" for name in rows[0]}
    return alt.InlineData(values=text.getvalue(), format=alt.CsvDataFormat(type="csv", parse=kinds))
