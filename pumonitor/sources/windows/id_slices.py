"""Some of the ids, where a window is counted slice by slice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IdSlice:
    """Some of the ids.

    Attributes
    ----------
    rows, labels : str
        Conditions on an id in SQL, to be formatted with it.
    """

    rows: str
    labels: str
