"""Addresses of the pages: made in one place for the pages themselves and for all that link to them.

A link in a notification is opened weeks later, so what is written here stays readable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final
from urllib.parse import quote, urlencode

_WRITTEN: Final = "%Y-%m-%dT%H:%M:%SZ"
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class PageAddresses:
    """Where each page is.

    Attributes
    ----------
    base : str
        Address of the overview without its last slash: ``https://pumonitor.example.org``,
        ``https://mlflow.example.org/pumonitor``, or "" for addresses within one host.

    Examples
    --------
    >>> at = PageAddresses("https://mlflow.example.org/pumonitor")
    >>> at.overview(), at.monitor("card-fraud", version="7")
    ('https://mlflow.example.org/pumonitor/', \
'https://mlflow.example.org/pumonitor/monitors/card-fraud?version=7')
    >>> PageAddresses("").window("card-fraud", datetime(2026, 3, 1, tzinfo=UTC), "", "country=É")
    '/monitors/card-fraud/windows/2026-03-01T00:00:00Z?version=-&segment=country%3D%C3%89'
    """

    base: str

    def overview(self) -> str:
        """The page of all monitors."""
        return f"{self.base}/"

    def monitor(
        self,
        name: str,
        *,
        metric: str | None = None,
        version: str | None = None,
        segment: str = "",
    ) -> str:
        """The page of a monitor: by default its usual metric, of all rows.

        `version` None is the model version with most predictions of each window.
        """
        return self._of(name) + _query(
            metric=metric, version=version_written(version), segment=segment or None
        )

    def window(
        self, name: str, start: datetime, version: str | None = None, segment: str = ""
    ) -> str:
        """The page of a window, by its start."""
        place = f"{self._of(name)}/windows/{moment_written(start)}"
        return place + _query(version=version_written(version), segment=segment or None)

    def challengers(self, name: str) -> str:
        """The page of a monitor's challengers and promotions."""
        return f"{self._of(name)}/challengers"

    def alerts(self, monitor: str | None = None) -> str:
        """The page of the alerts of one monitor or of all."""
        return f"{self.base}/alerts" + _query(monitor=monitor)

    def _of(self, name: str) -> str:
        return f"{self.base}/monitors/{_quoted(name)}"


def version_written(version: str | None) -> str | None:
    """A model version in an address, in which none is chosen by leaving it empty.

    Examples
    --------
    >>> version_written("7"), version_written(""), version_written("-"), version_written(None)
    ('7', '-', '--', None)
    """
    return f"{version}-" if version is not None and not version.strip("-") else version


def version_read(given: str | None) -> str | None:
    """What `version_written` wrote; None if nothing is chosen."""
    return (given[:-1] if not given.strip("-") else given) if given else None


def moment_written(moment: datetime) -> str:
    """A moment in an address, to the second.

    Examples
    --------
    >>> moment_written(datetime(2026, 3, 1, 6, tzinfo=UTC))
    '2026-03-01T06:00:00Z'
    """
    return moment.astimezone(UTC).strftime(_WRITTEN)


def moment_read(given: str) -> datetime | None:
    """What `moment_written` wrote; None if it did not.

    Examples
    --------
    >>> moment_read("2026-03-01T06:00:00Z").isoformat(), moment_read("2026-3-1T6:0:0Z")
    ('2026-03-01T06:00:00+00:00', None)
    """
    try:
        found = datetime.strptime(given, _WRITTEN).replace(tzinfo=UTC)
    except ValueError:
        return None
    # It is read leniently: digits of other scripts, and numbers without leading zeros.
    return found if moment_written(found) == given else None


def moment_of_date(given: str, *, zone: tzinfo) -> datetime | None:
    """Where a bare date begins in a zone; None if it is no date.

    Examples
    --------
    >>> moment_of_date("2026-03-01", zone=UTC).isoformat(), moment_of_date("2026-3-1", zone=UTC)
    ('2026-03-01T00:00:00+00:00', None)
    """
    try:
        day = datetime.fromisoformat(given).replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return day if _DATE.fullmatch(given) else None


def _query(**values: str | None) -> str:
    # Lone surrogates cannot be in an address; such a page does not exist either way.
    chosen = {name: value for name, value in values.items() if value is not None}
    found = urlencode(chosen, quote_via=quote, safe="", errors="replace")
    return f"?{found}" if found else ""


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")
