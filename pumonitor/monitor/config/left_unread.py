"""What of a configuration may stay unread by those who only read results: secrets, above all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from pumonitor.monitor.config.sections.sources import Source
from pumonitor.monitor.config.text.problems import Place, Problem

__all__ = [
    "UNREAD_DESTINATIONS",
    "leave_unread",
    "may_stay_unread",
    "monitors_unread",
    "stands_in",
]

UNREAD_DESTINATIONS: Final = "unread destinations"
"""Key in the context of validation: names that rules may use although nothing is known of them."""

_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://.")
_NO_ADDRESS: Final = "postgresql://unread"
_NO_PATH: Final = "unread"


def may_stay_unread(problem: Problem) -> bool:
    """Whether the ledger can be read without the value at this place.

    Destinations, MLflow and the tables of monitors are asked by commands that work. What else the
    environment holds, such as a threshold, says what results mean.
    """
    place = problem.place
    return place[:1] in {("destinations",), ("tracking",)} or _is_of_source(place)


def leave_unread(value: Any, missing: Iterable[Problem]) -> tuple[str, ...]:
    """Take out of a configuration's values what could not be read, or put a stand-in there.

    Parameters
    ----------
    value : dict
        Changed in place.
    missing : iterable of Problem
        Those that `may_stay_unread`.

    Returns
    -------
    tuple of str
        Names of destinations that were taken out.
    """
    destinations: dict[str, None] = {}
    for problem in missing:
        place = problem.place
        if place[0] == "destinations" and len(place) > 1:
            destinations[str(place[1])] = None
            value["destinations"].pop(place[1], None)
        elif place[0] == "tracking":
            value.pop("tracking", None)
        elif _is_of_source(place):
            _stand_in(value["monitors"][place[1]][place[2]], place[3:])
    return tuple(destinations)


def monitors_unread(missing: Iterable[Problem]) -> dict[str, list[Problem]]:
    """Monitors whose tables cannot be opened, and why."""
    found: dict[str, list[Problem]] = {}
    for problem in missing:
        if _is_of_source(problem.place):
            found.setdefault(str(problem.place[1]), []).append(problem)
    return found


def _is_of_source(place: Place) -> bool:
    is_table = len(place) > 3 and place[2] in {"predictions", "positives"}
    # A query says which rows count: without a part of it nobody knows.
    return place[0] == "monitors" and is_table and place[3] == "source" and place[-1] != "query"


def _stand_in(table: Any, place: Place) -> None:
    """An address whose password alone is missing says still which data it means."""
    if place == ("source",):
        text = table["source"]
        table["source"] = text if text.strip() else _NO_PATH
    elif place == ("source", "url"):
        text = table["source"]["url"]
        table["source"]["url"] = text if _ADDRESS.match(text) else _NO_ADDRESS


def stands_in(source: Source) -> bool:
    """Whether which data it means is not known."""
    if source.url is not None:
        return source.url.get_secret_value() == _NO_ADDRESS
    return source.path == _NO_PATH
