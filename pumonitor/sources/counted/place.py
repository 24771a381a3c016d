"""Where a table of counts is: counts:// before a path, an address, or a database and its table."""

from __future__ import annotations

from typing import Final

from pumonitor.errors import InputError
from pumonitor.sources.column_types.monitored_tables import SqlTable

_MARK: Final = "counts://"


def is_counts_address(place: object) -> bool:
    """Whether this names a table of counts.

    Examples
    --------
    >>> is_counts_address("counts://counts/*.parquet"), is_counts_address("rows/*.parquet")
    (True, False)
    """
    return isinstance(place, str) and place.lower().startswith(_MARK)


def place_of_counts(address: str) -> str | SqlTable:
    """The place that follows the mark.

    Raises
    ------
    InputError
        If nothing follows, or a database without a table.

    Examples
    --------
    >>> place_of_counts("counts://delta:///lake/counts")
    'delta:///lake/counts'
    >>> place_of_counts("counts://sqlite:///counts.db#fraud_counts").table
    'fraud_counts'
    """
    place = address[len(_MARK) :]
    url, mark, table = place.partition("#")
    if not place or (mark and not table):
        msg = (
            "counts:// must be followed by a path or pattern of Parquet files, by delta:// or "
            "iceberg://, or by the url of a database with #TABLE"
        )
        raise InputError(msg)
    return SqlTable(url=url, table=table) if mark else place
