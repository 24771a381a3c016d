"""Before work begins: which of its data sets are missing, fetched if wanted, and said at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from benchmarks.datasets.fetching import fetch_all
from benchmarks.datasets.finding import VARIABLE, data_folder, missing
from benchmarks.datasets.message import missing_message
from benchmarks.datasets.table import Entry

__all__ = ["prepare"]


def prepare(names: Iterable[str], *, fetching: bool) -> list[Entry]:
    """Look for all data sets of a piece of work, and say on stderr what is missing.

    Parameters
    ----------
    names : iterable of str
        Data sets that the work can use.
    fetching : bool
        Whether missing ones are fetched from their archives first.

    Returns
    -------
    list of Entry
        Those still missing; the one message about all of them is written.

    Raises
    ------
    DatasetMissingError
        If one of the names is of no data set.
    DatasetWrongError
        If a file in the folder holds other data.
    """
    asked = list(dict.fromkeys(names))
    folder, absent = data_folder(), missing(asked)
    failures: dict[str, str] = {}
    to_fetch = [one for one in absent if one.address] if fetching else []
    if to_fetch:
        licences = ", ".join(sorted({one.licence for one in to_fetch}))
        sys.stderr.write(
            f"Fetching {len(to_fetch)} of {len(asked)} data sets ({licences}) into {folder}: "
            f"{', '.join(one.name for one in to_fetch)}\n"
        )
        failures = fetch_all(to_fetch, folder)
        absent = missing(asked)
    if absent:
        told = missing_message(
            absent,
            folder,
            asked=len(asked),
            failures=failures,
            variable_is_set=bool(os.environ.get(VARIABLE)),
        )
        sys.stderr.write(f"{told}\n")
    return absent
