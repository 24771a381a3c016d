"""Read dates and times from options."""

from __future__ import annotations

from datetime import UTC, datetime

from pumonitor.errors import InputError, shortened


def moment(text: str, *, option: str) -> datetime:
    """Read a date or time in ISO 8601; without a zone it is UTC.

    Examples
    --------
    >>> moment("2026-01-31", option="--from").isoformat()
    '2026-01-31T00:00:00+00:00'
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        msg = (
            f"{option} takes a date or a time such as 2026-01-31 or 2026-01-31T06:00Z, got "
            f"{shortened(text)}"
        )
        raise InputError(msg) from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
