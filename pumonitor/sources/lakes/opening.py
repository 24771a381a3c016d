"""From an address to the version of a table that is current, or was at a moment."""

from __future__ import annotations

from datetime import datetime

from pumonitor.errors import InputError
from pumonitor.sources.lakes.addresses import lake_address
from pumonitor.sources.lakes.delta import open_delta
from pumonitor.sources.lakes.iceberg import open_iceberg
from pumonitor.sources.lakes.table import LakeTable, LakeVersion
from pumonitor.text import moment_text


def open_lake(address: str, *, as_of: datetime | None = None) -> LakeTable:
    """Open the newest version of a table, or the one that was the newest at a moment.

    Parameters
    ----------
    address : str
        delta://path-or-address or iceberg://catalog/namespace.table
    as_of : datetime, optional

    Raises
    ------
    InputError
        If there is no such table, if it keeps no version as old as the moment, or if rows of it
        are deleted in a way that is not read.
    SourceError
        If its catalog or store does not answer.
    ExtraMissingError
        If the library of its format is not installed.
    """
    place = lake_address(address)
    opened: LakeVersion | None
    if place.format == "delta":
        opened = open_delta(place, as_of=as_of)
    else:
        opened = open_iceberg(place, as_of=as_of)
    if opened is None:
        msg = (
            f"{place.name} keeps no version as old as {moment_text(as_of)}: leave out "
            "--as-of, since labels count by when they became known in any version, or keep its "
            "versions for longer"
        )
        raise InputError(msg)
    return LakeTable(place.name, opened)
