"""The state of a page, as its address says it: which metric, series and windows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask import url_for

from pumonitor.errors import InputError, no_such, shortened
from pumonitor.monitor.page_addresses import (
    PageAddresses,
    moment_written,
    version_read,
    version_written,
)

_MOST_WINDOWS: Final = 1000
_DEFAULT_WINDOWS: Final = 90
LONGEST_NAME: Final = 400
"""Characters of a model version, a segment or a rule."""


def page_addresses() -> PageAddresses:
    """Where the pages are, within the host that is asked."""
    return PageAddresses(url_for("show_overview").rstrip("/"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesAddress:
    """Which numbers of a monitor a page shows.

    Attributes
    ----------
    metric : str
    model_version : str or None
        None for the newest of each window.
    segment : str
        "" for all rows.
    windows : int
        How many, the newest ones before `until`.
    until : datetime or None
        Only windows that start before.
    as_of : datetime or None
        What was known then; None for now.
    """

    metric: str
    model_version: str | None = None
    segment: str = ""
    windows: int = _DEFAULT_WINDOWS
    until: datetime | None = None
    as_of: datetime | None = None

    @classmethod
    def read(
        cls, query: Mapping[str, str], *, metric: str, metrics: list[str], zone: ZoneInfo
    ) -> SeriesAddress:
        """From a query.

        Parameters
        ----------
        query : mapping of str to str
        metric : str
            Of the page without one.
        metrics : list of str
            Those there are.
        zone : ZoneInfo
            Of times without an offset.

        Raises
        ------
        InputError
            If a value cannot be read.
        """
        chosen = query.get("metric") or (metric if metric in metrics else (metrics or [metric])[0])
        if metrics and chosen not in metrics:
            raise InputError(no_such("metric", shortened(chosen), metrics))
        return cls(
            metric=chosen,
            model_version=_version(query),
            segment=_short(query, "segment") or "",
            windows=number_in(query, "windows", usual=_DEFAULT_WINDOWS, most=_MOST_WINDOWS),
            until=moment_in(query, "until", zone=zone),
            as_of=moment_in(query, "as_of", zone=zone),
        )

    def with_(self, **changes: Any) -> dict[str, str]:
        """The query of the same page with something else on it."""
        of = replace(self, **changes)
        query = {
            "metric": of.metric,
            "version": version_written(of.model_version),
            "segment": of.segment or None,
            "windows": None if of.windows == _DEFAULT_WINDOWS else str(of.windows),
            "until": None if of.until is None else moment_written(of.until),
            "as_of": None if of.as_of is None else moment_written(of.as_of),
        }
        return {name: value for name, value in query.items() if value is not None}


def with_known_names(
    query: Mapping[str, str], *, versions: Collection[str], segments: Collection[str]
) -> dict[str, str]:
    r"""The query with version and segment as they are known, whatever a form made of line breaks.

    Browsers send each line break of a form as two characters, carriage return and line feed.

    Examples
    --------
    >>> asked = {"segment": "country=a\r\nb", "version": "7"}
    >>> with_known_names(asked, versions=["7"], segments=["country=a\nb"])
    {'segment': 'country=a\nb', 'version': '7'}
    """
    found = dict(query)
    written = [version_written(one) or "" for one in versions]
    for key, known in (("version", written), ("segment", segments)):
        given = found.get(key, "")
        if given and given not in known:
            as_sent = {_as_sent(one): one for one in known}
            found[key] = as_sent.get(_as_sent(given), given)
    return found


def _as_sent(name: str) -> str:
    return name.replace("\r\n", "\n").replace("\r", "\n")


def moment_in(query: Mapping[str, str], name: str, *, zone: ZoneInfo) -> datetime | None:
    """A time in ISO 8601, of the zone where it has no offset.

    Raises
    ------
    InputError
        If it is none.

    Examples
    --------
    >>> moment_in({"until": "2026-03-01"}, "until", zone=ZoneInfo("Europe/Berlin")).isoformat()
    '2026-02-28T23:00:00+00:00'
    >>> moment_in({"until": ""}, "until", zone=ZoneInfo("UTC"))
    """
    given = query.get(name, "").strip()
    if not given:
        return None
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        found = None
    if found is None or not 1900 < found.year < 9000:
        msg = f"{name} must be a time such as 2026-03-01 or 2026-03-01T06:00, got "
        msg += repr(shortened(given))
        raise InputError(msg)
    return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)


def _version(query: Mapping[str, str]) -> str | None:
    return version_read(_short(query, "version"))


def _short(query: Mapping[str, str], name: str) -> str | None:
    given = query.get(name)
    if given is not None and len(given) > LONGEST_NAME:
        msg = f"{name} must have at most {LONGEST_NAME} characters, got {len(given)}"
        raise InputError(msg)
    return given


def number_in(query: Mapping[str, str], name: str, *, usual: int, most: int) -> int:
    """A whole number from 1 on; the usual one where none is given.

    Raises
    ------
    InputError
        If it is none, or too large.

    Examples
    --------
    >>> number_in({"windows": "30"}, "windows", usual=90, most=1000)
    30
    >>> number_in({}, "windows", usual=90, most=1000)
    90
    """
    given = query.get(name, str(usual))
    is_number = given.isascii() and given.isdecimal() and len(given) <= len(str(most))
    if not (is_number and 1 <= int(given) <= most):
        msg = f"{name} must be a number from 1 to {most}, got {shortened(given)!r}"
        raise InputError(msg)
    return int(given)
