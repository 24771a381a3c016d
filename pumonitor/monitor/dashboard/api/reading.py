"""What a read is answered from, and how lists end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from pumonitor.monitor.dashboard.access import Access
from pumonitor.monitor.dashboard.api.cursor import cursor_after, read_cursor
from pumonitor.monitor.dashboard.api.problems import ProblemError
from pumonitor.monitor.dashboard.api.queries import ListQuery
from pumonitor.monitor.dashboard.site import Site
from pumonitor.monitor.ledger.ledger import Ledger
from pumonitor.monitor.page_addresses import PageAddresses


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A read of somebody who may see so much.

    Attributes
    ----------
    site : Site
    ledger : Ledger
        At one moment.
    access : Access
    now : datetime
        To the minute, so that an answer stays the same for so long.
    pages : PageAddresses
    """

    site: Site
    ledger: Ledger
    access: Access
    now: datetime
    pages: PageAddresses

    def seen(self, monitor: str) -> str:
        """The name of a monitor; answers 404 unless the caller may see it."""
        if monitor not in self.access.visible():
            raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such monitor")
        return monitor

    def chosen(self, monitor: str | None) -> list[str]:
        """The monitor that was asked for, or all that may be seen."""
        return self.access.visible() if monitor is None else [self.seen(monitor)]


def _filters(query: ListQuery) -> list[Any]:
    asked = query.model_dump(mode="json", exclude={"cursor", "limit"})
    return [type(query).__name__, *sorted(asked.items())]


def key_asked(query: ListQuery, *likes: Sequence[Any], of: Sequence[Any] = ()) -> list[Any] | None:
    """The key in the cursor of a query, like one of these; None for the beginning."""
    if query.cursor is None:
        return None
    for like in likes[:-1]:
        try:
            return read_cursor(query.cursor, like, of=[*_filters(query), *of])
        except ProblemError:
            continue
    return read_cursor(query.cursor, likes[-1], of=[*_filters(query), *of])


def next_cursor(
    query: ListQuery, key: Sequence[Any] | None, *, of: Sequence[Any] = ()
) -> str | None:
    """The cursor behind a key; None at the end of a list."""
    return None if key is None else cursor_after(key, of=[*_filters(query), *of])
