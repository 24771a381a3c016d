"""Parts of a configuration, mainly secrets, that commands which only read results do not need."""

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
"""Key in the validation context: destinations that were left out and that rules may still name."""

_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://.")
_NO_ADDRESS: Final = "postgresql://unread"
_NO_PATH: Final = "unread"


def may_stay_unread(problem: Problem) -> bool:
    """Whether results can be read without the value at this place.

    True for destinations, MLflow and sources of tables, which only commands that evaluate or send
    need. False for everything else, such as a threshold, which determines the meaning of results.
    """
    place = problem.place
    return place[:1] in {("destinations",), ("tracking",)} or _is_of_source(place)


def leave_unread(value: Any, missing: Iterable[Problem]) -> tuple[str, ...]:
    """Remove values that could not be read, or replace them by a placeholder.

    Parameters
    ----------
    value : dict
        The file's values; changed in place.
    missing : iterable of Problem
        Problems for which `may_stay_unread` is true.

    Returns
    -------
    tuple of str
        Names of the removed destinations.
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
    """Monitor to the problems because of which its tables cannot be opened."""
    found: dict[str, list[Problem]] = {}
    for problem in missing:
        if _is_of_source(problem.place):
            found.setdefault(str(problem.place[1]), []).append(problem)
    return found


def _is_of_source(place: Place) -> bool:
    is_table = len(place) > 3 and place[2] in {"predictions", "positives"}
    # A query determines which rows count, so no part of it may be missing.
    return place[0] == "monitors" and is_table and place[3] == "source" and place[-1] != "query"


def _stand_in(table: Any, place: Place) -> None:
    """Use the address without its missing part; a placeholder if nothing of it is left."""
    if place == ("source",):
        text = table["source"]
        table["source"] = text if text.strip() else _NO_PATH
    elif place == ("source", "url"):
        text = table["source"]["url"]
        table["source"]["url"] = text if _ADDRESS.match(text) else _NO_ADDRESS


def stands_in(source: Source) -> bool:
    """Whether a source is a placeholder, so that its data are unknown."""
    if source.url is not None:
        return source.url.get_secret_value() == _NO_ADDRESS
    return source.path == _NO_PATH
